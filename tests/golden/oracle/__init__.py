# SPDX-License-Identifier: Apache-2.0
"""The families of golden cases, each with the file that it fills."""

from . import (attention, conv, elementwise, indexing, initializer, loss, norm, optimizer, pool,
               product, recurrent, reduction, scheduler, shape, softmax, transformer)
from .case import Family

FAMILIES = {
    "unary": elementwise.unary,
    "binary": elementwise.binary,
    "select": elementwise.select,
    "reduce": reduction.reduce,
    "arg_reduce": reduction.arg_reduce,
    "matmul": product.matmul,
    "softmax": softmax.softmax,
    "loss": loss.loss,
    "norm": norm.norm,
    "index": indexing.index,
    "shape": shape.shape,
    "conv": conv.conv,
    "pool": pool.pool,
    "interpolate": pool.interpolate,
    "attention": attention.attention,
    "recurrent": recurrent.recurrent,
    "transformer": transformer.transformer,
    "optimizer": optimizer.optimizer,
    "scheduler": scheduler.scheduler,
    "initializer": initializer.initializer,
}


def build(name):
    """Return the cases of one family as plain lists and dictionaries."""
    family = Family(name)
    FAMILIES[name](family)
    return family.cases
