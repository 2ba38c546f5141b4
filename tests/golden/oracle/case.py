# SPDX-License-Identifier: Apache-2.0
"""A case: one call of one operator, what it returned, and the gradients of its inputs."""

import math
import random

import torch

DTYPES = {torch.float64: "f64", torch.int64: "i64", torch.bool: "bool"}


def number(value):
    """JSON has no words for values that are not finite, so they become strings."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def encode(tensor, name=None):
    """Turn a tensor into {name?, dtype, shape, data}; None stays None."""
    if tensor is None:
        return None
    out = {"name": name} if name else {}
    out["dtype"] = DTYPES[tensor.dtype]
    out["shape"] = list(tensor.shape)
    out["data"] = [number(v) for v in tensor.detach().contiguous().reshape(-1).tolist()]
    return out


def encode_input(tensor, name):
    out = encode(tensor, name)
    if out is not None:
        out["requires_grad"] = tensor.requires_grad
    return out


def encode_attr(value):
    if isinstance(value, (list, tuple)):
        return [encode_attr(v) for v in value]
    return value if isinstance(value, bool) else number(value)


class Family:
    """The cases of one file, and the source of their numbers.

    Numbers are drawn with few decimals: they are short in JSON, and every reader gets them exactly.
    """

    def __init__(self, name):
        self.cases = []
        self.random = random.Random("axle " + name)

    def const(self, shape, low=-2.0, high=2.0, decimals=3):
        """A tensor of uniform numbers that takes no gradient."""
        count = math.prod(shape)
        data = [round(low + (high - low) * self.random.random(), decimals) for _ in range(count)]
        return torch.tensor(data, dtype=torch.float64).reshape(shape)

    def leaf(self, shape, low=-2.0, high=2.0):
        """A tensor of uniform numbers that takes a gradient."""
        return self.const(shape, low, high).requires_grad_()

    def ints(self, shape, low, high):
        """Integers in [low, high)."""
        count = math.prod(shape)
        data = [low + int((high - low) * self.random.random()) for _ in range(count)]
        return torch.tensor(data, dtype=torch.int64).reshape(shape)

    def bools(self, shape, chance=0.5):
        count = math.prod(shape)
        data = [self.random.random() < chance for _ in range(count)]
        return torch.tensor(data, dtype=torch.bool).reshape(shape)

    def add(self, op, function, inputs, attrs=None, name="", note="", names="", outputs="y"):
        """Call function(*inputs), differentiate it, and append what came out as a case.

        names and outputs are lists of words; an absent input is None. Inputs that ask for a
        gradient get one, of sum(output * grad_output) over every output that has a gradient.
        """
        results = function(*inputs)
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        case = {"op": op, "name": name}
        if note:
            case["note"] = note
        case["attrs"] = {key: encode_attr(value) for key, value in (attrs or {}).items()}
        case["inputs"] = [encode_input(x, n) for x, n in zip(inputs, words(names, inputs))]
        case["outputs"] = [encode(y, n) for y, n in zip(results, words(outputs, results))]
        case["grad_outputs"], case["grads"] = self.differentiate(inputs, results)
        self.check(case)
        self.cases.append(case)

    def weight(self, shape):
        """A gradient of an output; no element is 0, which would hide what it multiplies."""
        drawn = self.const(shape, -1.0, 1.0, 2)
        return torch.where(drawn == 0, torch.full_like(drawn, 0.5), drawn)

    def differentiate(self, inputs, results):
        leaves = [x for x in inputs if x is not None and x.requires_grad]
        roots = [y for y in results if y.requires_grad]
        if not leaves or not roots:
            return None, None
        weights = [self.weight(y.shape) if y.requires_grad else None for y in results]
        found = iter(torch.autograd.grad(roots, leaves, [w for w in weights if w is not None],
                                         allow_unused=True))
        grads = []
        for x in inputs:
            wanted = x is not None and x.requires_grad
            grad = next(found) if wanted else None
            grads.append(encode(torch.zeros_like(x) if wanted and grad is None else grad))
        return [encode(w) for w in weights], grads

    def check(self, case):
        """A reader may count on the same attributes in all cases of an operator."""
        for other in self.cases:
            if other["op"] == case["op"] and list(other["attrs"]) != list(case["attrs"]):
                raise ValueError(f"{case['op']}: attributes differ: {case['attrs']}")


def words(text, items):
    found = text.split() if isinstance(text, str) else list(text)
    return found + [None] * (len(items) - len(found))


def tensor(data, grad=False):
    """A tensor from Python lists: f64, i64 or bool by what the list holds."""
    out = torch.tensor(data)
    out = out.to(torch.float64) if out.is_floating_point() else out
    return out.requires_grad_() if grad else out


def exact(data, grad=False):
    """An f64 tensor from Python lists without passing through f32."""
    out = torch.tensor(data, dtype=torch.float64)
    return out.requires_grad_() if grad else out
