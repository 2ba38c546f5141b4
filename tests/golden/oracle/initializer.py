# SPDX-License-Identifier: Apache-2.0
"""Bounds and deviations of initialisers, read off the draws that PyTorch asks for."""

from unittest import mock

import torch
from torch import nn

from .case import exact

SHAPES = [(3, 5), (64, 32), (8, 4, 3), (16, 3, 5, 5), (2, 6, 1, 2, 3)]


def draws(function):
    """Run function and return (distribution, first, second) of every draw it makes."""
    seen = []

    def uniform(self, low=0.0, high=1.0):
        seen.append(("uniform", low, high))
        return self

    def normal(self, mean=0.0, std=1.0):
        seen.append(("normal", mean, std))
        return self

    with mock.patch.object(torch.Tensor, "uniform_", uniform):
        with mock.patch.object(torch.Tensor, "normal_", normal):
            function()
    return seen


def size(draw):
    """The bound of a symmetric uniform draw, or the deviation of a centred normal one."""
    distribution, first, second = draw
    if (distribution == "uniform" and first != -second) or (distribution == "normal" and first):
        raise ValueError(f"not centred: {draw}")
    return second


def initializer(f):
    def add(op, attrs, sizes, outputs):
        f.add(op, lambda: [exact(s) for s in sizes], [], attrs, outputs=outputs)

    gains(add)
    fans(add)
    layers(add)


def gains(add):
    for nonlinearity, parameter in (("linear", None), ("sigmoid", None), ("tanh", None),
                                    ("relu", None), ("leaky_relu", None), ("leaky_relu", 0.2),
                                    ("selu", None)):
        gain = nn.init.calculate_gain(nonlinearity, parameter)
        add("gain", {"nonlinearity": nonlinearity, "parameter": parameter}, [float(gain)], "gain")


def fans(add):
    root5 = 5.0 ** 0.5
    for shape in SHAPES:
        blank = torch.empty(shape, dtype=torch.float64)
        for gain in (1.0, 2.0 ** 0.5):
            attrs = {"shape": list(shape), "gain": gain}
            for kind, function, word in (("uniform", nn.init.xavier_uniform_, "bound"),
                                         ("normal", nn.init.xavier_normal_, "std")):
                draw, = draws(lambda: function(blank, gain))
                add(f"xavier_{kind}", attrs, [size(draw)], word)
        for a, mode, nonlinearity in ((root5, "fan_in", "leaky_relu"), (0.0, "fan_in", "relu"),
                                      (0.0, "fan_out", "relu"), (0.1, "fan_out", "leaky_relu"),
                                      (0.0, "fan_in", "linear")):
            attrs = {"shape": list(shape), "a": a, "mode": mode, "nonlinearity": nonlinearity}
            for kind, function, word in (("uniform", nn.init.kaiming_uniform_, "bound"),
                                         ("normal", nn.init.kaiming_normal_, "std")):
                draw, = draws(lambda: function(blank, a, mode, nonlinearity))
                add(f"kaiming_{kind}", attrs, [size(draw)], word)


def layers(add):
    """What the layers do by default; weight and bias in the order of their draws."""
    for inputs, outputs in ((5, 3), (784, 10), (1, 1)):
        weight, bias = draws(lambda: nn.Linear(inputs, outputs))
        add("linear", {"in_features": inputs, "out_features": outputs},
            [size(weight), size(bias)], "weight_bound bias_bound")
    convolutions = [(3, 8, [5, 5], 1), (4, 6, [3, 1], 2), (2, 2, [3, 3], 2)]
    for inputs, outputs, kernel, groups in convolutions:
        attrs = {"in_channels": inputs, "out_channels": outputs, "kernel": kernel,
                 "groups": groups}
        for op, layer in (("conv2d", nn.Conv2d), ("conv_transpose2d", nn.ConvTranspose2d)):
            weight, bias = draws(lambda: layer(inputs, outputs, kernel, groups=groups))
            add(op, attrs, [size(weight), size(bias)], "weight_bound bias_bound")
    draw, = draws(lambda: nn.Embedding(7, 3))
    add("embedding", {"num_embeddings": 7, "embedding_dim": 3}, [size(draw)], "std")
    for op, layer in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        found = draws(lambda: layer(3, 16))
        if len(set(found)) != 1:
            raise ValueError(f"{op}: parameters are drawn differently: {found}")
        add(op, {"input_size": 3, "hidden_size": 16}, [size(found[0])], "bound")
    draw, = {d for d in draws(lambda: nn.MultiheadAttention(6, 2).in_proj_weight)
             if d[0] == "uniform"} - set(draws(lambda: nn.Linear(6, 6)))
    add("multihead_attention", {"embed_dim": 6}, [size(draw)], "in_proj_weight_bound")
