# SPDX-License-Identifier: Apache-2.0
"""Joining samples into batches, and batches of any structure as lists of tensors."""
from ..creation import as_tensor, tensor
from ..operators import stack
from ..tensor import Tensor, is_array


def default_collate(samples):
    """A batch of samples: tensors, arrays and numbers are stacked, structures kept."""
    first = samples[0]
    if isinstance(first, Tensor):
        return stack(samples)
    if is_array(first):
        return stack([as_tensor(sample) for sample in samples])
    if isinstance(first, (bool, int, float)):
        return tensor(list(samples), dtype="float64" if isinstance(first, float) else None)
    if isinstance(first, dict):
        return type(first)((key, default_collate([s[key] for s in samples])) for key in first)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*map(default_collate, zip(*samples)))
    if isinstance(first, (list, tuple)):
        if len({len(sample) for sample in samples}) > 1:
            raise ValueError("samples have different numbers of members")
        return type(first)(map(default_collate, zip(*samples)))
    return list(samples)


def map_tensors(value, function):
    """The same structure with other tensors."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, dict):
        pairs = [(key, map_tensors(item, function)) for key, item in value.items()]
        try:
            return type(value)(pairs)
        except TypeError:  # some kinds take no pairs
            return dict(pairs)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(item, function) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(item, function) for item in value)
    return value
