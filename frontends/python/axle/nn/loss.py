# SPDX-License-Identifier: Apache-2.0
"""Losses as modules."""
from . import functional
from .module import Module


class CrossEntropyLoss(Module):
    """See functional.cross_entropy()."""

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__()
        self.register_buffer("weight", weight)
        self.ignore_index, self.reduction = ignore_index, reduction
        self.label_smoothing = label_smoothing

    def forward(self, logits, target):
        return functional.cross_entropy(logits, target, self.weight, self.ignore_index,
                                        self.reduction, self.label_smoothing)


class BCEWithLogitsLoss(Module):
    """See functional.binary_cross_entropy_with_logits()."""

    def __init__(self, weight=None, reduction="mean", pos_weight=None):
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)
        self.reduction = reduction

    def forward(self, logits, target):
        return functional.binary_cross_entropy_with_logits(logits, target, self.weight,
                                                           self.reduction, self.pos_weight)


class _Loss(Module):
    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def forward(self, x, target):
        return self.function(x, target, reduction=self.reduction)


class MSELoss(_Loss):
    """See functional.mse_loss()."""

    function = staticmethod(functional.mse_loss)


class L1Loss(_Loss):
    """See functional.l1_loss()."""

    function = staticmethod(functional.l1_loss)


class BCELoss(_Loss):
    """See functional.binary_cross_entropy()."""

    function = staticmethod(functional.binary_cross_entropy)


class NLLLoss(_Loss):
    """See functional.nll_loss()."""

    function = staticmethod(functional.nll_loss)


__all__ = ["CrossEntropyLoss", "BCEWithLogitsLoss", "MSELoss", "L1Loss", "BCELoss", "NLLLoss"]
