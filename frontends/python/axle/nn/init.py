# SPDX-License-Identifier: Apache-2.0
"""Initial values of parameters, drawn as the C library draws them: equal on every device."""
import math

from .._library import check, lib


def _filled(function, tensor, *arguments):
    check(function(tensor, *arguments))
    return tensor


def uniform_(tensor, a=0.0, b=1.0):
    """Uniform in [a, b)."""
    return _filled(lib.axle_init_uniform, tensor, float(a), float(b))


def normal_(tensor, mean=0.0, std=1.0):
    """Normal."""
    return _filled(lib.axle_init_normal, tensor, float(mean), float(std))


def constant_(tensor, val):
    """One value."""
    return _filled(lib.axle_init_constant, tensor, float(val))


def zeros_(tensor):
    """Zeros."""
    return constant_(tensor, 0.0)


def ones_(tensor):
    """Ones."""
    return constant_(tensor, 1.0)


def calculate_gain(nonlinearity, param=None):
    """What a nonlinearity asks the standard deviation to be multiplied by."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    gains = {"relu": math.sqrt(2.0), "tanh": 5.0 / 3, "selu": 3.0 / 4}
    return gains.get(nonlinearity, 1.0)


def kaiming_uniform_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu"):
    """Uniform with bound gain * sqrt(3 / fan)."""
    if mode == "fan_in" and nonlinearity == "leaky_relu":
        return _filled(lib.axle_init_kaiming_uniform, tensor, float(a))
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3.0 / _fan(tensor, mode))
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0.0, mode="fan_in", nonlinearity="leaky_relu"):
    """Normal with standard deviation gain / sqrt(fan)."""
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)))


def _fan(tensor, mode):
    shape = tensor.shape
    return shape[1 if mode == "fan_in" else 0] * math.prod(shape[2:])


def xavier_uniform_(tensor, gain=1.0):
    """Uniform with bound gain * sqrt(6 / (fan_in + fan_out))."""
    return _filled(lib.axle_init_xavier_uniform, tensor, float(gain))


def xavier_normal_(tensor, gain=1.0):
    """Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out))."""
    return _filled(lib.axle_init_xavier_normal, tensor, float(gain))
