# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle import accelerator as accelerator
from axle import autograd as autograd
from axle import creation as creation
from axle import data as data
from axle import device as device
from axle import dtypes as dtypes
from axle import exchange as exchange
from axle import launchers as launchers
from axle import nn as nn
from axle import operators as operators
from axle import optim as optim
from axle import random as random
from axle import tracking as tracking
from axle import utils as utils
from axle._library import AxleError as AxleError
from axle._library import DtypeError as DtypeError
from axle._library import FileError as FileError
from axle._library import InvalidError as InvalidError
from axle._library import NotFoundError as NotFoundError
from axle._library import OutOfMemoryError as OutOfMemoryError
from axle._library import OutOfRangeError as OutOfRangeError
from axle._library import ShapeError as ShapeError
from axle.accelerator import Accelerator as Accelerator
from axle.autograd import is_grad_enabled as is_grad_enabled
from axle.autograd import no_grad as no_grad
from axle.creation import arange as arange
from axle.creation import as_tensor as as_tensor
from axle.creation import empty as empty
from axle.creation import empty_like as empty_like
from axle.creation import eye as eye
from axle.creation import full as full
from axle.creation import full_like as full_like
from axle.creation import linspace as linspace
from axle.creation import ones as ones
from axle.creation import ones_like as ones_like
from axle.creation import rand as rand
from axle.creation import rand_like as rand_like
from axle.creation import randint as randint
from axle.creation import randn as randn
from axle.creation import randn_like as randn_like
from axle.creation import randperm as randperm
from axle.creation import tensor as tensor
from axle.creation import zeros as zeros
from axle.creation import zeros_like as zeros_like
from axle.device import Device as Device
from axle.device import current_device as current_device
from axle.dtypes import dtype as _Dtype
from axle.dtypes import dtype as dtype
from axle.exchange import from_dlpack as from_dlpack
from axle.exchange import from_numpy as from_numpy
from axle.launchers import notebook_launcher as notebook_launcher
from axle.operators import abs as abs
from axle.operators import acos as acos
from axle.operators import add as add
from axle.operators import all as all
from axle.operators import allclose as allclose
from axle.operators import amax as amax
from axle.operators import amin as amin
from axle.operators import any as any
from axle.operators import argmax as argmax
from axle.operators import argmin as argmin
from axle.operators import asin as asin
from axle.operators import atan as atan
from axle.operators import cat as cat
from axle.operators import ceil as ceil
from axle.operators import chunk as chunk
from axle.operators import clamp as clamp
from axle.operators import cos as cos
from axle.operators import cosh as cosh
from axle.operators import div as div
from axle.operators import eq as eq
from axle.operators import equal as equal
from axle.operators import erf as erf
from axle.operators import exp as exp
from axle.operators import expm1 as expm1
from axle.operators import flatten as flatten
from axle.operators import floor as floor
from axle.operators import gather as gather
from axle.operators import ge as ge
from axle.operators import gt as gt
from axle.operators import index_select as index_select
from axle.operators import isfinite as isfinite
from axle.operators import isinf as isinf
from axle.operators import isnan as isnan
from axle.operators import le as le
from axle.operators import log as log
from axle.operators import log10 as log10
from axle.operators import log1p as log1p
from axle.operators import log2 as log2
from axle.operators import log_softmax as log_softmax
from axle.operators import logical_and as logical_and
from axle.operators import logical_not as logical_not
from axle.operators import logical_or as logical_or
from axle.operators import logical_xor as logical_xor
from axle.operators import lt as lt
from axle.operators import masked_fill as masked_fill
from axle.operators import matmul as matmul
from axle.operators import max as max
from axle.operators import maximum as maximum
from axle.operators import mean as mean
from axle.operators import min as min
from axle.operators import minimum as minimum
from axle.operators import mul as mul
from axle.operators import ne as ne
from axle.operators import neg as neg
from axle.operators import norm as norm
from axle.operators import permute as permute
from axle.operators import pow as pow
from axle.operators import prod as prod
from axle.operators import reciprocal as reciprocal
from axle.operators import relu as relu
from axle.operators import remainder as remainder
from axle.operators import reshape as reshape
from axle.operators import round as round
from axle.operators import rsqrt as rsqrt
from axle.operators import sigmoid as sigmoid
from axle.operators import sign as sign
from axle.operators import sin as sin
from axle.operators import sinh as sinh
from axle.operators import softmax as softmax
from axle.operators import split as split
from axle.operators import sqrt as sqrt
from axle.operators import square as square
from axle.operators import squeeze as squeeze
from axle.operators import stack as stack
from axle.operators import std as std
from axle.operators import sub as sub
from axle.operators import sum as sum
from axle.operators import tan as tan
from axle.operators import tanh as tanh
from axle.operators import transpose as transpose
from axle.operators import trunc as trunc
from axle.operators import unsqueeze as unsqueeze
from axle.operators import var as var
from axle.operators import where as where
from axle.random import get_rng_state as get_rng_state
from axle.random import initial_seed as initial_seed
from axle.random import manual_seed as manual_seed
from axle.random import set_rng_state as set_rng_state
from axle.tensor import Tensor as Tensor
from axle.utils import DataLoaderConfiguration as DataLoaderConfiguration
from axle.utils import DistributedType as DistributedType

__version__: builtins.str
bfloat16: _Dtype
def bmm(input: Any, *arguments: Any, **options: Any) -> Any: ...
bool: _Dtype
def concat(tensors: Any, dim: builtins.int | tuple[builtins.int, ...] | None = ...) -> Any: ...
double: _Dtype
float: _Dtype
float16: _Dtype
float32: _Dtype
float64: _Dtype
def get_default_dtype() -> Any: ...
half: _Dtype
inf: builtins.float
int: _Dtype
int32: _Dtype
int64: _Dtype
long: _Dtype
def mm(input: Any, *arguments: Any, **options: Any) -> Any: ...
nan: builtins.float
pi: builtins.float
def set_default_dtype(dtype: _Dtype | builtins.str | type | None) -> Any: ...
uint8: _Dtype
