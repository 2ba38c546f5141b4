# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle.data import collate as collate
from axle.data import dataset as dataset
from axle.data import loader as loader
from axle.data import sampler as sampler
from axle.data.collate import default_collate as default_collate
from axle.data.dataset import ConcatDataset as ConcatDataset
from axle.data.dataset import Dataset as Dataset
from axle.data.dataset import IterableDataset as IterableDataset
from axle.data.dataset import Subset as Subset
from axle.data.dataset import TensorDataset as TensorDataset
from axle.data.dataset import random_split as random_split
from axle.data.loader import DataLoader as DataLoader
from axle.data.sampler import BatchSampler as BatchSampler
from axle.data.sampler import RandomSampler as RandomSampler
from axle.data.sampler import Sampler as Sampler
from axle.data.sampler import SequentialSampler as SequentialSampler
from axle.data.sampler import SubsetRandomSampler as SubsetRandomSampler


