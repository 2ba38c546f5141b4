# SPDX-License-Identifier: Apache-2.0
"""Reading and writing parts of a tensor: t[2, 1:, ..., mask]."""
from ._library import check, lib
from .creation import as_tensor, tensor
from .tensor import Tensor, call


def _is_chosen(part):
    """Whether an index lists elements, rather than being a number or a slice."""
    return isinstance(part, list) or isinstance(part, Tensor) and part.ndim > 0 \
        or hasattr(part, "__array_interface__") and getattr(part, "ndim", 0) > 0


def _normal(index):
    """The parts of an index; lists and arrays become tensors."""
    parts = index if isinstance(index, tuple) else (index,)
    return [as_tensor(part) if _is_chosen(part) else part for part in parts]


def _width(part):
    """Dims that an index is about."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if _is_chosen(part) and part.dtype.name == "bool" else 1


def _expanded(source, parts):
    """The same parts with slices in place of an ellipsis."""
    used = sum(map(_width, parts))
    if used > source.ndim:
        raise IndexError("%d indices for a tensor of %d dims" % (used, source.ndim))
    if sum(map(_is_chosen, parts)) > 1:
        raise IndexError("only one index of several elements is taken; use Tensor.gather()")
    places = [k for k, part in enumerate(parts) if part is Ellipsis]
    if not places:
        return parts
    rest = [slice(None)] * (source.ndim - used)
    return parts[:places[0]] + rest + parts[places[0] + 1:]


def _slice(source, dim, part):
    size = source.shape[dim]
    start, end, step = part.indices(size)
    if step < 0:
        return _choose(source, dim, tensor(list(range(start, end, step)), dtype="int64"))
    if (start, end, step) == (0, size, 1):
        return source
    return call(lib.axle_slice, source, dim, start, max(start, end), step)


def _choose(source, dim, part):
    """The elements that a tensor of numbers or booleans names."""
    shape = source.shape
    if part.dtype.name == "bool":
        if part.shape != shape[dim:dim + part.ndim]:
            raise IndexError("a mask of shape %s for a tensor of %s" % (part.shape, shape))
        flat = source.reshape(*shape[:dim], part.numel(), *shape[dim + part.ndim:])
        chosen = [k for k, on in enumerate(part.flatten().tolist()) if on]
        numbers = tensor(chosen, dtype="int64")
        return call(lib.axle_index_select, flat, dim,
                    numbers.to(device=source.device))
    values = part.to(device=source.device).flatten()
    values = call(lib.axle_where, (values < 0), (values + shape[dim]),
                  values)
    result = call(lib.axle_index_select, source, dim, values)
    return result.reshape(*shape[:dim], *part.shape, *shape[dim + 1:])


def _select(source, dim, part):
    size, k = source.shape[dim], part.__index__()
    if not -size <= k < size:
        raise IndexError("index %d of a dim of %d" % (k, size))
    return call(lib.axle_select, source, dim, k % size)


def get(source, index):
    """source[index]: a view, but where elements are listed."""
    result, dim = source, 0
    for part in _expanded(source, _normal(index)):
        if part is None:
            result, dim = result.unsqueeze(dim), dim + 1
        elif isinstance(part, slice):
            result, dim = _slice(result, dim, part), dim + 1
        elif _is_chosen(part):
            result = _choose(result, dim, part)
            dim += 1 if part.dtype.name == "bool" else part.ndim
        else:
            result = _select(result, dim, part)
    return result


def put(target, index, value):
    """target[index] = value; not recorded for gradients."""
    parts = _normal(index)
    plain = target.detach()
    if not any(map(_is_chosen, parts)):
        get(plain, tuple(parts)).copy_(as_tensor(value).to(device=target.device))
        return
    if len(parts) > 1 or parts[0].dtype.name != "bool":
        raise IndexError("only numbers, slices or one mask can be assigned to")
    mask, value = parts[0].to(device=target.device), as_tensor(value).to(plain)
    mask = mask.reshape(*mask.shape, *[1] * (plain.ndim - mask.ndim))
    chosen = call(lib.axle_where, mask, value, plain)
    check(lib.axle_tensor_assign(target, chosen))
