# SPDX-License-Identifier: Apache-2.0
"""Multi-head attention and the transformer's encoder layer, weights under PyTorch's names.

Masks say what is kept, as everywhere in these files; PyTorch's modules want what is removed.
"""

import itertools

import torch
from torch import nn

from .recurrent import fill

WIDTH, HEADS = 4, 2


def transformer(f):
    encoder_layer(f)
    multihead_attention(f)


def removed(keep):
    return None if keep is None else ~keep


def blocked(rows, columns):
    """True above the diagonal: what a causal row does not see."""
    return torch.ones((rows, columns), dtype=torch.bool).triu(1)


def padding(batch, columns):
    keep = torch.ones((batch, columns), dtype=torch.bool)
    keep[0, columns - 1] = False
    return keep


def encoder_layer(f):
    batch, rows = 2, 3
    for norm_first, activation, masking in itertools.product(
            (False, True), ("relu", "gelu"), ("plain", "padding", "causal")):
        eps = 1e-5 if activation == "relu" else 1e-12
        module = nn.TransformerEncoderLayer(WIDTH, HEADS, 5, 0.0, activation, eps, True,
                                            norm_first)
        parameters = fill(f, module)
        keep = padding(batch, rows) if masking == "padding" else None
        causal = masking == "causal"

        def call(x, keep, *_):
            return module(x, blocked(rows, rows) if causal else None, removed(keep))
        f.add("transformer_encoder_layer", call,
              [f.leaf((batch, rows, WIDTH)), keep, *parameters.values()],
              {"d_model": WIDTH, "nhead": HEADS, "dim_feedforward": 5, "activation": activation,
               "norm_first": norm_first, "layer_norm_eps": eps, "causal": causal}, masking,
              names=["x", "key_mask", *parameters])


def multihead_attention(f):
    batch, rows, columns = 2, 3, 4
    for name, bias in (("plain", True), ("no bias", False), ("padding", True),
                       ("float mask", True), ("causal", True), ("self attention", True)):
        module = nn.MultiheadAttention(WIDTH, HEADS, bias=bias, batch_first=True)
        parameters = fill(f, module)
        keep = padding(batch, columns) if name == "padding" else None
        added = f.const((rows, columns)) if name == "float mask" else None
        causal, own = name == "causal", name == "self attention"
        query = f.leaf((batch, rows, WIDTH))
        key = None if own else f.leaf((batch, columns, WIDTH))
        value = None if own else f.leaf((batch, columns, WIDTH))

        def call(q, k, v, keep, added, *_):
            k, v = (q, q) if own else (k, v)
            mask = blocked(rows, columns) if causal else added
            return module(q, k, v, removed(keep), False, mask)[0]
        f.add("multihead_attention", call, [query, key, value, keep, added, *parameters.values()],
              {"embed_dim": WIDTH, "num_heads": HEADS, "bias": bias, "causal": causal}, name,
              note="An absent key and value are the query." if own else "",
              names=["query", "key", "value", "key_mask", "attn_mask", *parameters])
