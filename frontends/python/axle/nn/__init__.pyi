# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

from axle.nn import functional as functional
from axle.nn import init as init
from axle.nn import layers as layers
from axle.nn import loss as loss
from axle.nn import module as module
from axle.nn import parameter as parameter
from axle.nn.layers import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from axle.nn.layers import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from axle.nn.layers import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from axle.nn.layers import AvgPool1d as AvgPool1d
from axle.nn.layers import AvgPool2d as AvgPool2d
from axle.nn.layers import AvgPool3d as AvgPool3d
from axle.nn.layers import BatchNorm1d as BatchNorm1d
from axle.nn.layers import BatchNorm2d as BatchNorm2d
from axle.nn.layers import BatchNorm3d as BatchNorm3d
from axle.nn.layers import Conv1d as Conv1d
from axle.nn.layers import Conv2d as Conv2d
from axle.nn.layers import Conv3d as Conv3d
from axle.nn.layers import ConvTranspose1d as ConvTranspose1d
from axle.nn.layers import ConvTranspose2d as ConvTranspose2d
from axle.nn.layers import ConvTranspose3d as ConvTranspose3d
from axle.nn.layers import Dropout as Dropout
from axle.nn.layers import ELU as ELU
from axle.nn.layers import Embedding as Embedding
from axle.nn.layers import Flatten as Flatten
from axle.nn.layers import GELU as GELU
from axle.nn.layers import GRU as GRU
from axle.nn.layers import GroupNorm as GroupNorm
from axle.nn.layers import Hardswish as Hardswish
from axle.nn.layers import Identity as Identity
from axle.nn.layers import LSTM as LSTM
from axle.nn.layers import LayerNorm as LayerNorm
from axle.nn.layers import LeakyReLU as LeakyReLU
from axle.nn.layers import Linear as Linear
from axle.nn.layers import LogSoftmax as LogSoftmax
from axle.nn.layers import MaxPool1d as MaxPool1d
from axle.nn.layers import MaxPool2d as MaxPool2d
from axle.nn.layers import MaxPool3d as MaxPool3d
from axle.nn.layers import Mish as Mish
from axle.nn.layers import ModuleDict as ModuleDict
from axle.nn.layers import ModuleList as ModuleList
from axle.nn.layers import MultiheadAttention as MultiheadAttention
from axle.nn.layers import RMSNorm as RMSNorm
from axle.nn.layers import ReLU as ReLU
from axle.nn.layers import Sequential as Sequential
from axle.nn.layers import SiLU as SiLU
from axle.nn.layers import Sigmoid as Sigmoid
from axle.nn.layers import Softmax as Softmax
from axle.nn.layers import Softplus as Softplus
from axle.nn.layers import Tanh as Tanh
from axle.nn.layers import TransformerEncoderLayer as TransformerEncoderLayer
from axle.nn.loss import BCELoss as BCELoss
from axle.nn.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from axle.nn.loss import CrossEntropyLoss as CrossEntropyLoss
from axle.nn.loss import L1Loss as L1Loss
from axle.nn.loss import MSELoss as MSELoss
from axle.nn.loss import NLLLoss as NLLLoss
from axle.nn.module import Module as Module
from axle.nn.parameter import Parameter as Parameter


