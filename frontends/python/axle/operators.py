# SPDX-License-Identifier: Apache-2.0
"""Operators of tensors, as methods and as functions: x.exp(), axle.exp(x), a + b, 2 ** x."""
import math

from . import dtypes
from ._library import lib
from .creation import from_numpy, tensor
from .tensor import Tensor, call, handles, is_array

_UNARY = ("neg", "abs", "sign", "square", "sqrt", "rsqrt", "reciprocal", "exp", "expm1", "log",
          "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
          "tanh", "erf", "sigmoid", "relu", "floor", "ceil", "round", "trunc", "logical_not")
_QUESTIONS = {"isnan": "is_nan", "isinf": "is_inf", "isfinite": "is_finite"}
_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "pow": "pow", "mod": "remainder"}
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
_LOGIC = {"and": "logical_and", "or": "logical_or", "xor": "logical_xor"}

#: What a float tensor and a Python number give without a tensor of that number.
_AFFINE = {
    "add": lambda x, n: (lib.axle_add_scalar, x, n),
    "sub": lambda x, n: (lib.axle_add_scalar, x, -n),
    "mul": lambda x, n: (lib.axle_mul_scalar, x, n),
    "div": lambda x, n: (lib.axle_mul_scalar, x, 1.0 / n) if n else None,
    "pow": lambda x, n: (lib.axle_pow_scalar, x, n),
}
_AFFINE_SWAPPED = {"add": _AFFINE["add"], "mul": _AFFINE["mul"],
                   "sub": lambda x, n: (lib.axle_affine, x, -1.0, n)}


def _unary(c_name):
    def method(self):
        return call(getattr(lib, c_name), self)
    method.__name__ = c_name[len("axle_"):]
    return method


def _is_operand(value):
    return isinstance(value, (Tensor, int, float)) or is_array(value)


def _pair(a, b):
    """Two operands of one type: numbers take that of the tensor, or make it a float."""
    if isinstance(b, Tensor):
        return a, b
    if is_array(b) and getattr(b, "ndim", 0):
        return a, from_numpy(b).to(dtype=a.dtype, device=a.device)
    whole = not isinstance(b, float) and float(b) == int(b) if not is_array(b) else False
    if not whole and not a.dtype.is_floating_point:
        a = a.to(dtype=dtypes.of_code(lib.axle_default_dtype()))
    return a, a._scalar(b)


def _binary(name, swapped=False):
    c_name = "axle_" + name
    short = (_AFFINE_SWAPPED if swapped else _AFFINE).get(name)

    def method(self, other):
        if type(other) in (int, float) and short and self.dtype.is_floating_point:
            arguments = short(self, float(other))
            if arguments:
                return call(*arguments)
        if not _is_operand(other):
            return NotImplemented
        left, right = _pair(self, other)
        if swapped:
            left, right = right, left
        return call(getattr(lib, c_name), left, right)
    method.__name__ = name
    return method


_divide, _divide_swapped = _binary("div"), _binary("div", swapped=True)


def _real(x):
    return x if x.dtype.is_floating_point else x.to(dtypes.of_code(lib.axle_default_dtype()))


def _true_divide(self, other):
    return _divide(_real(self), _real(other) if isinstance(other, Tensor) else other)


def _true_divide_swapped(self, other):
    return _divide_swapped(_real(self), other)


def _floor_divide(self, other):
    result = _divide(self, other)  # of integers it rounds down
    return result.floor() if result.dtype.is_floating_point else result


def _in_place(name):
    """a.add_(b): overwrites a, unless gradients pass it."""
    function = getattr(Tensor, name)

    def method(self, *arguments, **options):
        if self.requires_grad and lib.axle_grad_enabled():
            raise RuntimeError("a tensor that requires a gradient was to be changed in place; use "
                               "`with axle.no_grad():`")
        return self.copy_(function(self.detach(), *arguments, **options))
    method.__name__ = name + "_"
    return method


for _name in _UNARY:
    setattr(Tensor, _name, _unary("axle_" + _name))
for _name, _c_name in _QUESTIONS.items():
    setattr(Tensor, _name, _unary("axle_" + _c_name))
for _name, _c_name in _BINARY.items():
    setattr(Tensor, _c_name, _binary(_c_name))
    setattr(Tensor, "__%s__" % _name, _binary(_c_name))
    setattr(Tensor, "__r%s__" % _name, _binary(_c_name, swapped=True))
for _name in _COMPARE:
    setattr(Tensor, _name, _binary(_name))
    setattr(Tensor, "__%s__" % _name, _binary(_name))
for _name, _c_name in _LOGIC.items():
    setattr(Tensor, _c_name, _binary(_c_name))
    setattr(Tensor, "__%s__" % _name, _binary(_c_name))
for _name in ("maximum", "minimum", "fmod", "atan2"):
    setattr(Tensor, _name, _binary(_name))
Tensor.div = Tensor.__truediv__ = _true_divide
Tensor.__rtruediv__ = _true_divide_swapped
Tensor.__floordiv__ = _floor_divide
Tensor.__neg__ = Tensor.neg
Tensor.__abs__ = Tensor.abs
Tensor.__invert__ = Tensor.logical_not
Tensor.__hash__ = object.__hash__
for _name in ("add", "sub", "mul", "div", "clamp", "relu", "exp", "neg", "sqrt"):
    setattr(Tensor, _name + "_", _in_place(_name))


# ---------------------------------------------------------------------- functions

def cat(tensors, dim=0):
    """Join tensors along a dim."""
    return call(lib.axle_concat, handles(tensors), len(tensors), dim)


concat = cat


def stack(tensors, dim=0):
    """Join tensors along a new dim."""
    return call(lib.axle_stack, handles(tensors), len(tensors), dim)


def where(condition, a, b):
    """a where the condition is true, else b."""
    if not isinstance(a, Tensor):
        a = b._scalar(a) if isinstance(b, Tensor) else tensor(a).to(device=condition.device)
    a, b = _pair(a, b)
    return call(lib.axle_where, condition, a, b)


def allclose(a, b, rtol=1e-5, atol=1e-8):
    """Whether |a - b| <= atol + rtol * |b| for all elements."""
    return bool(((a - b).abs() <= b.abs() * rtol + atol).all())


def equal(a, b):
    """Whether two tensors have one shape and equal elements."""
    return a.shape == b.shape and bool((a == b).all())


def _function(name):
    method = getattr(Tensor, name)

    def function(input, *arguments, **options):
        return method(input, *arguments, **options)
    function.__name__ = name
    function.__doc__ = method.__doc__ or "As Tensor.%s()." % name
    return function


_METHODS = (*_UNARY, *_QUESTIONS, *_BINARY.values(), *_COMPARE, *_LOGIC.values(), "div", "maximum",
            "minimum", "matmul", "sum", "mean", "prod", "max", "min", "amax", "amin", "argmax",
            "argmin", "var", "std", "norm", "softmax", "log_softmax", "clamp", "reshape", "flatten",
            "permute", "transpose", "squeeze", "unsqueeze", "gather", "index_select", "split",
            "chunk", "masked_fill", "any", "all")
for _name in _METHODS:
    globals()[_name] = _function(_name)
mm = bmm = globals()["matmul"]
pi, inf, nan = math.pi, math.inf, math.nan

__all__ = ["cat", "concat", "stack", "where", "allclose", "equal", "mm", "bmm", "pi", "inf", "nan",
           *_METHODS]
