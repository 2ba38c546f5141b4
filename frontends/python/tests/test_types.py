# SPDX-License-Identifier: Apache-2.0
"""The stubs say what the modules hold."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = """
import axle
from axle import Accelerator, nn, optim
from axle.transformers import AutoTokenizer

class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 3)

    def forward(self, x: axle.Tensor) -> axle.Tensor:
        return self.layer(x).relu() + 1

net = Net()
optimizer = optim.Adam(net.parameters(), lr=1e-3)
ready = Accelerator().prepare(net, optimizer)
x = axle.zeros(2, 3, dtype=axle.float32).sum(dim=-1) @ axle.ones(2)
count: int = Accelerator().num_processes
text: str = AutoTokenizer.from_pretrained("folder").decode([1, 2])
"""
WRONG = "from axle import nn\nnn.Linear('two', 3)\n"


def stubs(folder):
    """Texts of the stubs by path."""
    found = {}
    for place, _, names in os.walk(os.path.join(folder, "axle")):
        for name in names:
            if name.endswith(".pyi"):
                path = os.path.join(place, name)
                with open(path) as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found


class Types(unittest.TestCase):
    # How Python describes functions, and what enumerations hold, differs a little with its version.
    @unittest.skipUnless(sys.version_info[:2] == (3, 11), "stubs are compared with Python 3.11")
    def test_current(self):
        """stubs are those that tools/describe_types.py makes"""
        self.maxDiff = None
        with tempfile.TemporaryDirectory() as work:
            tool = os.path.join(FOLDER, "tools", "describe_types.py")
            subprocess.run([sys.executable, tool, work], check=True)
            made = stubs(work)
        committed = stubs(FOLDER)
        self.assertEqual(set(made), set(committed))
        for path, text in made.items():
            with self.subTest(path):
                self.assertEqual(text, committed[path])

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "there is no mypy")
    def test_mypy(self):
        """mypy finds nothing in the stubs, and what is wrong in programs"""
        def check(*arguments):
            return subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", work, *arguments],
                                  stdout=subprocess.PIPE, universal_newlines=True, check=False,
                                  env={**os.environ, "MYPYPATH": FOLDER}).stdout
        with tempfile.TemporaryDirectory() as work:
            paths = [os.path.join(FOLDER, path) for path in stubs(FOLDER)]
            self.assertIn("Success", check("--strict", *paths))
            self.assertIn("Success", check("-c", PROGRAM))
            self.assertIn("incompatible type", check("-c", WRONG))


if __name__ == "__main__":
    unittest.main()
