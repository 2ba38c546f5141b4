# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle.nn import functional as functional
from axle.nn.module import Module as Module

class BCEWithLogitsLoss(Module):
    def __init__(self, weight: Any = ..., reduction: builtins.str = ..., pos_weight: Any = ...) -> None: ...
    def forward(self, logits: Any, target: Any) -> Any: ...
class CrossEntropyLoss(Module):
    def __init__(self, weight: Any = ..., ignore_index: builtins.int = ..., reduction: builtins.str = ..., label_smoothing: builtins.float = ...) -> None: ...
    def forward(self, logits: Any, target: Any) -> Any: ...
class _Loss(Module):
    def __init__(self, reduction: builtins.str = ...) -> None: ...
    def forward(self, x: Any, target: Any) -> Any: ...
class BCELoss(_Loss):
    @staticmethod
    def function(x: Any, target: Any, reduction: builtins.str = ...) -> Any: ...
class L1Loss(_Loss):
    @staticmethod
    def function(x: Any, target: Any, reduction: builtins.str = ...) -> Any: ...
class MSELoss(_Loss):
    @staticmethod
    def function(x: Any, target: Any, reduction: builtins.str = ...) -> Any: ...
class NLLLoss(_Loss):
    @staticmethod
    def function(log_probabilities: Any, target: Any, reduction: builtins.str = ...) -> Any: ...
