# SPDX-License-Identifier: Apache-2.0
"""Tensors: a handle of the C library, what can be asked of it, and its shape."""
import ctypes
import math

from . import dtypes
from ._library import check, check_callbacks, failure, lib, out_pointer, take_text


# ---------------------------------------------------------------------- handles

def call(function, *arguments):
    """Run an operator in a scope of its own; its result is a Tensor."""
    check(lib.axle_scope_push())
    handle = function(*arguments)
    if handle:
        lib.axle_tensor_retain(handle)
    lib.axle_scope_pop()
    if not handle:
        raise failure()
    return wrap(handle)


def call_many(function, *arguments, count):
    """The same for one that writes `count` results to an array, its last parameter but one."""
    results = (ctypes.c_void_p * count)()
    check(lib.axle_scope_push())
    code = function(*arguments, results, count)
    for handle in results if code == 0 else ():
        lib.axle_tensor_retain(handle)
    lib.axle_scope_pop()
    check(code)
    return [wrap(handle) for handle in results]


def wrap(handle):
    """A Tensor that takes over a reference."""
    tensor = Tensor.__new__(Tensor)
    tensor._as_parameter_ = handle
    return tensor


def borrow(handle):
    """A Tensor with a reference of its own; None for NULL."""
    return wrap(lib.axle_tensor_retain(handle)) if handle else None


def numbers(values, kind=ctypes.c_int64):
    values = list(values)
    return (kind * max(len(values), 1))(*values)


def handles(tensors):
    return (ctypes.c_void_p * max(len(tensors), 1))(*[t._as_parameter_ for t in tensors])


def is_array(data):
    """Whether it is NumPy's."""
    return hasattr(data, "__array_interface__") or type(data).__module__ == "numpy"


#: Element types that ctypes has.
CTYPES = {"float32": ctypes.c_float, "float64": ctypes.c_double, "int64": ctypes.c_int64,
          "int32": ctypes.c_int32, "uint8": ctypes.c_uint8, "bool": ctypes.c_bool}


# ---------------------------------------------------------------------- the class

class Tensor:
    """An array of numbers on a device, which records what is computed with it for gradients.

    Made by `axle.tensor`, `axle.zeros` and their like, and by operators.
    """

    __slots__ = ("_as_parameter_", "__weakref__", "__dict__")
    __array_priority__ = 1000  # NumPy leaves mixed arithmetic to us

    def __init__(self, data=()):
        from .creation import tensor
        self._as_parameter_ = lib.axle_tensor_retain(tensor(data)._as_parameter_)

    def __del__(self):
        try:
            lib.axle_tensor_release(self)
        except (AttributeError, TypeError):  # it was never made, or the interpreter ends
            pass

    def __reduce__(self):
        kind = self.dtype.name
        return _restored, (bytes(self._read()), self.shape, kind, self.requires_grad)

    def __deepcopy__(self, memo):
        copy = self.detach().clone()
        copy.__class__ = self.__class__
        memo[id(self)] = copy
        return copy.requires_grad_(True) if self.requires_grad else copy

    # ---- what it is

    @property
    def shape(self):
        """The dims, a tuple."""
        dims = lib.axle_tensor_dims(self)
        rank = lib.axle_tensor_rank(self)
        return tuple((ctypes.c_int64 * rank).from_address(dims)) if rank else ()

    def size(self, dim=None):
        """The dims, or one of them."""
        return self.shape if dim is None else self.shape[dim]

    @property
    def ndim(self):
        return lib.axle_tensor_rank(self)

    def dim(self):
        return self.ndim

    @property
    def dtype(self):
        return dtypes.of_code(lib.axle_tensor_dtype(self))

    @property
    def device(self):
        from .device import Device
        return Device(lib.axle_tensor_device(self))

    def numel(self):
        """The number of elements."""
        return lib.axle_tensor_count(self)

    def stride(self):
        """The strides in elements."""
        rank, strides = self.ndim, lib.axle_tensor_strides(self)
        return tuple((ctypes.c_int64 * rank).from_address(strides)) if rank else ()

    def is_contiguous(self):
        return bool(lib.axle_tensor_is_contiguous(self))

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def __len__(self):
        shape = self.shape
        if not shape:
            raise TypeError("a tensor without dims has no length")
        return shape[0]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __repr__(self):
        return "axle.tensor(%s)" % take_text(out_pointer(lib.axle_tensor_format, self))

    __hash__ = object.__hash__

    # ---- gradients

    @property
    def requires_grad(self):
        return bool(lib.axle_tensor_requires_grad(self))

    @requires_grad.setter
    def requires_grad(self, on):
        check(lib.axle_tensor_set_requires_grad(self, int(on)))

    def requires_grad_(self, requires_grad=True):
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self):
        return bool(lib.axle_tensor_is_leaf(self))

    @property
    def grad(self):
        """The gradient of a leaf; None while there is none."""
        return borrow(lib.axle_tensor_grad(self))

    @grad.setter
    def grad(self, value):
        check(lib.axle_tensor_set_grad(self, value))

    def backward(self, gradient=None, retain_graph=False):
        """Compute the gradients of all leaves that this tensor was computed from."""
        check_callbacks(lib.axle_tensor_backward(self, gradient, int(retain_graph)))

    def detach(self):
        """The same elements, which gradients do not pass."""
        return call(lib.axle_detach, self)

    # ---- to and from the host

    @property
    def data(self):
        """The same elements, which gradients do not pass."""
        return self.detach()

    @data.setter
    def data(self, value):
        self.copy_(value)

    def register_hook(self, hook):
        """Call hook(grad) whenever a gradient reaches this tensor; it may return another one."""
        from .autograd import add_hook
        return add_hook(self, hook)

    def item(self):
        """The only element, as a Python number."""
        value = ctypes.c_double()
        check(lib.axle_tensor_item(self, ctypes.byref(value)))
        kind = self.dtype
        if kind.is_floating_point:
            return value.value
        return bool(value.value) if kind.name == "bool" else int(value.value)

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        return bool(self.item())

    def __index__(self):
        if self.dtype.is_floating_point:
            raise TypeError("only tensors of integers can be an index")
        return int(self.item())

    def _read(self):
        """The elements, row-major, as a ctypes array; bfloat16 and float16 as float32."""
        kind = self.dtype
        source = self if kind.name in CTYPES else self.to("float32")
        data = (CTYPES[source.dtype.name] * self.numel())()
        check(lib.axle_tensor_read(source, data, ctypes.sizeof(data)))
        return data

    def tolist(self):
        """Nested lists of Python numbers."""
        values, shape = list(self._read()), self.shape
        for size in reversed(shape[1:]):
            values = [values[k:k + size] for k in range(0, len(values), size)] if size else []
        return values if shape else values[0]

    def numpy(self):
        """A NumPy array. On a device of the host it has the tensor's own memory: what changes one
        changes the other. Elsewhere, and of bfloat16, it is a copy."""
        import numpy
        if self.requires_grad:
            raise RuntimeError("this tensor requires a gradient; use tensor.detach().numpy()")
        kind = self.dtype
        address = ctypes.c_void_p()
        if kind.typestr and self.numel():
            if lib.axle_tensor_data(self, ctypes.byref(address)) == 0:
                return numpy.asarray(_Memory(self, address.value, kind))
            lib.axle_error_clear()  # the device's memory is not visible
        plain = self if kind.typestr else self.to("float32")
        array = numpy.empty(self.shape, "=" + plain.dtype.typestr)
        check(lib.axle_tensor_read(plain, array.ctypes.data, array.nbytes))
        return array

    def __array__(self, dtype=None, copy=None):
        array = self.detach().numpy()
        return array.astype(dtype) if dtype is not None else array

    def __dlpack__(self, stream=None, max_version=None, dl_device=None, copy=None):
        """The memory for another library, on devices of the host: numpy.from_dlpack(tensor)."""
        from .exchange import to_dlpack
        if self.requires_grad:
            raise BufferError("this tensor requires a gradient; use tensor.detach()")
        return to_dlpack(self.clone() if copy else self)

    def __dlpack_device__(self):
        check(lib.axle_tensor_data(self, ctypes.byref(ctypes.c_void_p())))
        return 1, 0  # the host

    def copy_(self, source):
        """Overwrite the elements; not recorded for gradients."""
        from .creation import as_tensor
        source = as_tensor(source)
        source = source.expand(self.shape) if source.shape != self.shape else source
        check(lib.axle_tensor_assign(self, source))
        return self

    def fill_(self, value):
        return self.copy_(self._scalar(value))

    def zero_(self):
        return self.fill_(0)

    def to(self, *targets, dtype=None, device=None):
        """This tensor in another element type or on another device; itself where it is so."""
        for target in targets:
            if isinstance(target, Tensor):
                dtype, device = target.dtype, target.device
            elif isinstance(target, dtypes.dtype) or target in (float, int, bool):
                dtype = target
            elif isinstance(target, str) and target in dtypes.__all__:
                dtype = target
            else:
                device = target
        result = self
        kind = dtypes.resolve(dtype)
        if kind is not None and kind is not self.dtype:
            result = call(lib.axle_cast, result, kind.code)
        if device is not None:
            from .device import Device
            result = call(lib.axle_to_device, result, Device(device))
        return result

    def type(self, dtype):
        return self.to(dtype=dtype)

    def float(self):
        return self.to(dtype="float32")

    def double(self):
        return self.to(dtype="float64")

    def half(self):
        return self.to(dtype="float16")

    def bfloat16(self):
        return self.to(dtype="bfloat16")

    def long(self):
        return self.to(dtype="int64")

    def int(self):
        return self.to(dtype="int32")

    def bool(self):
        return self.to(dtype="bool")

    def type_as(self, other):
        return self.to(dtype=other.dtype)

    def cpu(self):
        from .device import Device
        return self.to(device=Device(lib.axle_device_host()))

    # ---- shape

    def reshape(self, *size):
        size = size[0] if len(size) == 1 and not isinstance(size[0], _integer) else size
        return call(lib.axle_reshape, self, len(size), numbers(size))

    view = reshape

    def flatten(self, start_dim=0, end_dim=-1):
        return call(lib.axle_flatten, self, start_dim, end_dim)

    def permute(self, *order):
        order = order[0] if len(order) == 1 and not isinstance(order[0], _integer) else order
        if len(order) != self.ndim:
            raise ValueError("permute: %d dims of %d are given" % (len(order), self.ndim))
        return call(lib.axle_permute, self, numbers(order, ctypes.c_int))

    def transpose(self, a, b):
        return call(lib.axle_transpose, self, a, b)

    @property
    def T(self):
        return self.permute(*reversed(range(self.ndim)))

    def unsqueeze(self, dim):
        return call(lib.axle_unsqueeze, self, dim)

    def squeeze(self, dim=None):
        """Without a dim of 1, or all of them."""
        if dim is not None:
            return call(lib.axle_squeeze, self, dim) if self.shape[dim] == 1 else self
        return self.reshape([n for n in self.shape if n != 1])

    def expand(self, *size):
        size = size[0] if len(size) == 1 and not isinstance(size[0], _integer) else size
        missing = len(size) - self.ndim
        dims = [self.shape[k - missing] if n == -1 else n for k, n in enumerate(size)]
        return call(lib.axle_expand, self, len(dims), numbers(dims))

    def expand_as(self, other):
        return self.expand(other.shape)

    def contiguous(self):
        return call(lib.axle_contiguous, self)

    def clone(self):
        return call(lib.axle_clone, self)

    def split(self, size, dim=0):
        """Pieces of that size, the last one what is left; or of the sizes in a list."""
        whole, sizes = self.shape[dim], size
        if isinstance(size, _integer):
            sizes = [min(size, whole - k) for k in range(0, whole, size)]
        ends = [sum(sizes[:k + 1]) for k in range(len(sizes))]
        return tuple(call(lib.axle_slice, self, dim, end - n, end, 1)
                     for n, end in zip(sizes, ends))

    def chunk(self, chunks, dim=0):
        return self.split(max(1, math.ceil(self.shape[dim] / chunks)), dim)

    def __getitem__(self, index):
        from .indexing import get
        return get(self, index)

    def __setitem__(self, index, value):
        from .indexing import put
        put(self, index, value)

    # ---- reductions

    def _reduce(self, function, dim, keepdim, *more):
        dims = () if dim is None else (dim,) if isinstance(dim, _integer) else tuple(dim)
        return call(function, self, len(dims), numbers(dims, ctypes.c_int) if dims else None,
                    int(keepdim), *more)

    def sum(self, dim=None, keepdim=False):
        return self._reduce(lib.axle_sum, dim, keepdim)

    def mean(self, dim=None, keepdim=False):
        return self._reduce(lib.axle_mean, dim, keepdim)

    def prod(self, dim=None, keepdim=False):
        return self._reduce(lib.axle_prod, dim, keepdim)

    def amax(self, dim=None, keepdim=False):
        return self._reduce(lib.axle_max, dim, keepdim)

    def amin(self, dim=None, keepdim=False):
        return self._reduce(lib.axle_min, dim, keepdim)

    def _extreme(self, extreme, position, dim, keepdim):
        if dim is None:
            return extreme()
        return extreme(dim, keepdim), position(dim, keepdim)

    def max(self, dim=None, keepdim=False):
        """The greatest element; with a dim, the greatest ones along it and their positions."""
        return self._extreme(self.amax, self.argmax, dim, keepdim)

    def min(self, dim=None, keepdim=False):
        """The least element; with a dim, the least ones along it and their positions."""
        return self._extreme(self.amin, self.argmin, dim, keepdim)

    def var(self, dim=None, keepdim=False, correction=1):
        return self._reduce(lib.axle_var, dim, keepdim, float(correction))

    def std(self, dim=None, keepdim=False, correction=1):
        return self.var(dim, keepdim, correction).sqrt()

    def norm(self, p=2, dim=None, keepdim=False):
        return self._reduce(lib.axle_norm, dim, keepdim, p)

    def any(self, dim=None, keepdim=False):
        return self._reduce(lib.axle_any, dim, keepdim)

    def all(self, dim=None, keepdim=False):
        return self._reduce(lib.axle_all, dim, keepdim)

    def argmax(self, dim=None, keepdim=False):
        flat = self.flatten() if dim is None else self
        return call(lib.axle_argmax, flat, dim or 0, int(keepdim))

    def argmin(self, dim=None, keepdim=False):
        flat = self.flatten() if dim is None else self
        return call(lib.axle_argmin, flat, dim or 0, int(keepdim))

    # ---- other operators

    def matmul(self, other):
        return call(lib.axle_matmul, self, other)

    __matmul__ = mm = bmm = matmul

    def softmax(self, dim):
        return call(lib.axle_softmax, self, dim)

    def log_softmax(self, dim):
        return call(lib.axle_log_softmax, self, dim)

    def clamp(self, min=-math.inf, max=math.inf):
        return call(lib.axle_clip, self, float(min), float(max))

    def gather(self, dim, index):
        return call(lib.axle_gather, self, dim, index)

    def index_select(self, dim, index):
        return call(lib.axle_index_select, self, dim, index)

    def masked_fill(self, mask, value):
        return call(lib.axle_where, mask, self._scalar(value), self)

    def _scalar(self, value):
        return call(lib.axle_scalar, self.dtype.code, float(value)).to(self.device)


def _restored(data, shape, kind, requires_grad):
    """What pickle calls."""
    made = kind if kind in CTYPES else "float32"
    result = call(lib.axle_from_data, dtypes.resolve(made).code, len(shape), numbers(shape), data)
    return result.to(dtype=kind).requires_grad_(requires_grad)


_integer = int


class _Memory:
    """What NumPy reads to make an array of a tensor's memory, and keeps as long."""

    def __init__(self, owner, address, kind):
        self._owner = owner
        self.__array_interface__ = {
            "version": 3, "shape": owner.shape,
            "typestr": ("|" if kind.itemsize == 1 else "<") + kind.typestr,
            "data": (address, False), "strides": tuple(n * kind.itemsize for n in owner.stride())}
