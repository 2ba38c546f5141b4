# SPDX-License-Identifier: Apache-2.0
"""Reductions over axes, and the positions of extremes."""

import torch

from .case import exact, tensor

NAN, INF = float("nan"), float("inf")


def prod(x, axes, keepdim):
    for axis in sorted((a % x.dim() for a in axes), reverse=True):
        x = x.prod(axis, keepdim)
    return x if axes else x.prod()


def extreme(function):
    return lambda x, axes, keepdim: function(x, axes, keepdim)


def boolean(function):
    def call(x, axes, keepdim):
        x = x != 0
        for axis in sorted((a % x.dim() for a in axes), reverse=True):
            x = function(x, axis, keepdim)
        return x if axes else function(x)
    return call


def power_sum(x, axes, keepdim):
    return x.square().sum(axes, keepdim) if axes else x.square().sum()


def norm(order):
    return lambda x, axes, keepdim: torch.linalg.vector_norm(x, order, axes or None, keepdim)


def variance(correction):
    def call(x, axes, keepdim):
        every = list(range(x.dim())) or None
        return torch.var(x, axes or every, correction=correction, keepdim=keepdim)
    return call


# op, correction, function, whether it has a gradient, whether no element at all is allowed
TABLE = [
    ("sum", None, lambda x, axes, k: x.sum(axes, k) if axes else x.sum(), True, True),
    ("mean", None, lambda x, axes, k: x.mean(axes, k) if axes else x.mean(), True, True),
    ("prod", None, prod, True, True),
    ("max", None, extreme(torch.amax), True, False),
    ("min", None, extreme(torch.amin), True, False),
    ("var", 0, variance(0), True, True),
    ("var", 1, variance(1), True, True),
    ("norm1", None, norm(1), True, True),
    ("norm2", None, norm(2), True, True),
    ("sum_squares", None, power_sum, True, True),
    ("any", None, boolean(torch.any), False, True),
    ("all", None, boolean(torch.all), False, True),
]

# shape, axes (None is all of them), keepdim, whether it reduces over no element
VIEWS = [
    ((2, 3, 4), None, False, False),
    ((2, 3, 4), [1], False, False),
    ((2, 3, 4), [0, 2], True, False),
    ((2, 3, 4), [-1], False, False),
    ((2, 3, 4), [-3, -2], False, False),
    ((7,), [0], True, False),
    ((3, 1), [1], False, False),
    ((), None, False, False),
    ((2, 0, 3), [2], False, False),
    ((0, 3), [0], False, True),
    ((2, 0), None, False, True),
]


def reduce(f):
    for op, correction, function, differentiable, allows_empty in TABLE:
        for shape, axes, keepdim, empty in VIEWS:
            if empty and not allows_empty:
                continue
            add(f, op, function, operand(f, shape, differentiable, correction), axes, keepdim,
                correction, "view")
    special(f)


def operand(f, shape, differentiable, correction):
    if not differentiable:
        return f.ints(shape, 0, 2).double()
    # The corrected variance of a single element is NaN, and so has no gradient worth the name.
    single = shape in ((), (3, 1))
    return f.const(shape) if single and correction else f.leaf(shape)


def add(f, op, function, x, axes, keepdim, correction, name, note=""):
    attrs = {"axes": axes, "keepdim": keepdim, "correction": correction}
    f.add(op, lambda x: function(x, axes or [], keepdim), [x], attrs, name, note, "x")


def special(f):
    table = {op: function for op, _, function, *_ in TABLE}
    integers = tensor([[3, -1, 4], [1, -5, 9]])
    for op in ("sum", "prod", "max", "min", "any", "all"):
        add(f, op, table[op], integers, [1], False, None, "integers")
        add(f, op, table[op], integers, None, False, None, "integers")
    for op in ("any", "all"):
        add(f, op, table[op], f.bools((3, 4)), [0], False, None, "booleans")
        add(f, op, table[op], exact([[NAN, 0.0], [0.0, -0.0], [INF, 1.0]]), [1], False, None,
            "special values")
    holes = exact([[1.0, NAN, 3.0], [-INF, 2.0, INF]])
    for op in ("sum", "mean", "prod", "max", "min", "norm1", "norm2"):
        add(f, op, table[op], holes, [1], False, None, "special values")
    add(f, "prod", prod, exact([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0], [1.5, -2.0, 0.5]], True), [1],
        False, None, "zeros")
    add(f, "norm2", table["norm2"], exact([[0.0, 0.0], [3.0, 4.0]], True), [1], False, None,
        "zeros", "The gradient of a norm that is 0 is 0.")
    add(f, "norm1", table["norm1"], exact([[0.0, -2.0], [3.0, 0.0]], True), [1], False, None,
        "zeros")
    for op in ("max", "min"):
        add(f, op, table[op], exact([[1.0, 4.0, 4.0], [-1.0, -1.0, 2.0]], True), [1], False, None,
            "ties", "Equal extremes share the gradient evenly.")
    add(f, "var", variance(1), f.const((3, 40), 1000.0, 1001.0).requires_grad_(), [1], False, 1,
        "large mean")
    add(f, "var", variance(0), exact([[5.0], [7.0]], True), [1], False, 0, "single element")
    add(f, "sum", table["sum"], f.leaf((5, 129), -1.0, 1.0), [1], False, None, "odd length")


def arg_reduce(f):
    views = [((2, 3, 4), 0, False), ((2, 3, 4), 1, True), ((2, 3, 4), -1, False),
             ((2, 3, 4), None, False), ((7,), 0, False), ((5,), 0, True), ((), None, False),
             ((0, 3), 1, False)]
    data = [(f.const(shape), axis, keepdim, "view") for shape, axis, keepdim in views]
    data.append((exact([[1.0, 3.0, 3.0], [2.0, 2.0, 5.0]]), 1, False, "ties"))
    data.append((exact([[1.0, NAN, 3.0, NAN], [-INF, INF, 0.0, 2.0]]), 1, False, "special values"))
    data.append((tensor([[3, -1, 4], [4, -5, 4]]), 0, False, "integers"))
    for op, pick in (("argmax", torch.argmax), ("argmin", torch.argmin)):
        for x, axis, keepdim, name in data:
            f.add(op, lambda x: pick(x, axis, keepdim), [x], {"axis": axis, "keepdim": keepdim},
                  name, names="x")
