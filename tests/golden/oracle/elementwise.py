# SPDX-License-Identifier: Apache-2.0
"""Operators that work element by element: one operand, two operands, selection."""

import torch
import torch.nn.functional as F

from .case import exact, tensor

INF, NAN = float("inf"), float("nan")
FINITE = [0.0, -0.0, 1.0, -1.0, 1e-9, -1e-9, 40.0, -40.0, 700.0, -700.0]
# A product of -inf with a vanishing factor has no agreed value, so gates see no -inf.
GATE = FINITE + [INF, NAN]
EVERY = FINITE + [INF, -INF, NAN]
# How far a sum goes before it saturates is a matter of taste in hard gates: no NaN there.
PLAIN = FINITE


def elu(x, slope):
    """With expm1: PyTorch's own exp(x) - 1 loses half its digits near 0."""
    return torch.where(x > 0, x, slope * torch.expm1(torch.clamp(x, max=0.0)))


def unary_table():
    """Rows: op, function of (x, alpha, beta), range of inputs, special inputs, (alpha, beta)s."""
    none = [(None, None)]

    def row(op, function, low=-3.0, high=3.0, special=EVERY, variants=none):
        return op, function, low, high, special, variants

    return [
        row("neg", lambda x, a, b: -x),
        row("abs", lambda x, a, b: x.abs()),
        row("sign", lambda x, a, b: x.sign(), special=FINITE + [INF, -INF]),
        row("square", lambda x, a, b: x.square()),
        row("sqrt", lambda x, a, b: x.sqrt(), 0.1, 5.0),
        row("rsqrt", lambda x, a, b: x.rsqrt(), 0.1, 5.0),
        row("reciprocal", lambda x, a, b: x.reciprocal(), 0.2, 4.0),
        row("exp", lambda x, a, b: x.exp()),
        row("expm1", lambda x, a, b: x.expm1()),
        row("log", lambda x, a, b: x.log(), 0.05, 5.0),
        row("log1p", lambda x, a, b: x.log1p(), -0.9, 5.0),
        row("log2", lambda x, a, b: x.log2(), 0.05, 5.0),
        row("log10", lambda x, a, b: x.log10(), 0.05, 5.0),
        row("sin", lambda x, a, b: x.sin()),
        row("cos", lambda x, a, b: x.cos()),
        row("tan", lambda x, a, b: x.tan(), -1.4, 1.4),
        row("asin", lambda x, a, b: x.asin(), -0.95, 0.95),
        row("acos", lambda x, a, b: x.acos(), -0.95, 0.95),
        row("atan", lambda x, a, b: x.atan()),
        row("sinh", lambda x, a, b: x.sinh()),
        row("cosh", lambda x, a, b: x.cosh()),
        row("tanh", lambda x, a, b: x.tanh()),
        row("erf", lambda x, a, b: x.erf()),
        row("sigmoid", lambda x, a, b: x.sigmoid(), -6.0, 6.0),
        row("log_sigmoid", lambda x, a, b: F.logsigmoid(x), -6.0, 6.0, FINITE + [INF, -INF]),
        row("relu", lambda x, a, b: x.relu()),
        row("leaky_relu", lambda x, a, b: F.leaky_relu(x, a), variants=[(0.01, None), (0.2, None)]),
        row("elu", lambda x, a, b: elu(x, a), variants=[(1.0, None), (1.5, None)]),
        row("gelu", lambda x, a, b: F.gelu(x), special=GATE),
        row("gelu_tanh", lambda x, a, b: F.gelu(x, approximate="tanh"), special=GATE),
        row("silu", lambda x, a, b: F.silu(x), special=GATE),
        row("mish", lambda x, a, b: F.mish(x), special=GATE),
        row("softplus", lambda x, a, b: F.softplus(x, a, b), -6.0, 6.0, GATE + [-INF],
            [(1.0, 20.0), (2.0, 5.0)]),
        row("hard_sigmoid", lambda x, a, b: F.hardsigmoid(x), -5.0, 5.0, PLAIN),
        row("hard_swish", lambda x, a, b: F.hardswish(x), -5.0, 5.0, PLAIN),
        row("clip", lambda x, a, b: x.clamp(a, b), variants=[(-1.0, 1.5), (0.25, 0.5)]),
        row("affine", lambda x, a, b: a * x + b, variants=[(2.5, -1.0), (-0.5, 0.0)]),
        row("pow_scalar", lambda x, a, b: x.pow(a), 0.1, 3.0, FINITE,
            [(2.0, None), (3.0, None), (0.5, None), (-1.0, None), (0.0, None), (1.7, None)]),
        row("floor", lambda x, a, b: x.floor()),
        row("ceil", lambda x, a, b: x.ceil()),
        row("round", lambda x, a, b: x.round()),
        row("trunc", lambda x, a, b: x.trunc()),
    ]


# Points where a definition has to choose a one-sided derivative or rounds a tie.
EDGES = {
    "abs": [0.0, 1.0, -1.0],
    "relu": [0.0, 1.0, -1.0],
    "leaky_relu": [0.0, 1.0, -1.0],
    "clip": [-1.0, 0.25, 0.5, 1.5],
    "sqrt": [0.0, 4.0],
    "round": [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994],
    "floor": [-0.5, 0.5, 2.0, -2.0],
    "ceil": [-0.5, 0.5, 2.0, -2.0],
    "trunc": [-0.5, 0.5, 1.9, -1.9],
    "square": [0.0],
    "sigmoid": [-700.0, 0.0, 700.0],
    "log_sigmoid": [-700.0, 0.0, 700.0],
    "softplus": [-700.0, 0.0, 2.4, 2.6, 19.9, 20.1, 700.0],
    "gelu": [-30.0, 0.0, 30.0],
    "gelu_tanh": [-30.0, 0.0, 30.0],
    "silu": [-700.0, 0.0, 700.0],
    "mish": [-40.0, 0.0, 40.0],
    "tanh": [-30.0, 0.0, 30.0],
}

INTEGERS = ["neg", "abs", "sign", "square", "relu", "clip", "affine", "floor", "ceil", "round",
            "trunc"]


def unary(f):
    for op, function, low, high, special, variants in unary_table():
        for a, b in variants:
            attrs = {"alpha": a, "beta": b}

            def add(name, x, call=function, a=a, b=b):
                f.add(op, lambda x: call(x, a, b), [x], attrs, name, names="x")

            add("matrix", f.leaf((2, 3), low, high))
            add("special values", exact(special))
            if op in EDGES:
                add("edges", exact(EDGES[op], grad=True))
        add("scalar", f.leaf((), low, high))
    f.add("exp", lambda x: x.exp(), [f.leaf((0, 3))], {"alpha": None, "beta": None}, "empty",
          names="x")
    f.add("relu", lambda x: x.relu(), [f.leaf((2, 0))], {"alpha": None, "beta": None}, "empty",
          names="x")
    unary_integers(f)
    unary_booleans(f)


def unary_integers(f):
    x = tensor([-7, -2, -1, 0, 1, 3, 9])
    table = {op: function for op, function, *_ in unary_table()}
    for op in INTEGERS:
        a, b = {"clip": (-2, 3), "affine": (3, -1)}.get(op, (None, None))
        f.add(op, lambda x: table[op](x, a, b), [x], {"alpha": a, "beta": b}, "integers",
              names="x")


def unary_booleans(f):
    table = {"logical_not": torch.logical_not, "is_nan": torch.isnan, "is_inf": torch.isinf,
             "is_finite": torch.isfinite}
    inputs = {"floats": exact(EVERY), "integers": tensor([-1, 0, 1, 5]),
              "booleans": tensor([True, False]), "empty": f.const((0,))}
    for op, function in table.items():
        for name, x in inputs.items():
            f.add(op, function, [x], {"alpha": None, "beta": None}, name, names="x")


SHAPES = {
    "same shape": ((2, 3), (2, 3)),
    "outer": ((3, 1), (1, 4)),
    "scalar left": ((), (2, 3)),
    "scalar right": ((2, 3), ()),
    "ranks differ": ((2, 1, 3), (4, 1)),
    "empty": ((0, 3), (1, 3)),
}


def bce(a, b):
    return F.binary_cross_entropy_with_logits(*torch.broadcast_tensors(a, b), reduction="none")


# op, function, range of a, range of b
ARITHMETIC = [
    ("add", torch.add, (-2, 2), (-2, 2)),
    ("sub", torch.sub, (-2, 2), (-2, 2)),
    ("mul", torch.mul, (-2, 2), (-2, 2)),
    ("div", torch.div, (-2, 2), (0.3, 3)),
    ("pow", torch.pow, (0.2, 3), (-2, 3)),
    ("maximum", torch.maximum, (-2, 2), (-2, 2)),
    ("minimum", torch.minimum, (-2, 2), (-2, 2)),
    ("atan2", torch.atan2, (-2, 2), (-2, 2)),
    ("remainder", torch.remainder, (-5, 5), (-1.9, -0.4)),
    ("fmod", torch.fmod, (-5, 5), (0.4, 1.9)),
    ("bce_with_logits", bce, (-4, 4), (0, 1)),
]

COMPARISONS = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt,
               "ge": torch.ge}
LOGIC = {"logical_and": torch.logical_and, "logical_or": torch.logical_or,
         "logical_xor": torch.logical_xor}


def binary(f):
    for op, function, a_range, b_range in ARITHMETIC:
        for name, (a_shape, b_shape) in SHAPES.items():
            pair(f, op, function, f.leaf(a_shape, *a_range), f.leaf(b_shape, *b_range), name)
    for alpha in (2.0, -0.5):
        f.add("add", lambda a, b: torch.add(a, b, alpha=alpha), [f.leaf((2, 3)), f.leaf((3,))],
              {"alpha": alpha}, "scaled", names="a b")
    for op, function in {**COMPARISONS, **LOGIC}.items():
        for name, (a_shape, b_shape) in SHAPES.items():
            a, b = f.ints(a_shape, -1, 2).double(), f.ints(b_shape, -1, 2).double()
            pair(f, op, function, a, b, name)
    binary_special(f)
    binary_integers(f)
    binary_booleans(f)


def pair(f, op, function, a, b, name, note=""):
    f.add(op, function, [a, b], {"alpha": 1.0 if op == "add" else None}, name, note, "a b")


def binary_special(f):
    values = exact([0.0, 1.0, -2.0, INF, -INF, NAN])
    a, b = values.reshape(6, 1), values.reshape(1, 6)
    for op in ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "atan2"):
        pair(f, op, getattr(torch, op), a, b, "special values")
    for op, function in {**COMPARISONS, **LOGIC}.items():
        pair(f, op, function, a, b, "special values")
    a, b = exact([[5.5], [-5.5], [0.0], [-0.75]]), exact([[2.0, -2.0, 0.0, 0.5]])
    for op in ("remainder", "fmod"):
        pair(f, op, getattr(torch, op), a, b, "signs and zero")
    for op in ("maximum", "minimum"):
        pair(f, op, getattr(torch, op), exact([1.0, 2.0, 3.0], True), exact([1.0, 5.0, 0.0], True),
             "ties", "Equal operands share the gradient by halves.")
    pair(f, "bce_with_logits", bce, exact([700.0, -700.0, 700.0, -700.0, 0.0], True),
         exact([1.0, 0.0, 0.0, 1.0, 0.5], True), "large logits")
    pair(f, "pow", torch.pow, exact([0.0, 0.0, 0.0, 2.0], True), exact([0.0, 1.0, 2.0, 0.0], True),
         "gradient at zero", "0^b with b >= 0 gives the exponent no gradient.")


def floor_div(a, b):
    quotient = torch.div(a, torch.where(b == 0, torch.ones_like(b), b), rounding_mode="floor")
    return torch.where(b == 0, torch.zeros_like(quotient), quotient)


def binary_integers(f):
    a, b = tensor([[-7], [-1], [0], [3], [8]]), tensor([[-3, -1, 1, 2, 5]])
    for op in ("add", "sub", "mul", "remainder", "fmod", "maximum", "minimum"):
        pair(f, op, getattr(torch, op), a, b, "integers")
    for op, function in {**COMPARISONS, **LOGIC}.items():
        pair(f, op, function, a, b, "integers")
    pair(f, "div", floor_div, a, tensor([[-3, -1, 0, 1, 2, 5]]), "integers",
         "Rounds toward minus infinity; a divisor of 0 gives 0.")
    pair(f, "pow", torch.pow, tensor([[-3], [0], [2], [5]]), tensor([[0, 1, 2, 3, 7]]), "integers")
    pair(f, "pow", torch.pow, tensor([-3, 2, 7]), tensor([-1, -2, -3]), "negative exponents")


def binary_booleans(f):
    a, b = tensor([[True], [False]]), tensor([[True, False]])
    for op, function in {**COMPARISONS, **LOGIC}.items():
        pair(f, op, function, a, b, "booleans")
    pair(f, "maximum", torch.logical_or, a, b, "booleans")
    pair(f, "minimum", torch.logical_and, a, b, "booleans")


def select(f):
    names = "condition a b"
    shapes = {"same shape": ((2, 3), (2, 3), (2, 3)), "broadcast": ((3, 1), (1, 4), (2, 1, 1)),
              "scalars": ((2, 3), (), ()), "scalar condition": ((), (2, 3), (3,)),
              "empty": ((0, 2), (1, 2), (2,))}
    for name, (condition, a, b) in shapes.items():
        f.add("where", torch.where, [f.bools(condition), f.leaf(a), f.leaf(b)], {}, name,
              names=names)
    f.add("where", torch.where, [tensor([True, False]), exact([1.0, NAN], True),
                                 exact([INF, 2.0], True)], {}, "no leak", names=names)
    f.add("where", torch.where, [f.bools((5,)), f.ints((5,), -9, 9), f.ints((5,), -9, 9)], {},
          "integers", names=names)
    for name, low, high in (("both", -1.0, 0.5), ("min only", 0.0, None), ("max only", None, 0.0),
                            ("crossed", 1.0, -1.0)):
        f.add("clip", lambda x: x.clamp(low, high), [f.leaf((2, 4))], {"min": low, "max": high},
              name, names="x")
    f.add("clip", lambda x: x.clamp(-1.0, 1.0), [exact([-1.0, 1.0, 0.0, 3.0, -3.0], True)],
          {"min": -1.0, "max": 1.0}, "edges", "The gradient passes where min <= x <= max.", "x")
    f.add("clip", lambda x: x.clamp(-1.0, 1.0), [exact([INF, -INF, NAN])],
          {"min": -1.0, "max": 1.0}, "special values", names="x")
    f.add("clip", lambda x: x.clamp(-2, 3), [tensor([-5, -2, 0, 3, 8])], {"min": -2, "max": 3},
          "integers", names="x")
    f.add("clip", lambda x: x.clamp(-1.0, 1.0), [f.leaf((0,))], {"min": -1.0, "max": 1.0},
          "empty", names="x")
    f.add("clip", lambda x: x.clamp(-1.0, 1.0), [f.leaf(())], {"min": -1.0, "max": 1.0},
          "scalar", names="x")
