#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write training.json: losses of training.py with PyTorch, accelerate and transformers.

    make_training.py        with the Python that has them
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..", "..", "tests", "golden", "transformers",
                      "distilbert-sequence")


def checkpoint(folder, dropout=True):
    """A small DistilBERT, with the dropout of its configuration or without any."""
    for name in ("config.json", "model.safetensors"):
        shutil.copyfile(os.path.join(SOURCE, name), os.path.join(folder, name))
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    if not dropout:
        config.update((name, 0.0) for name in config if name.endswith("dropout"))
    with open(path, "w") as file:
        json.dump(config, file)
    return folder


def losses(*arguments, **environment):
    """What training.py prints."""
    done = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, check=False,
                          timeout=300, env={**os.environ, **environment})
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [float(line.split()[1]) for line in done.stdout.splitlines() if line[:5] == "loss "]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        values = losses(os.path.join(HERE, "training.py"), "torch", checkpoint(made, False))
    with open(os.path.join(HERE, "training.json"), "w") as output:
        json.dump(values, output, indent=0)
        output.write("\n")
