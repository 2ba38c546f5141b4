# SPDX-License-Identifier: Apache-2.0
"""Devices."""
import ctypes

from ._library import check, lib, out_pointer


class Device:
    """Where tensors live: Device("opencl"), Device("opencl:1"), Device("cpu")."""

    __slots__ = ("_as_parameter_",)

    def __init__(self, spec=None):
        if isinstance(spec, Device):
            self._as_parameter_ = spec._as_parameter_
        elif isinstance(spec, int):
            self._as_parameter_ = spec
        elif spec == "cpu":
            self._as_parameter_ = lib.axle_device_host()
        else:
            self._as_parameter_ = out_pointer(lib.axle_device_open, spec.encode() if spec else None)

    @property
    def type(self):
        """Name of the backend."""
        return lib.axle_device_backend(self._as_parameter_).decode()

    @property
    def name(self):
        """Name of the device."""
        return lib.axle_device_name(self._as_parameter_).decode()

    def synchronize(self):
        """Wait for everything that was enqueued."""
        check(lib.axle_device_synchronize(self._as_parameter_))

    def memory_allocated(self):
        """Bytes that tensors hold."""
        return self._stats().bytes_in_use

    def max_memory_allocated(self):
        """Most bytes that tensors held so far."""
        return self._stats().bytes_peak

    def empty_cache(self):
        """Give memory that nothing uses back to the device."""
        lib.axle_device_trim(self._as_parameter_)

    def _stats(self):
        from ._library import options
        stats = options("axle_device_stats")
        check(lib.axle_device_get_stats(self._as_parameter_, ctypes.byref(stats)))
        return stats

    def __enter__(self):
        check(lib.axle_device_push(self._as_parameter_))
        return self

    def __exit__(self, *_):
        lib.axle_device_pop()

    def __eq__(self, other):
        if isinstance(other, str):
            other = Device(other)
        return isinstance(other, Device) and self._as_parameter_ == other._as_parameter_

    def __hash__(self):
        return hash(self._as_parameter_)

    def __repr__(self):
        return "axle.Device(%r: %s)" % (self.type, self.name)

    __str__ = __repr__


def current_device():
    """The device on which this thread makes tensors."""
    handle = lib.axle_device_current()
    if not handle:
        from ._library import failure
        raise failure()
    return Device(handle)
