# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self



def get_rng_state() -> Any: ...
def initial_seed() -> Any: ...
def manual_seed(seed: builtins.int) -> None: ...
def set_rng_state(state: Any) -> Any: ...
