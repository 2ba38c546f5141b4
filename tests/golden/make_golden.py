#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compute the golden vectors of the test suite with PyTorch.

usage: make_golden.py            write every *.json beside this file and the table of README.md
       make_golden.py NAME...    write only these families
       make_golden.py --check    compute everything and compare with what is stored

The tests read the stored files; only whoever changes the cases needs PyTorch (1.13 or later, with
NumPy; on Debian: python3-torch). Equal versions give equal bytes: all numbers come from seeded
generators and one thread computes. Other versions may differ in the last digits, which --check
allows.
"""

import json
import math
import pathlib
import re
import sys

sys.dont_write_bytecode = True

import torch  # noqa: E402

import oracle  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
TOLERANCE = 1e-11


def path_of(name):
    return HERE / f"{name}.json"


def dump(cases):
    """One case a line, so that a change shows as the lines that changed."""
    lines = [json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def load(name):
    return json.loads(path_of(name).read_text())


def close(a, b):
    """Equal structure, and numbers equal to rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(a) is type(b) and a == b


def check():
    """Report every family that differs from its file; the exit status counts them."""
    wrong = 0
    for name in oracle.FAMILIES:
        same = close(json.loads(dump(oracle.build(name))), load(name))
        print("same" if same else "DIFFERS", name)
        wrong += not same
    return wrong


def general(name):
    """Numbered inputs and outputs appear once in the table: x0, x1 as x*."""
    return re.sub(r"^(x|step|.*_l)\d+(_reverse)?$", r"\1*", name)


def named(case, key):
    return {general(t["name"]): place for place, t in enumerate(case[key]) if t and "name" in t}


def signature(cases, key):
    """The names of inputs or outputs by position; a question mark follows what may be absent."""
    places = {}
    for case in cases:
        for name, place in named(case, key).items():
            places[name] = max(place, places.get(name, 0))
    return " ".join(name if all(name in named(case, key) for case in cases) else name + "?"
                    for name in sorted(places, key=places.get))


def rows():
    """One row for the operators of a file that are called alike: (file, attrs, ...) to cases."""
    found = {}
    for family in oracle.FAMILIES:
        groups = {}
        for case in load(family):
            groups.setdefault(case["op"], []).append(case)
        for cases in groups.values():
            key = (family, " ".join(cases[0]["attrs"]), signature(cases, "inputs"),
                   signature(cases, "outputs"))
            found.setdefault(key, []).extend(cases)
    return found


def table():
    out = "| file | ops | attrs | inputs | outputs | cases | with gradients |\n"
    out += "|---|---|---|---|---|---|---|\n"
    for (family, attrs, inputs, outputs), cases in rows().items():
        ops = " ".join(dict.fromkeys(case["op"] for case in cases))
        gradients = sum(case["grads"] is not None for case in cases)
        cells = [family, ops, attrs, inputs, outputs, str(len(cases)), str(gradients)]
        out += "| " + " | ".join(cell or "-" for cell in cells) + " |\n"
    return out


def write_table():
    readme = HERE / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    after = rest.split(END)[1]
    readme.write_text(before + BEGIN + table() + END + after)


def main(arguments):
    torch.set_num_threads(1)
    if arguments == ["--check"]:
        return check()
    unknown = [name for name in arguments if name not in oracle.FAMILIES]
    if unknown:
        print(__doc__, file=sys.stderr)
        return 2
    for name in arguments or oracle.FAMILIES:
        text = dump(oracle.build(name))
        path_of(name).write_text(text)
        print(f"{name}: {text.count(chr(10)) - 2} cases, {len(text)} bytes")
    write_table()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
