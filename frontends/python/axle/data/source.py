# SPDX-License-Identifier: Apache-2.0
"""What the C library's loaders call: data sets of Python objects.

Batches of the C library hold tensors by name. A batch made here has its tensors as "0", "1" ...,
and before them an empty one whose name tells where the structure is that they came from; so batches
may have any structure, also with what is no tensor in it.
"""
import collections
import ctypes
import itertools
import threading

from .._library import callback, check, lib, options, out_pointer
from ..creation import empty, tensor
from ..device import Device
from ..tensor import Tensor, borrow
from .collate import map_tensors

#: Structures of batches that are not used are forgotten beyond this number.
_MOST = 4096

_sources = {}
_numbers = itertools.count(1)
_ERROR = -15  # AXLE_ERR_INTERNAL


class Place:
    """Stands for tensor number k in a structure."""

    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k


class Source:
    """A data set, how its samples are joined, and the first error that they gave."""

    def __init__(self, dataset, collate):
        self.dataset, self.collate, self.error = dataset, collate, None
        self.structures = collections.OrderedDict()
        self.items = {}     # of a stream: those that were read and are in no batch
        self.lock, self.keys = threading.Lock(), itertools.count()
        self.host = Device("cpu")
        self.number = next(_numbers)
        _sources[self.number] = self

    # ---- to C

    def put(self, samples, batch):
        """Fill a C batch."""
        tensors = []

        def take(one):
            tensors.append(one.detach().to(device=self.host))
            return Place(len(tensors) - 1)
        structure = map_tensors(self.collate(samples), take)
        key = next(self.keys)
        with self.lock:
            self.structures[key] = structure
            while len(self.structures) > _MOST:
                self.structures.popitem(last=False)
        self._set(batch, "#%d" % key, empty(len(samples), 0, dtype="uint8"))
        for k, one in enumerate(tensors):
            self._set(batch, str(k), one)

    @staticmethod
    def _set(batch, name, value):
        check(lib.axle_batch_set(batch, name.encode(), value))

    def fetch(self, indices, batch):
        """Samples by number."""
        many = getattr(self.dataset, "__getitems__", None)
        samples = many(indices) if many else [self.dataset[k] for k in indices]
        self.put(list(samples), batch)

    def note(self, sample, batch):
        """A sample of a stream."""
        k = self.items["next"] = self.items.get("next", 0) + 1
        self.items[k] = sample
        self._set(batch, "number", tensor(k, dtype="int64"))

    def join(self, numbers, batch):
        """Noted samples."""
        self.put([self.items.pop(k) for k in numbers], batch)
        for k in [k for k in self.items if k != "next" and k < min(numbers)]:
            del self.items[k]  # rows of other processes

    # ---- back

    def get(self, batch):
        """The structure of a C batch."""
        key = int(lib.axle_batch_name(batch, 0)[1:])
        with self.lock:
            structure = self.structures.pop(key)
        count = lib.axle_batch_count(batch) - 1
        tensors = [borrow(lib.axle_batch_tensor(batch, k + 1)) for k in range(count)]
        return _filled(structure, tensors)


def _filled(value, tensors):
    if isinstance(value, Place):
        return tensors[value.k]
    if isinstance(value, dict):
        pairs = [(key, _filled(item, tensors)) for key, item in value.items()]
        try:
            return type(value)(pairs)
        except TypeError:  # some kinds take no pairs
            return dict(pairs)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_filled(item, tensors) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(item, tensors) for item in value)
    return value


# ---------------------------------------------------------------------- callbacks

def _guarded(source, work, failed=_ERROR):
    """Run a callback's work on the host's device; an error is kept for the loop to raise."""
    try:
        with source.host:
            return work()
    except BaseException as error:  # noqa: B902 - the loop raises it
        if source.error is None:
            source.error = error
        text = "%s: %s" % (type(error).__name__, error)
        lib.axle_error_set(_ERROR, b"%s", text.encode())
        return failed


_P, _I = ctypes.c_void_p, ctypes.c_int64


@ctypes.CFUNCTYPE(_I, _P)
def _length(number):
    return len(_sources[number].dataset)


@ctypes.CFUNCTYPE(ctypes.c_int, _P, _P, _I, _P)
def _fetch(number, indices, n, batch):
    chosen = list((_I * n).from_address(indices))
    source = _sources[number]
    return _guarded(source, lambda: source.fetch(chosen, batch) or 0)


@ctypes.CFUNCTYPE(None, _P)
def _destroy(number):
    _sources.pop(number, None)


@ctypes.CFUNCTYPE(ctypes.c_int, _P, _I, _P)
def _open(number, epoch, cursor):
    source = _sources[number]

    def work():
        if hasattr(source.dataset, "set_epoch"):
            source.dataset.set_epoch(epoch)
        source.items.clear()
        source.iterator = iter(source.dataset)
        _P.from_address(cursor).value = number
        return 0
    return _guarded(source, work)


@ctypes.CFUNCTYPE(ctypes.c_int, _P, _P)
def _next(number, batch):
    source = _sources[number]

    def work():
        for sample in source.iterator:
            source.note(sample, batch)
            return 1
        return 0
    return _guarded(source, work)


@callback("axle_collate_fn")
def join_samples(samples, n, batch, number):
    """The collate function of streams."""
    source = _sources[number]
    handles = (_P * n).from_address(samples)

    def work():
        numbers = [int(borrow(lib.axle_batch_tensor(handle, 0)).item()) for handle in handles]
        source.join(numbers, batch)
        return 0
    return _guarded(source, work)


def _pointer(function):
    return ctypes.cast(function, _P)


def map_dataset(source):
    """A C data set of samples by number."""
    kind = options("axle_dataset_class", name="python", length=_pointer(_length),
                   fetch=_pointer(_fetch), destroy=_pointer(_destroy))
    return out_pointer(lib.axle_dataset_create, ctypes.byref(kind), source.number)


def stream_dataset(source):
    """A C data set of samples one after the other."""
    length = _pointer(_length) if hasattr(source.dataset, "__len__") else None
    kind = options("axle_stream_class", name="python", open=_pointer(_open), next=_pointer(_next),
                   length=length, destroy=_pointer(_destroy))
    return out_pointer(lib.axle_stream_dataset_create, ctypes.byref(kind), source.number)


def tensor_dataset(tensors):
    """A C data set of rows of tensors."""
    names = (ctypes.c_char_p * len(tensors))(*(str(k).encode() for k in range(len(tensors))))
    rows = [one.detach().to(device="cpu") for one in tensors]
    handles = (_P * len(rows))(*(one._as_parameter_ for one in rows))
    return out_pointer(lib.axle_tensor_dataset_create, names, handles, len(rows))


def is_stream(dataset):
    """Whether a set gives samples one after the other only."""
    return not hasattr(dataset, "__getitem__")


__all__ = ["Source", "Tensor", "map_dataset", "stream_dataset", "tensor_dataset", "is_stream"]
