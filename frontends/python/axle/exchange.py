# SPDX-License-Identifier: Apache-2.0
"""Memory that tensors share with others: NumPy's arrays, and DLPack for the other libraries."""
import ctypes
import itertools

from . import _abi, dtypes
from ._library import AxleError, callback, check, lib, out_pointer
from .tensor import call, numbers, wrap

_owners = {}
_keys = itertools.count(1)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _forget(key):
    _owners.pop(key, None)


def share(kind, shape, address, owner):
    """A tensor over memory of the host, which lives as long as `owner`; a copy where the device
    does not compute there."""
    key = next(_keys)
    _owners[key] = owner
    try:
        return wrap(out_pointer(lib.axle_tensor_import, lib.axle_device_current(), kind.code,
                                len(shape), numbers(shape), address,
                                ctypes.cast(_forget, ctypes.c_void_p), key))
    except AxleError as error:
        del _owners[key]
        if error.code not in (_abi.CONSTANTS["AXLE_ERR_DEVICE"],
                              _abi.CONSTANTS["AXLE_ERR_INVALID"]):  # elsewhere; not aligned, empty
            raise
    return call(lib.axle_from_data, kind.code, len(shape), numbers(shape), address)


def copied(array):
    """A tensor with a copy of an array's elements."""
    import numpy
    array = numpy.asarray(array, order="C")
    kind = dtypes.resolve(array.dtype)
    return call(lib.axle_from_data, kind.code, array.ndim, numbers(array.shape), array.ctypes.data)


def from_numpy(array):
    """A tensor over an array's own memory where the device computes in the host's, so that what
    changes one changes the other; a copy elsewhere, and of arrays that are read-only or not
    row-major."""
    if not (array.flags.c_contiguous and array.flags.writeable and array.dtype.isnative):
        return copied(array)
    return share(dtypes.resolve(array.dtype), array.shape, array.ctypes.data, array)


# ---------------------------------------------------------------------- DLPack

class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32),
                ("dtype", _Type), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("array", _Array), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_CPU = 1
#: DLPack's codes of kinds of numbers.
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}
_TYPES = {}
for _name in dtypes.__all__[1:]:
    _kind = dtypes.resolve(_name)
    _TYPES[_name] = (_CODES[_name.rstrip("0123456789")], 8 * _kind.itemsize)
_NAMES = {pair: name for name, pair in _TYPES.items()}

_UNUSED, _USED = b"dltensor", b"used_dltensor"
_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api))


@_Deleter
def _deleted(address):
    _owners.pop(address, None)


@_Deleter
def _dropped(capsule):
    if _is_capsule(capsule, _UNUSED):  # nobody took it
        _owners.pop(_pointer(capsule, _UNUSED), None)


def to_dlpack(tensor):
    """A capsule with the tensor's memory, on devices of the host."""
    address = ctypes.c_void_p()
    check(lib.axle_tensor_data(tensor, ctypes.byref(address)))
    code, bits = _TYPES[tensor.dtype.name]
    shape, strides = numbers(tensor.shape), numbers(tensor.stride())
    array = _Array(address.value, _Device(_CPU, 0), tensor.ndim, _Type(code, bits, 1), shape,
                   strides, 0)
    managed = _Managed(array, None, ctypes.cast(_deleted, ctypes.c_void_p))
    place = ctypes.addressof(managed)
    _owners[place] = (managed, shape, strides, tensor)
    return _api.PyCapsule_New(place, _UNUSED, ctypes.cast(_dropped, ctypes.c_void_p))


class _Taken:
    """The right to memory of another library, which is told when it ends."""

    def __init__(self, managed):
        self.managed = managed

    def __del__(self):
        if self.managed.deleter:
            _Deleter(self.managed.deleter)(ctypes.addressof(self.managed))


def _order(shape, strides):
    """The order of the dims in which they lie row-major."""
    order = sorted(range(len(shape)), key=lambda k: (-strides[k], k))
    size = 1
    for k in reversed(order):
        if shape[k] != 1 and strides[k] != size:
            raise BufferError("elements with gaps between them: make a contiguous copy first")
        size *= shape[k]
    return order


def from_dlpack(source):
    """A tensor over the memory of another library's array, which has __dlpack__(), or of a
    capsule. It must be the host's; where the device does not compute there it is copied."""
    capsule = source.__dlpack__() if hasattr(source, "__dlpack__") else source
    managed = _Managed.from_address(_api.PyCapsule_GetPointer(capsule, _UNUSED))
    array, n = managed.array, managed.array.ndim
    name = _NAMES.get((array.dtype.code, array.dtype.bits))
    if array.device.kind != _CPU:
        raise BufferError("the memory is not the host's; copy it there first")
    if name is None or array.dtype.lanes != 1:
        raise BufferError("elements of a type that there is not: code %d, %d bits"
                          % (array.dtype.code, array.dtype.bits))
    shape = list(array.shape[:n]) if n else []
    order = _order(shape, array.strides[:n]) if n and array.strides and 0 not in shape \
        else list(range(n))
    _api.PyCapsule_SetName(capsule, _USED)
    made = share(dtypes.resolve(name), [shape[k] for k in order],
                 (array.data or 0) + array.byte_offset, _Taken(managed))
    return made if order == list(range(n)) else made.permute(*[order.index(k) for k in range(n)])
