# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle.optim import lr_scheduler as lr_scheduler
from axle.optim import optimizer as optimizer
from axle.optim.optimizer import Adam as Adam
from axle.optim.optimizer import AdamW as AdamW
from axle.optim.optimizer import Optimizer as Optimizer
from axle.optim.optimizer import RMSprop as RMSprop
from axle.optim.optimizer import SGD as SGD


