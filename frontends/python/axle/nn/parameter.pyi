# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle.creation import as_tensor as as_tensor
from axle.tensor import Tensor as Tensor

def adopt(handle: Any) -> Any: ...
class Parameter(Tensor):
    def __init__(self, data: Any, requires_grad: builtins.bool = ...) -> None: ...
    def __repr__(self) -> builtins.str: ...
