# SPDX-License-Identifier: Apache-2.0
"""Data sets, samplers, and the loader."""
from .collate import default_collate
from .dataset import (ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split)
from .loader import DataLoader
from .sampler import (BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler)
