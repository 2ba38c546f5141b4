# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self



def notebook_launcher(function: Any, args: Any = ..., num_processes: builtins.int = ..., mixed_precision: builtins.str | None = ...) -> None: ...
