# SPDX-License-Identifier: Apache-2.0
"""Data sets."""
import bisect
import itertools

from ..creation import randperm


class Dataset:
    """Samples by number; subclasses define __getitem__ and __len__. Any sequence will do, too."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset:
    """Samples one after the other; subclasses define __iter__. Any iterable will do as well."""

    def __iter__(self):
        raise NotImplementedError


class TensorDataset(Dataset):
    """Rows of tensors; a sample is a tuple."""

    def __init__(self, *tensors):
        if len({len(tensor) for tensor in tensors}) != 1:
            raise ValueError("the tensors have different numbers of rows")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return len(self.tensors[0])


class Subset(Dataset):
    """Some samples of another set."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    """Sets one after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        self.ends = list(itertools.accumulate(map(len, self.datasets)))

    def __getitem__(self, index):
        index += len(self) if index < 0 else 0
        k = bisect.bisect_right(self.ends, index)
        if not 0 <= k < len(self.datasets):
            raise IndexError("sample %d of %d" % (index, len(self)))
        return self.datasets[k][index - (self.ends[k - 1] if k else 0)]

    def __len__(self):
        return self.ends[-1]


def random_split(dataset, lengths, generator=None):
    """Subsets of those lengths, or shares, drawn at random."""
    total = len(dataset)
    if all(0 < n < 1 for n in lengths):
        sizes = [int(total * share) for share in lengths]
        for k in range(total - sum(sizes)):
            sizes[k % len(sizes)] += 1
        lengths = sizes
    if sum(lengths) != total:
        raise ValueError("lengths add up to %d, and there are %d samples" % (sum(lengths), total))
    order = randperm(total).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - n:end]) for n, end in zip(lengths, ends)]
