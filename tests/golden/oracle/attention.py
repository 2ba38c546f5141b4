# SPDX-License-Identifier: Apache-2.0
"""Scaled dot-product attention, written out a row at a time."""

import math

import torch

from .case import exact
from .softmax import kept

NAN, INF = float("nan"), float("inf")


def attend(q, k, v, mask, scale, causal):
    """A row sees only the positions it keeps, and a row that keeps none is 0."""
    batch, heads, rows, _ = q.shape
    shape = (batch, heads, rows, k.shape[2])
    keep = kept(shape, mask, causal)
    bias = None if mask is None or mask.dtype == torch.bool else mask.expand(shape)
    out = []
    for b in range(batch):
        for h in range(heads):
            for i in range(rows):
                index = keep[b, h, i].nonzero().reshape(-1)
                scores = scale * (k[b, h, index] @ q[b, h, i])
                if bias is not None:
                    scores = scores + bias[b, h, i, index]
                out.append(scores.softmax(0) @ v[b, h, index])
    return torch.stack(out).reshape(batch, heads, rows, v.shape[3])


def attention(f):
    def operands(batch=1, heads=2, rows=3, columns=4, width=3, value=2):
        return [f.leaf((batch, heads, rows, width)), f.leaf((batch, heads, columns, width)),
                f.leaf((batch, heads, columns, value))]

    def add(name, qkv, mask=None, causal=False, scale=None, note=""):
        scale = 1.0 / math.sqrt(qkv[0].shape[3]) if scale is None else scale
        f.add("attention", lambda q, k, v, m: attend(q, k, v, m, scale, causal), [*qkv, mask],
              {"scale": scale, "causal": causal}, name, note, "q k v mask")

    add("plain", operands(batch=2))
    add("own scale", operands(), scale=0.3)
    add("causal", operands(rows=4), causal=True)
    add("causal, more columns", operands(rows=2, columns=5), causal=True)
    add("causal, more rows", operands(rows=5, columns=3), causal=True)
    padding = torch.ones((2, 1, 1, 4), dtype=torch.bool)
    padding[0, 0, 0, 3] = padding[1, 0, 0, 1:3] = False
    add("padding mask", operands(batch=2), padding)
    add("boolean mask of every pair", operands(batch=2), f.bools((2, 2, 3, 4), 0.7))
    nothing = torch.ones((3, 4), dtype=torch.bool)
    nothing[1] = False
    add("a row with nothing kept", operands(), nothing, note="The row is 0, and so its gradient.")
    add("float mask", operands(), f.const((1, 1, 3, 4)))
    cut = f.const((2, 1, 3, 4))
    cut[0, 0, 1] = -INF
    cut[1, 0, :, 2] = -INF
    add("float mask that removes", operands(batch=2), cut)
    add("causal and padding mask", operands(batch=2, rows=4), padding, causal=True)
    q, k, v = operands()
    with torch.no_grad():
        k[0, 0, 3, 1], v[0, 1, 3, 0] = NAN, INF
    removed = torch.tensor([True, True, True, False]).reshape(1, 1, 1, 4)
    add("removed positions are not finite", [q, k, v], removed,
        note="What k and v hold at removed positions has no influence.")
    add("single", operands(heads=1, rows=1, columns=1, width=1, value=1))
    add("odd sizes", operands(heads=3, rows=5, columns=7, width=5, value=3))
    add("large scores", [exact([[[[30.0, 40.0]]]], True),
                         exact([[[[30.0, 40.0], [-30.0, -40.0], [30.0, 39.0]]]], True),
                         f.leaf((1, 1, 3, 2))])
