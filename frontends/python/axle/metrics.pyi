# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle._library import check as check
from axle._library import out_pointer as out_pointer
from axle.creation import as_tensor as as_tensor
from axle.creation import eye as eye

def load(path: Any, config_name: Any = ..., num_labels: builtins.int = ...) -> Metric: ...
class Metric:
    def __init__(self, kind: Any, num_labels: Any, values: Any = ...) -> None: ...
    def add_batch(self, *, predictions: Any, references: Any) -> None: ...
    def compute(self, *, predictions: Any = ..., references: Any = ...) -> builtins.dict[builtins.str, builtins.float]: ...
