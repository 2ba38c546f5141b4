# SPDX-License-Identifier: Apache-2.0
"""Seeds, and what processes say to each other."""
import enum
import random
import sys

from .random import manual_seed


def set_seed(seed, device_specific=False):
    """Seed the random numbers of Python, of NumPy where it is used, and of axle. In a job all
    processes take the same seed, also of their data; with device_specific each its own."""
    if device_specific:
        from .accelerator import current
        seed += current().process_index
    random.seed(seed)
    manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2 ** 32)
    return seed


def gather_object(objects):
    """The objects in the lists of all processes, one list after the other."""
    from .accelerator import current
    return [one for part in current().gather_objects(objects) for one in part]


def broadcast_object_list(objects, from_process=0):
    """Overwrite the list's objects with those of one process."""
    from .accelerator import current
    objects[:] = current().gather_objects(list(objects))[from_process]
    return objects


def gather(value):
    """See Accelerator.gather()."""
    from .accelerator import current
    return current().gather(value)


def reduce(value, reduction="mean", scale=1.0):
    """See Accelerator.reduce()."""
    from .accelerator import current
    return current().reduce(value, reduction, scale)


class DistributedType(str, enum.Enum):
    """Kinds of jobs. Those of devices that there are not are for programs that ask about them."""

    NO = "NO"
    MULTI_PROCESS = "MULTI_PROCESS"
    XLA = TPU = "XLA"
    FSDP, DEEPSPEED, MEGATRON_LM = "FSDP", "DEEPSPEED", "MEGATRON_LM"


class DataLoaderConfiguration:
    """How loaders are prepared. Positions in the data are always part of checkpoints, and batches
    always even: use_stateful_dataloader and even_batches need not be said."""

    def __init__(self, split_batches=False, dispatch_batches=None, even_batches=True,
                 use_seedable_sampler=True, data_seed=None, non_blocking=False,
                 use_stateful_dataloader=False):
        if dispatch_batches:
            raise ValueError("every process fetches its own rows")
        self.split_batches = split_batches


class ProjectConfiguration:
    """Where checkpoints and logs go, and how many checkpoints are kept."""

    def __init__(self, project_dir=None, logging_dir=None, automatic_checkpoint_naming=False,
                 total_limit=None, iteration=0):
        self.project_dir, self.logging_dir = project_dir, logging_dir or project_dir
        self.automatic_checkpoint_naming = automatic_checkpoint_naming
        self.total_limit, self.iteration = total_limit, iteration


class GradientAccumulationPlugin:
    """How many batches make an update, and whether processes meet after each."""

    def __init__(self, num_steps=1, adjust_scheduler=True, sync_with_dataloader=True,
                 sync_each_batch=False):
        if not sync_with_dataloader:
            raise ValueError("windows end with their loader")
        self.num_steps, self.sync_each_batch = num_steps, sync_each_batch
