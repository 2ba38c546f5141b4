# SPDX-License-Identifier: Apache-2.0
"""Pooling and nearest-neighbour interpolation."""

import torch
import torch.nn.functional as F

from .case import exact

NAN, INF = float("nan"), float("inf")
MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}

# name, x, kernel, stride, padding, dilation, ceil_mode
WINDOWS = [
    ("plain", (2, 2, 7), [2], [2], [0], [1], False),
    ("overlap", (1, 2, 6), [3], [1], [1], [1], False),
    ("ceil", (1, 1, 7), [3], [2], [1], [1], True),
    ("dilation", (1, 2, 8), [2], [2], [1], [3], False),
    ("plain", (2, 2, 4, 6), [2, 2], [2, 2], [0, 0], [1, 1], False),
    ("overlap", (1, 2, 5, 5), [3, 3], [2, 2], [1, 1], [1, 1], False),
    ("uneven", (1, 2, 5, 6), [3, 2], [1, 3], [1, 0], [1, 1], False),
    ("ceil", (1, 1, 6, 7), [3, 2], [2, 2], [0, 0], [1, 1], True),
    ("ceil and padding", (1, 2, 6, 5), [3, 3], [2, 3], [1, 1], [1, 1], True),
    ("a window that would begin in the padding", (1, 1, 4, 4), [2, 2], [3, 3], [1, 1], [1, 1],
     True),
    ("dilation", (1, 1, 7, 8), [2, 3], [2, 1], [1, 1], [2, 2], False),
    ("dilation and ceil", (1, 1, 8, 7), [2, 2], [2, 2], [1, 1], [3, 2], True),
    ("global", (2, 3, 3, 4), [3, 4], [3, 4], [0, 0], [1, 1], False),
    ("gaps", (1, 1, 5, 7), [1, 2], [2, 3], [0, 0], [1, 1], False),
    ("no samples", (0, 2, 4, 4), [2, 2], [2, 2], [0, 0], [1, 1], False),
    ("plain", (1, 2, 4, 3, 4), [2, 2, 2], [2, 1, 2], [0, 0, 1], [1, 1, 1], False),
]

# name, x, output size
ADAPTIVE = [("one", (2, 2, 3, 5), [1, 1]), ("even", (1, 2, 4, 6), [2, 3]),
            ("uneven", (1, 2, 5, 7), [3, 4]), ("larger than the input", (1, 1, 2, 3), [3, 5]),
            ("same", (1, 2, 3, 3), [3, 3])]


def pool(f):
    for name, x, kernel, stride, padding, dilation, ceil in WINDOWS:
        max_case(f, name, distinct(f, x), kernel, stride, padding, dilation, ceil)
        if any(d != 1 for d in dilation):
            continue
        for count in (True, False):
            avg_case(f, name, f.leaf(x), kernel, stride, padding, ceil, count)
    ties = exact([[[[1.0, 1.0, 2.0], [1.0, 2.0, 2.0], [0.0, 2.0, 2.0]]]], True)
    max_case(f, "ties", ties, [2, 2], [1, 1], [0, 0], [1, 1], False)
    low = exact([[[[-INF, -INF, 1.0], [-INF, -INF, NAN], [3.0, NAN, 2.0]]]])
    max_case(f, "special values", low, [2, 2], [1, 1], [0, 0], [1, 1], False)
    below = exact([[[[-5.0, -3.0], [-4.0, -6.0]]]], True)
    max_case(f, "padding is never a maximum", below, [2, 2], [2, 2], [1, 1], [1, 1], False)
    adaptive(f)


def distinct(f, shape):
    """Values without ties, so that the maximum has one place."""
    x = f.const(shape)
    return (x + torch.arange(x.numel(), dtype=torch.float64).reshape(shape) / 8192).requires_grad_()


def max_case(f, name, x, kernel, stride, padding, dilation, ceil):
    attrs = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation,
             "ceil_mode": ceil}
    f.add(f"max_pool{len(kernel)}d",
          lambda x: MAX[len(kernel)](x, kernel, stride, padding, dilation, ceil, True), [x],
          attrs, name, names="x", outputs="y index")


def avg_case(f, name, x, kernel, stride, padding, ceil, count):
    attrs = {"kernel": kernel, "stride": stride, "padding": padding, "ceil_mode": ceil,
             "count_include_pad": count}
    f.add(f"avg_pool{len(kernel)}d",
          lambda x: AVG[len(kernel)](x, kernel, stride, padding, ceil, count), [x], attrs, name,
          names="x")


def adaptive(f):
    for name, x, size in ADAPTIVE:
        f.add("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, size), [f.leaf(x)],
              {"output_size": size}, name, names="x")
        f.add("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, size, True),
              [distinct(f, x)], {"output_size": size}, name, names="x", outputs="y index")
    f.add("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 3), [f.leaf((2, 2, 7))],
          {"output_size": [3]}, "uneven", names="x")
    f.add("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 3, True),
          [distinct(f, (2, 2, 7))], {"output_size": [3]}, "uneven", names="x", outputs="y index")


def interpolate(f):
    table = [("up by whole numbers", (1, 2, 2, 3), [4, 9]), ("up", (1, 1, 3, 4), [5, 7]),
             ("down", (1, 2, 5, 7), [3, 4]), ("down by two", (1, 1, 4, 6), [2, 3]),
             ("up and down", (1, 1, 3, 8), [7, 3]), ("same", (1, 1, 3, 3), [3, 3]),
             ("from one", (2, 1, 1, 1), [2, 3]), ("no samples", (0, 1, 2, 2), [4, 4]),
             ("line up", (1, 2, 4), [7]), ("line down", (1, 2, 7), [3]),
             ("volume", (1, 1, 2, 3, 2), [4, 2, 3])]
    for name, x, size in table:
        f.add("interpolate", lambda x: nearest(x, size), [f.leaf(x)],
              {"mode": "nearest", "output_size": size}, name, names="x")


def nearest(x, size):
    """PyTorch scales in f32; refuse a case where that differs from i * in / out rounded down."""
    exactly = x.detach()
    for axis, out in enumerate(size, 2):
        picks = torch.arange(out) * x.shape[axis] // out
        exactly = exactly.index_select(axis, picks)
    y = F.interpolate(x, size, mode="nearest") if x.shape[0] else x.reshape(0, 1, 2, 2).repeat(
        1, 1, 2, 2)
    if not torch.equal(y, exactly):
        raise ValueError(f"interpolate: {tuple(x.shape)} to {size} is not exact")
    return y
