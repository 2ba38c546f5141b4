# SPDX-License-Identifier: Apache-2.0
"""Convolutions and transposed convolutions in one to three spatial dims."""

import torch.nn.functional as F

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}

# name, x, weight (O, C/groups, ...), bias, stride, padding, dilation, groups
FORWARD = [
    ("plain", (2, 2, 6), (3, 2, 3), True, [1], [0], [1], 1),
    ("everything", (1, 4, 9), (2, 2, 3), True, [2], [2], [2], 2),
    ("no bias", (2, 1, 5), (2, 1, 2), False, [1], [1], [1], 1),
    ("kernel of one", (2, 3, 4), (2, 3, 1), True, [1], [0], [1], 1),
    ("plain", (2, 2, 5, 4), (3, 2, 3, 3), True, [1, 1], [0, 0], [1, 1], 1),
    ("same padding", (1, 2, 4, 5), (2, 2, 3, 3), True, [1, 1], [1, 1], [1, 1], 1),
    ("stride", (2, 1, 7, 6), (2, 1, 3, 2), True, [2, 3], [1, 0], [1, 1], 1),
    ("uneven everything", (1, 2, 7, 6), (2, 2, 2, 3), True, [2, 1], [1, 2], [3, 2], 1),
    ("groups", (2, 4, 4, 4), (6, 2, 3, 3), True, [1, 1], [1, 1], [1, 1], 2),
    ("depthwise", (1, 3, 5, 5), (3, 1, 3, 3), True, [2, 2], [1, 1], [1, 1], 3),
    ("depthwise multiplier", (1, 2, 4, 3), (4, 1, 2, 2), False, [1, 1], [0, 0], [1, 1], 2),
    ("pointwise", (2, 3, 2, 3), (4, 3, 1, 1), True, [1, 1], [0, 0], [1, 1], 1),
    ("pointwise stride", (1, 2, 5, 5), (2, 2, 1, 1), False, [2, 2], [0, 0], [1, 1], 1),
    ("kernel as large as the input", (2, 2, 3, 4), (2, 2, 3, 4), True, [1, 1], [0, 0], [1, 1], 1),
    ("no samples", (0, 2, 4, 4), (3, 2, 3, 3), True, [1, 1], [0, 0], [1, 1], 1),
    ("plain", (1, 2, 3, 4, 3), (2, 2, 2, 2, 2), True, [1, 1, 1], [0, 0, 0], [1, 1, 1], 1),
    ("uneven everything", (1, 2, 4, 3, 5), (2, 1, 2, 3, 2), True, [2, 1, 2], [1, 1, 0], [1, 1, 2],
     2),
]

# name, x, weight (C, O/groups, ...), bias, stride, padding, output padding, dilation, groups
BACKWARD = [
    ("plain", (2, 2, 4), (2, 3, 3), True, [1], [0], [0], [1], 1),
    ("everything", (1, 4, 4), (4, 1, 3), True, [3], [1], [2], [2], 2),
    ("plain", (2, 2, 3, 3), (2, 3, 2, 2), True, [1, 1], [0, 0], [0, 0], [1, 1], 1),
    ("no bias", (1, 2, 3, 2), (2, 2, 3, 3), False, [1, 1], [1, 1], [0, 0], [1, 1], 1),
    ("doubling", (1, 2, 3, 4), (2, 2, 4, 4), True, [2, 2], [1, 1], [0, 0], [1, 1], 1),
    ("output padding", (1, 2, 3, 3), (2, 2, 3, 3), True, [2, 3], [1, 1], [1, 2], [1, 1], 1),
    ("dilation", (1, 2, 3, 3), (2, 1, 2, 3), True, [1, 1], [1, 0], [0, 0], [2, 2], 1),
    ("groups", (2, 4, 3, 2), (4, 2, 2, 2), True, [2, 1], [0, 0], [1, 0], [1, 1], 2),
    ("uneven everything", (1, 4, 3, 4), (4, 1, 3, 2), True, [2, 3], [2, 1], [1, 2], [2, 3], 2),
    ("kernel of one", (1, 3, 2, 2), (3, 2, 1, 1), True, [2, 2], [0, 0], [1, 1], [1, 1], 1),
]

# Outputs that fill no whole number of a kernel's tiles of rows.
UNEVEN = [
    ("five outputs", (2, 3, 7, 6), (5, 3, 3, 3), True, [1, 1], [1, 1], [1, 1], 1),
    ("five outputs a group", (2, 4, 7, 6), (10, 2, 3, 3), False, [1, 1], [1, 1], [1, 1], 2),
]
UNEVEN_TRANSPOSED = [
    ("five inputs", (2, 5, 7, 6), (5, 3, 3, 3), True, [1, 1], [1, 1], [0, 0], [1, 1], 1),
]


def conv(f):
    forward(f, FORWARD)
    transposed(f, BACKWARD)
    forward(f, UNEVEN)
    transposed(f, UNEVEN_TRANSPOSED)


def forward(f, cases):
    for name, x, w, bias, stride, padding, dilation, groups in cases:
        rank = len(stride)
        attrs = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        f.add(f"conv{rank}d", lambda x, w, b: CONV[rank](x, w, b, **attrs),
              [f.leaf(x), f.leaf(w, -1, 1), f.leaf(w[:1]) if bias else None], attrs, name,
              names="x weight bias")


def transposed(f, cases):
    for name, x, w, bias, stride, padding, extra, dilation, groups in cases:
        rank = len(stride)
        attrs = {"stride": stride, "padding": padding, "output_padding": extra,
                 "dilation": dilation, "groups": groups}
        f.add(f"conv_transpose{rank}d", lambda x, w, b: TRANSPOSED[rank](x, w, b, **attrs),
              [f.leaf(x), f.leaf(w, -1, 1), f.leaf((w[1] * groups,)) if bias else None], attrs,
              name, names="x weight bias")
