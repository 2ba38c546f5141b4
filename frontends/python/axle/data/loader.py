# SPDX-License-Identifier: Apache-2.0
"""The loader, with PyTorch's arguments."""
import atexit
import ctypes
import weakref

from .._library import AxleError, callback, check, failure, lib, options, out_pointer
from ..device import current_device
from ..tensor import borrow
from .collate import default_collate, map_tensors
from .dataset import IterableDataset, TensorDataset
from .source import (Source, is_stream, join_samples, map_dataset, stream_dataset, tensor_dataset)

_UNKNOWN = 2 ** 63 - 1
_loaders = weakref.WeakSet()


class DataLoader:
    """Batches of a data set, which may be any sequence or iterable.

    `num_workers` counts threads that fetch ahead. A `sampler` or `batch_sampler` is asked once an
    epoch; in a job it must give the same on all processes, each of which takes its part.
    """

    def __init__(self, dataset, batch_size=1, shuffle=False, sampler=None, batch_sampler=None,
                 num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, timeout=0,
                 worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=2, persistent_workers=False, pin_memory_device="", seed=None):
        if sampler is not None and shuffle or batch_sampler is not None and (
                sampler is not None or shuffle or drop_last or batch_size != 1):
            raise ValueError("sampler, batch_sampler and shuffle, batch_size exclude each other")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.shuffle = sampler, batch_sampler, bool(shuffle)
        self.num_workers, self.prefetch_factor = num_workers, prefetch_factor
        self.collate_fn = collate_fn or default_collate
        self._default_collate = collate_fn is None
        self._stream = isinstance(dataset, IterableDataset) or is_stream(dataset)
        if self._stream and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("an iterable gives its samples in its own order")
        seed = generator.initial_seed() if generator is not None and seed is None else seed
        self._seed = lib.axle_random_get().seed if seed is None else seed
        self._processes, self._placed, self._source, self._running = 1, False, None, False
        self.weight = 0
        self._make()

    # ---- the C loader

    def _make(self):
        self._batches = None if self.sampler is None and self.batch_sampler is None \
            else callback("axle_batches_fn")(self._sample)
        chosen = options("axle_loader_options", batch_size=self.batch_size, seed=self._seed,
                         shuffle=int(self.shuffle), drop_last=int(self.drop_last),
                         workers=self.num_workers, prefetch=self.prefetch_factor or 2,
                         batches=self._batches)
        plain = type(self.dataset) is TensorDataset and self._default_collate
        if plain:
            data = tensor_dataset(self.dataset.tensors)
        else:
            self._source = Source(self.dataset, self.collate_fn)
            data = (stream_dataset if self._stream else map_dataset)(self._source)
            if self._stream:
                chosen.collate, chosen.collate_user = join_samples, self._source.number
        try:
            self._as_parameter_ = out_pointer(lib.axle_loader_create, data, ctypes.byref(chosen))
        except AxleError as error:
            self._raise(error)
        finally:
            lib.axle_dataset_release(data)
        _loaders.add(self)

    def __del__(self):
        self._close()

    def _close(self):
        """Stop the threads that fetch ahead."""
        try:
            lib.axle_loader_release(self.__dict__.pop("_as_parameter_", None))
        except (AttributeError, TypeError):  # the interpreter ends
            pass

    def split_batches(self, processes):
        """Let batch_size count the samples of all processes."""
        if self.batch_size % processes:
            raise ValueError("a batch of %d cannot be split among %d processes"
                             % (self.batch_size, processes))
        self.batch_size //= processes
        self._close()
        self._make()

    def prepared(self, processes):
        """Note that an accelerator distributes and places batches from now on."""
        self._processes, self._placed = processes, True
        if self._batches is not None and processes > 1:
            self._close()
            self._make()

    # ---- orders of one's own

    def _lists(self):
        """Global batches: those that the processes take at the same time are one."""
        if self.batch_sampler is None:
            order, size = list(self.sampler), self.batch_size * self._processes
            parts = [order[k:k + size] for k in range(0, len(order), size)]
            return parts[:-1] if self.drop_last and parts and len(parts[-1]) < size else parts
        parts = [list(batch) for batch in self.batch_sampler]
        return [sum(parts[k:k + self._processes], [])
                for k in range(0, len(parts), self._processes)]

    def _sample(self, epoch, n, order, ends, _):
        try:
            for sampler in (self.sampler, self.batch_sampler):
                if hasattr(sampler, "set_epoch"):
                    sampler.set_epoch(epoch)
            lists = self._lists()
            numbers = sum(lists, [])
            if len(numbers) > n:
                raise ValueError("the sampler gave %d numbers for %d samples" % (len(numbers), n))
            (ctypes.c_int64 * n).from_address(order)[:len(numbers)] = numbers
            end = 0
            for k, batch in enumerate(lists):
                end += len(batch)
                ctypes.c_int64.from_address(ends + 8 * k).value = end
            return len(lists)
        except BaseException as error:  # noqa: B902 - the loop raises it
            self._source = self._source or Source(self.dataset, self.collate_fn)
            self._source.error = error
            return lib.axle_error_set(-15, b"%s", str(error).encode())

    # ---- the loop

    def _leave_finished(self):
        """A checkpoint that was made at an epoch's last batch leads to the end of that epoch, where
        loops over C loaders end at once; those over epochs in Python mean the next one."""
        if 0 < lib.axle_loader_length(self) <= lib.axle_loader_position(self):
            lib.axle_loader_next(self, ctypes.byref(ctypes.c_void_p()))

    def __iter__(self):
        self._leave_finished()
        batch, self._running = ctypes.c_void_p(), True
        if self._source is not None:
            self._source.error = None
        step = lib.axle_loader_next
        try:
            while step(self, ctypes.byref(batch)):
                self.weight = lib.axle_batch_weight(batch)
                yield self._content(batch)
            self._running = False
            if lib.axle_loader_status(self):
                self._raise(failure())
        finally:
            if self._running and "_as_parameter_" in self.__dict__:
                lib.axle_loader_break(self)
            self._running = False

    def _content(self, batch):
        if self._source is not None and type(self.dataset) is not TensorDataset or \
                not self._default_collate:
            content = self._source.get(batch)
        else:
            content = tuple(borrow(lib.axle_batch_tensor(batch, k))
                            for k in range(lib.axle_batch_count(batch)))
        if self._placed:
            return content
        device = current_device()
        return map_tensors(content, lambda one: one.to(device=device))

    def _raise(self, error):
        """What the data set raised is told rather than what became of it."""
        if self._source is not None and self._source.error is not None:
            error, self._source.error = self._source.error, None
        raise error

    def __len__(self):
        length = lib.axle_loader_length(self)
        if length == _UNKNOWN:
            raise TypeError("the length of this iterable is not known")
        return length

    def set_epoch(self, epoch):
        """Begin with that epoch."""
        check(lib.axle_loader_set_epoch(self, epoch))

    def skip(self, batches):
        """Begin the next loop after that many batches."""
        self._leave_finished()
        check(lib.axle_loader_skip(self, batches))

    @property
    def epoch(self):
        """Number of the epoch."""
        return lib.axle_loader_epoch(self)

    @property
    def end_of_dataloader(self):
        """Whether the batch just given is the last one."""
        return bool(lib.axle_loader_is_last(self))

    @property
    def total_dataset_length(self):
        """Number of samples."""
        return len(self.dataset)


@atexit.register
def _stop():
    for loader in list(_loaders):
        loader._close()
