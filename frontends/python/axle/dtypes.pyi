# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self



bfloat16: dtype
bool: dtype
float16: dtype
float32: dtype
float64: dtype
int32: dtype
int64: dtype
def of_code(code: Any) -> Any: ...
def resolve(value: Any, default: Any = ...) -> Any: ...
uint8: dtype
class dtype:
    def __init__(self, name: builtins.str, code: Any, typestr: Any) -> None: ...
    def __reduce__(self) -> Any: ...
    def __repr__(self) -> builtins.str: ...
    code: Any
    @property
    def is_floating_point(self) -> builtins.bool: ...
    @property
    def itemsize(self) -> builtins.int: ...
    name: Any
    typestr: Any
