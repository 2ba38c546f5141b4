# SPDX-License-Identifier: Apache-2.0
"""Axle: training loops that run on any hardware, over the C library of the same name.

    from axle import Accelerator

    accelerator = Accelerator()
    model, optimizer, dataloader = accelerator.prepare(model, optimizer, dataloader)
    for inputs, targets in dataloader:
        optimizer.zero_grad()
        loss = loss_function(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
"""
from . import dtypes
from ._library import (AxleError, DtypeError, FileError, InvalidError, NotFoundError,
                       OutOfMemoryError, OutOfRangeError, ShapeError, __version__, lib as _lib)

_lib.load()

from .dtypes import *  # noqa: E402,F401,F403
from .tensor import Tensor  # noqa: E402
from .creation import *  # noqa: E402,F401,F403
from .operators import *  # noqa: E402,F401,F403
from .device import Device, current_device  # noqa: E402
from .random import get_rng_state, initial_seed, manual_seed, set_rng_state  # noqa: E402
from . import autograd  # noqa: E402
from .autograd import inference_mode, is_grad_enabled, no_grad  # noqa: E402

from . import data, nn, optim, utils  # noqa: E402
from .accelerator import Accelerator  # noqa: E402
from .launchers import notebook_launcher  # noqa: E402
from .utils import DataLoaderConfiguration, DistributedType  # noqa: E402

float, double, half = dtypes.float32, dtypes.float64, dtypes.float16  # noqa: A001
long, int = dtypes.int64, dtypes.int32  # noqa: A001


def set_default_dtype(dtype):
    """Element type of tensors of real numbers made from now on: float32 or float64."""
    from ._library import check
    check(_lib.axle_set_default_dtype(dtypes.resolve(dtype).code))


def get_default_dtype():
    """Element type of tensors of real numbers."""
    return dtypes.of_code(_lib.axle_default_dtype())
