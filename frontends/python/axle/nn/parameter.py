# SPDX-License-Identifier: Apache-2.0
"""Parameters: tensors that modules train."""
from .._library import lib
from ..creation import as_tensor
from ..tensor import Tensor


class Parameter(Tensor):
    """A leaf that requires a gradient and that a module registers when it becomes an attribute."""

    __slots__ = ()

    def __init__(self, data, requires_grad=True):
        self._as_parameter_ = lib.axle_tensor_retain(as_tensor(data).detach())
        if requires_grad:
            self.requires_grad = True

    def __repr__(self):
        return "Parameter containing: " + super().__repr__()


def adopt(handle):
    """A Parameter of a C module's tensor, with a reference of its own."""
    parameter = Parameter.__new__(Parameter)
    parameter._as_parameter_ = lib.axle_tensor_retain(handle)
    return parameter
