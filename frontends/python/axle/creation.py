# SPDX-License-Identifier: Apache-2.0
"""Making tensors."""
import ctypes

from . import dtypes
from ._library import check, lib
from .exchange import copied, from_dlpack, from_numpy
from .tensor import Tensor, CTYPES, call, is_array, numbers

__all__ = ["tensor", "as_tensor", "from_numpy", "from_dlpack", "empty", "zeros", "ones",
           "rand", "randn", "full", "arange", "zeros_like", "ones_like", "full_like", "rand_like",
           "randn_like", "empty_like", "randint", "randperm", "linspace", "eye"]


def _flatten(data):
    """Shape and elements of nested sequences of numbers."""
    if isinstance(data, Tensor):
        data = data.tolist()
    if not isinstance(data, (list, tuple, range)):
        return (), [data]
    parts = [_flatten(item) for item in data]
    shapes = {shape for shape, _ in parts}
    if len(shapes) > 1:
        raise ValueError("the rows have different shapes: %s" % ", ".join(map(str, sorted(shapes))))
    inner = shapes.pop() if shapes else ()
    return (len(parts), *inner), [value for _, values in parts for value in values]


def _guess(values):
    if values and all(isinstance(v, bool) for v in values):
        return dtypes.resolve("bool")
    integers = values and all(isinstance(v, int) for v in values)
    return dtypes.resolve("int64") if integers else dtypes.of_code(lib.axle_default_dtype())


def tensor(data, dtype=None, device=None, requires_grad=False):
    """A tensor with a copy of numbers, nested sequences of them, an array or a tensor."""
    wanted = dtypes.resolve(dtype)
    if isinstance(data, Tensor):
        result = data.detach().clone()
    elif is_array(data):
        result = copied(data)
    else:
        shape, values = _flatten(data)
        made = wanted if wanted and wanted.name in CTYPES else _guess(values)
        result = call(lib.axle_from_data, made.code, len(shape), numbers(shape),
                      numbers(values, CTYPES[made.name]))
    result = result.to(wanted) if wanted else result
    return result.to(device).requires_grad_(requires_grad) if device or requires_grad else result


def _maker(name):
    c_name = "axle_" + name

    def make(*size, dtype=None, device=None, requires_grad=False):
        function = getattr(lib, c_name)
        if len(size) == 1 and not isinstance(size[0], int):
            size = tuple(size[0])
        kind = dtypes.resolve(dtype) or dtypes.of_code(lib.axle_default_dtype())
        result = call(function, kind.code, len(size), numbers(size))
        result = result.to(device) if device else result
        return result.requires_grad_(requires_grad) if requires_grad else result
    make.__name__ = name
    return make


empty, zeros, ones, rand, randn = map(_maker, ("empty", "zeros", "ones", "rand", "randn"))
for _make, _doc in ((empty, "of undefined content"), (zeros, "of zeros"), (ones, "of ones"),
                    (rand, "drawn uniformly from [0, 1)"),
                    (randn, "drawn from the standard normal distribution")):
    _make.__doc__ = "A tensor %s." % _doc


def full(size, fill_value, dtype=None, device=None):
    """A tensor of one value."""
    kind = dtypes.resolve(dtype) or _guess([fill_value])
    result = call(lib.axle_full, kind.code, len(size), numbers(size), float(fill_value))
    return result.to(device) if device else result


def arange(start, end=None, step=1, dtype=None):
    """The numbers start, start + step, ... before end."""
    start, end = (0, start) if end is None else (start, end)
    kind = dtypes.resolve(dtype) or _guess([start, end, step])
    return call(lib.axle_arange, kind.code, float(start), float(end), float(step))




def as_tensor(data, dtype=None, device=None):
    """The tensor itself where it is one of that type on that device, an array as from_numpy() has
    it, and else what `tensor` makes."""
    if is_array(data) and hasattr(data, "flags"):
        data = from_numpy(data)
    if not isinstance(data, Tensor):
        return tensor(data, dtype, device)
    return data.to(dtype=dtype, device=device)


def _like(make):
    def made(input, dtype=None, device=None):
        return make(input.shape, dtype=dtype or input.dtype, device=device or input.device)
    made.__name__ = make.__name__ + "_like"
    made.__doc__ = make.__doc__[:-1] + ", of the shape, type and device of another."
    return made


empty_like, zeros_like, ones_like, rand_like, randn_like = map(
    _like, (empty, zeros, ones, rand, randn))


def full_like(input, fill_value, dtype=None, device=None):
    """A tensor of one value, of the shape, type and device of another."""
    return full(input.shape, fill_value, dtype or input.dtype, device or input.device)


def randint(low, high, size, dtype="int64", device=None):
    """Integers drawn uniformly from [low, high)."""
    drawn = rand(size, dtype="float64") * (high - low)
    result = (drawn.floor() + low).to(dtype=dtype)
    return result.to(device) if device else result


def randperm(n):
    """The numbers 0 to n-1 in random order."""
    order = (ctypes.c_int64 * max(n, 1))()
    state = lib.axle_random_get()
    check(lib.axle_epoch_order(state.seed, state.draw, n, order))
    state.draw += 1
    lib.axle_random_set(state)
    return call(lib.axle_from_data, dtypes.resolve("int64").code, 1, numbers([n]), order)


def linspace(start, end, steps, dtype=None):
    """`steps` numbers from start to end at equal distances."""
    kind = dtypes.resolve(dtype) or dtypes.of_code(lib.axle_default_dtype())
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    return call(lib.axle_affine, arange(steps, dtype=kind), float(step), float(start))


def eye(n, dtype=None):
    """The identity matrix."""
    kind = dtypes.resolve(dtype) or dtypes.of_code(lib.axle_default_dtype())
    return call(lib.axle_one_hot, arange(n, dtype="int64"), n, kind.code)
