# SPDX-License-Identifier: Apache-2.0
"""Operators that read or write at positions given by a tensor."""

import torch
import torch.nn.functional as F

from .case import exact, tensor


def index(f):
    embedding(f)
    gather(f)
    scatter(f)
    select(f)
    one_hot(f)


def embedding(f):
    table = [("row", (5, 3), tensor([0, 4, 2]), None), ("repeated", (5, 3), tensor([1, 1, 4, 1]),
                                                        None),
             ("matrix of ids", (6, 2), tensor([[0, 5, 3], [3, 3, 1]]), None),
             ("padding", (5, 3), tensor([0, 2, 2, 4, 0]), 0),
             ("padding in the middle", (5, 3), tensor([[2, 3], [3, 1]]), 3),
             ("scalar id", (4, 3), tensor(2), None),
             ("no ids", (4, 3), torch.zeros((0,), dtype=torch.int64), None)]
    for name, shape, ids, padding in table:
        f.add("embedding", lambda w, i: F.embedding(i, w, padding), [f.leaf(shape), ids],
              {"padding_idx": padding}, name, names="weight ids")


def gather(f):
    table = [("rows", (3, 4), 0, (2, 4)), ("columns", (3, 4), 1, (3, 6)),
             ("negative axis", (2, 3, 4), -2, (2, 5, 4)), ("smaller index", (3, 4), 1, (2, 2)),
             ("vector", (5,), 0, (7,)), ("no index", (3, 4), 1, (3, 0))]
    for name, shape, axis, index_shape in table:
        f.add("gather", lambda x, i: torch.gather(x, axis, i),
              [f.leaf(shape), f.ints(index_shape, 0, shape[axis])], {"axis": axis}, name,
              names="x index")


def scatter(f):
    names = "x index src"
    order = tensor([[2, 0, 1, 2], [0, 2, 2, 1]])
    for op, function in (("scatter", torch.scatter), ("scatter_add", torch.scatter_add)):
        def add(name, x, axis, i, src, note=""):
            f.add(op, lambda x, i, s: function(x, axis, i, s), [x, i, src], {"axis": axis}, name,
                  note, names)
        add("rows", f.leaf((3, 4)), 0, order, f.leaf((2, 4)))
        add("columns", f.leaf((2, 5)), 1, tensor([[4, 0, 2], [1, 3, 0]]), f.leaf((2, 3)))
        add("negative axis", f.leaf((2, 3, 2)), -2, tensor([[[0, 2]], [[1, 0]]]),
            f.leaf((2, 1, 2)))
        add("vector", f.leaf((4,)), 0, tensor([3, 1]), f.leaf((2,)))
        add("integers", f.ints((4,), -5, 5), 0, tensor([2, 0]), f.ints((2,), 5, 9))
        add("no index", f.leaf((3, 2)), 0, torch.zeros((0, 2), dtype=torch.int64),
            f.leaf((0, 2)))
    repeated = tensor([[1, 1, 0, 1, 4], [2, 2, 2, 2, 2]])
    f.add("scatter_add", lambda x, i, s: torch.scatter_add(x, 1, i, s),
          [f.leaf((2, 5)), repeated, f.leaf((2, 5))], {"axis": 1}, "repeated", names=names)
    f.add("scatter", lambda x, i, s: torch.scatter(x, 1, i, s),
          [exact([[0.0] * 5] * 2), repeated, f.const((2, 5))], {"axis": 1}, "repeated",
          "The last element in row-major order wins.", names)


def select(f):
    table = [("rows", (4, 3), 0, tensor([3, 0])), ("repeated", (4, 3), 0, tensor([1, 1, 2, 1])),
             ("columns", (2, 5), 1, tensor([4, 0, 0])),
             ("negative axis", (2, 3, 2), -2, tensor([2, 0, 2, 1])),
             ("vector", (5,), 0, tensor([2])),
             ("no index", (3, 2), 0, torch.zeros((0,), dtype=torch.int64))]
    for name, shape, axis, chosen in table:
        f.add("index_select", lambda x, i: torch.index_select(x, axis, i),
              [f.leaf(shape), chosen], {"axis": axis}, name, names="x index")
        src = f.leaf([len(chosen) if k == axis % len(shape) else n for k, n in enumerate(shape)])
        f.add("index_add", lambda x, i, s: torch.index_add(x, axis, i, s),
              [f.leaf(shape), chosen, src], {"axis": axis}, name, names="x index src")


def one_hot(f):
    table = [("row", tensor([0, 2, 1, 2]), 3), ("matrix", f.ints((2, 3), 0, 5), 5),
             ("scalar", tensor(1), 2), ("wide", tensor([1, 0]), 7)]
    for name, ids, classes in table:
        f.add("one_hot", lambda i: F.one_hot(i, classes), [ids], {"num_classes": classes}, name,
              names="ids")
    f.add("one_hot", lambda i: torch.zeros((0, 3), dtype=torch.int64),
          [torch.zeros((0,), dtype=torch.int64)], {"num_classes": 3}, "empty", names="ids")
