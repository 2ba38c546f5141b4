# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, with weights under PyTorch's names."""

import torch
from torch import nn


def fill(f, module):
    """Give every parameter short numbers, and return them by name."""
    module.double()
    for parameter in module.parameters():
        with torch.no_grad():
            parameter.copy_(f.const(parameter.shape, -0.8, 0.8, 2))
    return dict(module.named_parameters())


# name, layers, both directions, batch first, bias, whether the state is given
LAYERS = [
    ("one layer", 1, False, True, True, False),
    ("state given", 1, False, True, True, True),
    ("time first", 1, False, False, True, True),
    ("no bias", 1, False, True, False, True),
    ("two layers", 2, False, True, True, True),
    ("both directions", 1, True, True, True, True),
    ("two layers, both directions", 2, True, False, True, False),
]


def recurrent(f):
    batch, time, width, hidden = 2, 3, 3, 2
    for op, kind, states in (("lstm", nn.LSTM, ("h0", "c0")), ("gru", nn.GRU, ("h0",))):
        for name, layers, both, batch_first, bias, given in LAYERS:
            module = kind(width, hidden, layers, bias, batch_first, bidirectional=both)
            parameters = fill(f, module)
            x = f.leaf((batch, time, width) if batch_first else (time, batch, width))
            size = (layers * (2 if both else 1), batch, hidden)
            start = [f.leaf(size, -1, 1) if given else None for _ in states]

            def call(x, *rest):
                state = rest[:len(states)]
                state = None if state[0] is None else state if op == "lstm" else state[0]
                y, last = module(x, state)
                return (y, *last) if op == "lstm" else (y, last)
            f.add(op, call, [x, *start, *parameters.values()],
                  {"input_size": width, "hidden_size": hidden, "num_layers": layers,
                   "bidirectional": both, "batch_first": batch_first, "bias": bias}, name,
                  names=["x", *states, *parameters],
                  outputs="y hn cn" if op == "lstm" else "y hn")
