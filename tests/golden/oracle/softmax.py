# SPDX-License-Identifier: Apache-2.0
"""Softmax and log-softmax, plain and masked."""

import torch

from .case import exact

NAN, INF = float("nan"), float("inf")


def softmax(f):
    views = [((2, 5), 1), ((2, 3, 4), 0), ((2, 3, 4), -2), ((7,), 0), ((3, 1), 1), ((0, 3), 1),
             ((2, 0), 1), ((2, 129), -1)]
    for op in ("softmax", "log_softmax"):
        function = getattr(torch, op)
        for shape, axis in views:
            f.add(op, lambda x: function(x, axis), [f.leaf(shape, -4, 4)], {"axis": axis}, "view",
                  names="x")
        large = exact([[1000.0, 999.0, -1000.0], [-1e30, 0.0, 1.0]], True)
        f.add(op, lambda x: function(x, 1), [large], {"axis": 1}, "large values", names="x")
    masked(f)


def kept(shape, mask, causal):
    """The positions that take part: where the mask lets them and, if causal, column <= row."""
    keep = torch.ones(shape, dtype=torch.bool)
    if mask is not None:
        keep = keep & (mask if mask.dtype == torch.bool else mask > -INF)
    if causal:
        row, column = torch.arange(shape[-2]).reshape(-1, 1), torch.arange(shape[-1])
        keep = keep & (column <= row)
    return keep


def masked_softmax(x, mask, scale, causal, log):
    """Over the last axis, a row at a time, so that a removed element touches nothing."""
    keep = kept(x.shape, mask, causal).reshape(-1, x.shape[-1])
    scores = x * scale
    if mask is not None and mask.dtype != torch.bool:
        scores = scores + mask
    rows = []
    for row, chosen in zip(scores.reshape(-1, x.shape[-1]), keep):
        index = chosen.nonzero().reshape(-1)
        blank = torch.full((x.shape[-1],), -INF if log else 0.0, dtype=x.dtype)
        part = row[index]
        rows.append(blank.index_copy(0, index, part.log_softmax(0) if log else part.softmax(0)))
    return torch.stack(rows).reshape(x.shape)


def masked(f):
    cut = exact([[0.0, -INF, 0.5, 1.0], [-INF, -INF, -INF, -INF], [0.0, 0.0, -1.0, -INF]])
    keep = f.bools((2, 1, 4), 0.6)
    keep[0, 0] = False
    columns = torch.tensor([[[True, False, True, True]]])
    broken = exact([[1.0, NAN, 2.0], [INF, 0.5, 0.25], [0.0, 1.0, NAN]], True)
    around = ~torch.isfinite(broken.detach())
    cases = [("boolean mask", f.leaf((2, 3, 4)), f.bools((2, 3, 4), 0.6), 1.0, False),
             ("boolean mask, broadcast, a row with nothing kept", f.leaf((2, 3, 4)), keep, 0.5,
              False),
             ("float mask, a row with nothing kept", f.leaf((2, 3, 4)), cut, 0.5, False),
             ("causal", f.leaf((2, 3, 3)), None, 1.0, True),
             ("causal, more columns than rows", f.leaf((2, 5)), None, 0.7, True),
             ("causal and mask", f.leaf((2, 4, 4)), columns, 1.0, True),
             ("removed values are not finite", broken, ~around, 1.0, False)]
    for op, log in (("masked_softmax", False), ("masked_log_softmax", True)):
        for name, x, mask, scale, causal in cases:
            f.add(op, lambda x, mask: masked_softmax(x, mask, scale, causal, log), [x, mask],
                  {"axis": -1, "scale": scale, "causal": causal}, name, names="x mask")
