# SPDX-License-Identifier: Apache-2.0
"""Optimizers and learning-rate schedules."""
from . import lr_scheduler
from .optimizer import SGD, Adam, AdamW, Optimizer, RMSprop
