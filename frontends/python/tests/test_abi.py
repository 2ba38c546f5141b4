# SPDX-License-Identifier: Apache-2.0
"""The tables of the C library's functions agree with its headers."""
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
        """tables agree with the headers; else run tools/describe_abi.py"""
        tool = os.path.join(FOLDER, "tools", "describe_abi.py")
        made = subprocess.run([sys.executable, tool, os.path.join(TOP, "include")], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        with open(os.path.join(FOLDER, "axle", "_abi.py")) as file:
            committed = file.read()
        now, ours = {}, {}
        exec(made, now)
        exec(committed, ours)
        for table in ("CONSTANTS", "STRUCTS", "CALLBACKS", "FUNCTIONS"):
            for name, value in ours[table].items():
                with self.subTest(name):
                    found = now[table].get(name)
                    # Options grow at their end, which struct_size tells the library.
                    if table == "STRUCTS" and found and value[0][0] == "struct_size":
                        found = found[:len(value)]
                    self.assertEqual(value, found)


if __name__ == "__main__":
    unittest.main()
