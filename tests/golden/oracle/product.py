# SPDX-License-Identifier: Apache-2.0
"""Matrix products and the linear layer."""

import torch
import torch.nn.functional as F

# name, shape of a, shape of b as stored, transpose_a, transpose_b
PRODUCTS = [
    ("matrices", (3, 4), (4, 5), False, False),
    ("odd sizes", (7, 9), (9, 5), False, False),
    ("one by one", (1, 1), (1, 1), False, False),
    ("transposed left", (4, 3), (4, 5), True, False),
    ("transposed right", (3, 4), (5, 4), False, True),
    ("transposed both", (4, 3), (5, 4), True, True),
    ("batched", (2, 3, 4), (2, 4, 5), False, False),
    ("batched, transposed", (2, 4, 3), (2, 5, 4), True, True),
    ("batch broadcast", (2, 1, 3, 4), (5, 4, 2), False, False),
    ("batch of one", (1, 3, 4), (3, 4, 2), False, False),
    ("matrix on the right", (2, 3, 4), (4, 5), False, False),
    ("matrix on the left", (3, 4), (2, 4, 5), False, False),
    ("row times column", (4,), (4,), False, False),
    ("row times matrix", (4,), (4, 5), False, False),
    ("matrix times column", (3, 4), (4,), False, False),
    ("batch times column", (2, 3, 4), (4,), False, False),
    ("row times batch", (4,), (2, 4, 5), False, False),
    ("empty inner", (3, 0), (0, 2), False, False),
    ("empty inner batched", (2, 3, 0), (2, 0, 2), False, False),
    ("no rows", (0, 4), (4, 3), False, False),
    ("no columns", (2, 4), (4, 0), False, False),
    ("no batch", (0, 2, 3), (0, 3, 2), False, False),
]

# name, shape of x, shape of the weight, bias
LINEARS = [
    ("matrix", (2, 4), (3, 4), True),
    ("no bias", (2, 4), (3, 4), False),
    ("leading dims", (2, 3, 4), (5, 4), True),
    ("leading dims, no bias", (2, 1, 3, 4), (5, 4), False),
    ("row", (4,), (3, 4), True),
    ("one feature", (5, 1), (1, 1), True),
    ("no rows", (0, 4), (3, 4), True),
    ("empty inner", (2, 0), (3, 0), True),
    ("odd sizes", (5, 7), (11, 7), True),
]


def matmul(f):
    for name, a_shape, b_shape, transpose_a, transpose_b in PRODUCTS:
        def call(a, b):
            a = a.transpose(-1, -2) if transpose_a else a
            b = b.transpose(-1, -2) if transpose_b else b
            return torch.matmul(a, b)
        f.add("matmul", call, [f.leaf(a_shape), f.leaf(b_shape)],
              {"transpose_a": transpose_a, "transpose_b": transpose_b}, name, names="a b")
    for name, x_shape, w_shape, bias in LINEARS:
        b = f.leaf(w_shape[:1]) if bias else None
        f.add("linear", F.linear, [f.leaf(x_shape), f.leaf(w_shape), b], {}, name,
              names="x weight bias")
