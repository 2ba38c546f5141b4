# SPDX-License-Identifier: Apache-2.0
"""Finding the library, and its errors."""
import os
import subprocess
import sys
import tempfile
import unittest

import axle
from axle import _library


def run(text, **environment):
    """Run a program; None removes a variable."""
    env = {**os.environ, **environment}
    env = {name: value for name, value in env.items() if value is not None}
    return subprocess.run([sys.executable, "-c", text], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


class Finding(unittest.TestCase):
    def test_missing(self):
        """an ImportError lists the paths that were tried"""
        with tempfile.TemporaryDirectory() as folder:
            done = run("import axle", AXLE_LIBRARY=folder)
            self.assertIn("ImportError", done.stderr)
            self.assertIn(os.path.join(folder, "libaxle.so.0"), done.stderr)

    def test_no_library(self):
        """what is no library is told with the reason"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "libaxle.so.0")
            with open(path, "w") as file:
                file.write("text")
            done = run("import axle", AXLE_LIBRARY=folder)
            self.assertIn("ImportError", done.stderr)
            self.assertIn(path + ": ", done.stderr)

    def test_file(self):
        """AXLE_LIBRARY may be the library itself"""
        path = os.path.join(os.environ["AXLE_LIBRARY"], "libaxle.so.0")
        done = run("import axle; print(axle.zeros(2).tolist())", AXLE_LIBRARY=path)
        self.assertEqual(done.stdout, "[0.0, 0.0]\n", done.stderr)

    def test_versions(self):
        """too old and too new libraries are refused"""
        for version, word in (("0.0.9", "too old"), ("0.2.0", "too new"), ("1.0.0", "too new")):
            with self.subTest(version), self.assertRaisesRegex(ImportError, word):
                _library._check_version(version, "libaxle.so.0")
        _library._check_version(_library.__version__, "libaxle.so.0")


class Errors(unittest.TestCase):
    def test_message(self):
        """exceptions carry the library's message and are of Python's classes, too"""
        with self.assertRaisesRegex(ValueError, r"\(2, 3\)") as caught:
            axle.ones(2, 3) @ axle.ones(2, 3)
        self.assertIsInstance(caught.exception, axle.ShapeError)
        self.assertEqual(caught.exception.code, -2)
        self.assertEqual(axle.ones(1).item(), 1.0)

    def test_fork(self):
        """a forked child gets an error that says why"""
        done = run("import axle, os\n"
                   "x = axle.ones(2)\n"
                   "pid = os.fork()\n"
                   "if pid == 0:\n"
                   "    try:\n"
                   "        x + x\n"
                   "    except axle.AxleError as error:\n"
                   "        print(error, flush=True)\n"
                   "    os._exit(0)\n"
                   "os.waitpid(pid, 0)\n"
                   "print((x + x).tolist())\n")
        self.assertIn("forked", done.stdout, done.stderr)
        self.assertIn("[2.0, 2.0]", done.stdout)


if __name__ == "__main__":
    unittest.main()
