# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle import dtypes as dtypes
from axle._library import AxleError as AxleError
from axle._library import callback as callback
from axle._library import check as check
from axle._library import out_pointer as out_pointer
from axle.tensor import Tensor
from axle.tensor import call as call
from axle.tensor import numbers as numbers
from axle.tensor import wrap as wrap

def copied(array: Any) -> Tensor: ...
def from_dlpack(source: Any) -> Tensor: ...
def from_numpy(array: Any) -> Tensor: ...
def share(kind: Any, shape: Any, address: Any, owner: Any) -> Tensor: ...
def to_dlpack(tensor: Any) -> Tensor: ...
class _Taken:
    def __init__(self, managed: Any) -> None: ...
