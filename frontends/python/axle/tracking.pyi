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
from axle._library import options as options
from axle._library import out_pointer as out_pointer
from axle._library import struct as struct
from axle.tensor import Tensor as Tensor

class Trackers:
    def __init__(self, accelerator: Any, log_with: Any) -> None: ...
    def begin(self, project_name: Any, config: Any) -> Any: ...
    def finish(self) -> Any: ...
    def log(self, values: Any, step: Any) -> None: ...
