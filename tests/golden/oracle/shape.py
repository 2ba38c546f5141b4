# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements without computing."""

import torch
import torch.nn.functional as F


def shape(f):
    join(f)
    cut(f)
    permute(f)
    pad(f)


def join(f):
    table = [("rows", [(2, 3), (1, 3), (3, 3)], 0), ("columns", [(2, 3), (2, 1)], 1),
             ("negative axis", [(2, 1, 3), (2, 4, 3)], -2), ("single", [(2, 3)], 0),
             ("an empty part", [(2, 3), (0, 3), (1, 3)], 0), ("all empty", [(0, 3), (0, 3)], 0),
             ("vectors", [(4,), (1,), (2,)], 0)]
    for name, shapes, axis in table:
        f.add("concat", lambda *x: torch.cat(x, axis), [f.leaf(s) for s in shapes],
              {"axis": axis}, name, names=numbered(shapes))
    f.add("concat", lambda *x: torch.cat(x, 0), [f.ints((3,), -9, 9), f.ints((2,), -9, 9)],
          {"axis": 0}, "integers", names="x0 x1")
    for name, one, count, axis in (("new rows", (2, 3), 3, 0), ("new columns", (2, 3), 2, -1),
                                   ("in the middle", (2, 3), 2, 1), ("scalars", (), 4, 0),
                                   ("empty", (0, 2), 2, 1)):
        f.add("stack", lambda *x: torch.stack(x, axis), [f.leaf(one) for _ in range(count)],
              {"axis": axis}, name, names=numbered(range(count)))


def numbered(items):
    return [f"x{i}" for i, _ in enumerate(items)]


def cut(f):
    table = [("rows", (5, 3), 0, 1, 4, 1), ("columns", (2, 7), 1, 0, 3, 1),
             ("step", (2, 7), 1, 1, 7, 2), ("step past the end", (8,), 0, 0, 8, 3),
             ("negative axis", (2, 3, 4), -1, 2, 4, 1), ("nothing", (4, 2), 0, 2, 2, 1),
             ("everything", (3, 2), 0, 0, 3, 1)]
    for name, size, axis, start, stop, step in table:
        def call(x):
            picks = [slice(None)] * x.dim()
            picks[axis] = slice(start, stop, step)
            return x[tuple(picks)]
        f.add("slice", call, [f.leaf(size)],
              {"axis": axis, "start": start, "stop": stop, "step": step}, name, names="x")


def permute(f):
    for name, size, axes in (("transpose", (2, 3), [1, 0]), ("rotate", (2, 3, 4), [2, 0, 1]),
                             ("identity", (2, 3), [0, 1]), ("four", (2, 1, 3, 2), [0, 3, 1, 2]),
                             ("empty", (0, 3, 2), [2, 1, 0]), ("scalar", (), [])):
        f.add("permute", lambda x: x.permute(axes), [f.leaf(size)], {"axes": axes}, name,
              names="x")


def pad(f):
    table = [("matrix", (2, 3), [[1, 2], [0, 1]], 0.0), ("value", (2, 3), [[0, 0], [2, 1]], -1.5),
             ("vector", (3,), [[1, 1]], 2.0), ("plane", (1, 2, 2, 3), [[0, 0], [0, 0], [1, 1],
                                                                       [2, 0]], 0.0),
             ("nothing", (2, 2), [[0, 0], [0, 0]], 0.0), ("from empty", (0, 2), [[2, 1], [0, 0]],
                                                          3.0)]
    for name, size, pads, value in table:
        flat = [n for pair in reversed(pads) for n in pair]
        f.add("pad", lambda x: F.pad(x, flat, value=value), [f.leaf(size)],
              {"pads": pads, "value": value}, name, names="x")
