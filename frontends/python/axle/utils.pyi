# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle.random import manual_seed as manual_seed

def broadcast_object_list(objects: Any, from_process: builtins.int = ...) -> Any: ...
def gather(value: Any) -> Any: ...
def gather_object(objects: Any) -> Any: ...
def reduce(value: Any, reduction: builtins.str = ..., scale: builtins.float = ...) -> Any: ...
def set_seed(seed: builtins.int, device_specific: builtins.bool = ...) -> Any: ...
class DataLoaderConfiguration:
    def __init__(self, split_batches: builtins.bool = ..., dispatch_batches: Any = ..., even_batches: builtins.bool = ..., use_seedable_sampler: builtins.bool = ..., data_seed: Any = ..., non_blocking: builtins.bool = ..., use_stateful_dataloader: builtins.bool = ...) -> None: ...
class GradientAccumulationPlugin:
    def __init__(self, num_steps: builtins.int = ..., adjust_scheduler: builtins.bool = ..., sync_with_dataloader: builtins.bool = ..., sync_each_batch: builtins.bool = ...) -> None: ...
class ProjectConfiguration:
    def __init__(self, project_dir: Any = ..., logging_dir: Any = ..., automatic_checkpoint_naming: builtins.bool = ..., total_limit: Any = ..., iteration: builtins.int = ...) -> None: ...
class DistributedType(str, enum.Enum):
    NO = 'NO'
    MULTI_PROCESS = 'MULTI_PROCESS'
    XLA = 'XLA'
    TPU = 'XLA'
    FSDP = 'FSDP'
    DEEPSPEED = 'DEEPSPEED'
    MEGATRON_LM = 'MEGATRON_LM'
