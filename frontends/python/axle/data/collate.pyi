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
from axle.creation import tensor as tensor
from axle.operators import stack as stack
from axle.tensor import Tensor as Tensor
from axle.tensor import is_array as is_array

def default_collate(samples: Any) -> Any: ...
def map_tensors(value: Any, function: Any) -> Any: ...
