#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compute the golden language models of the test suite with PyTorch and transformers.

usage: make_transformers.py                       write every folder of transformers/
       make_transformers.py --full FOLDER         write a DistilBERT of the usual size, 800 MB
       make_transformers.py --saved ROOT          check ROOT/CASE, which
                                                  tests/conformance/golden_transformers --save ROOT
                                                  wrote, against transformers/CASE
       make_transformers.py --saved FULL SAVED    the same of one folder

The tests read the stored files; only whoever changes the cases needs PyTorch (1.13 or later),
transformers (4.39) and safetensors.
"""

import pathlib
import sys

sys.dont_write_bytecode = True

import torch  # noqa: E402

from oracle import pretrained  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent / "transformers"
TOLERANCE = 2e-5


def check(folder, saved):
    messages, difference = pretrained.check_saved(folder, saved)
    good = messages == 0 and difference <= TOLERANCE
    print("same" if good else "DIFFERS", saved, f"{messages} keys reported,",
          f"logits differ by {difference:.1e}")
    return not good


def main(arguments):
    torch.set_num_threads(1)
    if not arguments:
        pretrained.write_tiny(ROOT)
    elif arguments[0] == "--full" and len(arguments) == 2:
        pretrained.write_full(arguments[1])
    elif arguments[0] == "--saved" and len(arguments) == 2:
        return sum(check(ROOT / case[0], pathlib.Path(arguments[1]) / case[0])
                   for case in pretrained.CASES)
    elif arguments[0] == "--saved" and len(arguments) == 3:
        return check(arguments[1], arguments[2])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
