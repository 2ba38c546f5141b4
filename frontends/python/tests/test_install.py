# SPDX-License-Identifier: Apache-2.0
"""The package as pip installs it, and beside a library that was moved."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = os.environ.get("AXLE_LIBRARY", "")
PROGRAM = """
import axle, sys
from axle import nn, data, optim, transformers
x = axle.ones(2, requires_grad=True)
x.sum().backward()
print(x.grad.tolist(), axle.__version__, axle.__file__.startswith(sys.argv[1]))
"""


def run(command, **environment):
    env = {**os.environ, **environment}
    env = {name: value for name, value in env.items() if value is not None}
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, check=False, timeout=300,
                          cwd=tempfile.gettempdir())


class Installed(unittest.TestCase):
    def works(self, folder, **environment):
        done = run([sys.executable, "-c", PROGRAM, folder], LD_LIBRARY_PATH=None,
                   PYTHONPATH=folder, **environment)
        self.assertEqual(done.stdout, "[1.0, 1.0] 0.1.0 True\n")

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("pip", "setuptools", "wheel"))),
                         "there are no pip, setuptools and wheel")
    def test_pip(self):
        """pip makes a wheel of the source folder, and installs it"""
        with tempfile.TemporaryDirectory() as work:
            source, target = os.path.join(work, "source"), os.path.join(work, "target")
            shutil.copytree(FOLDER, source)
            run(["chmod", "-R", "u+w", source])
            done = run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
                        "--no-build-isolation", "--no-deps", "--disable-pip-version-check",
                        "--target", target, source], PYTHONPATH=None)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.works(target)

    def test_moved(self):
        """the package finds the library by its place, with nothing set"""
        with tempfile.TemporaryDirectory() as work:
            packages = os.path.join(work, "lib", "python3", "site-packages")
            shutil.copytree(os.path.join(FOLDER, "axle"), os.path.join(packages, "axle"),
                            ignore=shutil.ignore_patterns("__pycache__"))
            run(["chmod", "-R", "u+w", packages])
            for name in ("libaxle.so.0", "libaxle-models.so.0"):
                shutil.copy(os.path.join(LIBRARY, name), os.path.join(work, "lib", name))
            with open(os.path.join(packages, "axle", "_installed.py"), "w") as file:
                file.write('LIBRARY_DIR = "../../.."\n')
            self.works(packages, AXLE_LIBRARY=None)


if __name__ == "__main__":
    unittest.main()
