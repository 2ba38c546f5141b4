# SPDX-License-Identifier: Apache-2.0
"""Samplers: the order in which a loader takes samples. In a job they give the same everywhere."""
import ctypes

from .._library import check, lib


def shuffled(seed, epoch, n):
    """The order in which a loader that shuffles takes n samples."""
    order = (ctypes.c_int64 * max(n, 1))()
    check(lib.axle_epoch_order(seed, epoch, n, order))
    return order[:n]


class Sampler:
    """Gives numbers of samples."""

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """0, 1, 2 ..."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """A random order, another one each time."""

    def __init__(self, data_source, seed=None):
        self.data_source, self.epoch = data_source, 0
        self.seed = lib.axle_random_get().seed if seed is None else seed

    def set_epoch(self, epoch):
        """Which order comes next."""
        self.epoch = epoch

    def __iter__(self):
        order = shuffled(self.seed, self.epoch, len(self.data_source))
        self.epoch += 1
        return iter(order)

    def __len__(self):
        return len(self.data_source)


class SubsetRandomSampler(RandomSampler):
    """Some samples in random order."""

    def __iter__(self):
        return (self.data_source[k] for k in super(SubsetRandomSampler, self).__iter__())


class BatchSampler(Sampler):
    """Lists of numbers."""

    def __init__(self, sampler, batch_size, drop_last=False):
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        batch = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self):
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)
