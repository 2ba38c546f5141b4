# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle._library import AxleError as AxleError
from axle._library import callback as callback
from axle._library import check as check
from axle._library import failure as failure
from axle._library import options as options
from axle._library import out_pointer as out_pointer
from axle.data.collate import default_collate as default_collate
from axle.data.collate import map_tensors as map_tensors
from axle.data.dataset import IterableDataset as IterableDataset
from axle.data.dataset import TensorDataset as TensorDataset
from axle.device import current_device as current_device
from axle.tensor import borrow as borrow

class DataLoader:
    def __init__(self, dataset: Any, batch_size: builtins.int | None = ..., shuffle: builtins.bool = ..., sampler: Any = ..., batch_sampler: Any = ..., num_workers: builtins.int = ..., collate_fn: Any = ..., pin_memory: builtins.bool = ..., drop_last: builtins.bool = ..., timeout: builtins.int = ..., worker_init_fn: Any = ..., multiprocessing_context: Any = ..., generator: Any = ..., *, prefetch_factor: builtins.int = ..., persistent_workers: builtins.bool = ..., pin_memory_device: builtins.str = ..., seed: builtins.int | None = ...) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> builtins.int: ...
    @property
    def end_of_dataloader(self) -> builtins.bool: ...
    @property
    def epoch(self) -> builtins.int: ...
    def prepared(self, processes: Any) -> Any: ...
    def set_epoch(self, epoch: Any) -> None: ...
    def skip(self, batches: Any) -> None: ...
    def split_batches(self, processes: Any) -> Any: ...
    @property
    def total_dataset_length(self) -> Any: ...
    dataset: Any
    batch_size: Any
