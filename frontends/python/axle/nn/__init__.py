# SPDX-License-Identifier: Apache-2.0
"""Modules, layers, losses."""
from . import functional, init
from .layers import *  # noqa: F401,F403
from .loss import *  # noqa: F401,F403
from .module import Module
from .parameter import Parameter
