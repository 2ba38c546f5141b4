# SPDX-License-Identifier: Apache-2.0
"""The tables of the C library's functions are what its headers give."""
import importlib.util
import os
import shutil
import subprocess
import sys
import unittest

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.dirname(os.path.dirname(FOLDER))


class Abi(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("pycparser"), "there is no pycparser")
    @unittest.skipUnless(shutil.which("cpp"), "there is no C preprocessor")
    def test_tables(self):
        """tables are those of the headers; else run tools/describe_abi.py"""
        tool = os.path.join(FOLDER, "tools", "describe_abi.py")
        made = subprocess.run([sys.executable, tool, os.path.join(TOP, "include")], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        with open(os.path.join(FOLDER, "axle", "_abi.py")) as file:
            committed = file.read()
        tables = [{}, {}]
        for text, table in zip((made, committed), tables):
            exec(text, table)
            del table["__builtins__"]
        self.assertEqual(sorted(tables[0]), sorted(tables[1]))
        for name in tables[0]:
            with self.subTest(name):
                self.assertEqual(repr(tables[0][name]), repr(tables[1][name]))


if __name__ == "__main__":
    unittest.main()
