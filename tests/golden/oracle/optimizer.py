# SPDX-License-Identifier: Apache-2.0
"""Optimizers over fifty updates of one parameter, with gradients given by a formula."""

import math

import torch

from .case import exact

RECORD = [1, 10, 20, 30, 40, 50]
START = [1.0, -0.5, 0.25, 2.0, -1.5]

SGD = {"lr": 0.1, "momentum": 0.0, "dampening": 0.0, "weight_decay": 0.0, "nesterov": False,
       "maximize": False}
ADAM = {"lr": 0.01, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.0, "amsgrad": False,
        "maximize": False}
ADAMW = {**ADAM, "weight_decay": 0.01}
RMSPROP = {"lr": 0.01, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0.0, "momentum": 0.0,
           "centered": False, "maximize": False}

# op, class, defaults, name and what differs
TABLE = [
    ("sgd", torch.optim.SGD, SGD, [
        ("plain", {}), ("momentum", {"momentum": 0.9}), ("weight decay", {"weight_decay": 0.05}),
        ("dampening", {"momentum": 0.9, "dampening": 0.3}),
        ("nesterov", {"momentum": 0.9, "nesterov": True}), ("maximize", {"maximize": True}),
        ("nesterov and weight decay", {"momentum": 0.8, "nesterov": True, "weight_decay": 0.05}),
        ("everything", {"lr": 0.02, "momentum": 0.7, "dampening": 0.1, "weight_decay": 0.01}),
    ]),
    ("adam", torch.optim.Adam, ADAM, [
        ("plain", {}), ("amsgrad", {"amsgrad": True}), ("weight decay", {"weight_decay": 0.05}),
        ("betas and eps", {"betas": [0.8, 0.9], "eps": 1e-3}), ("maximize", {"maximize": True}),
        ("amsgrad, weight decay", {"amsgrad": True, "weight_decay": 0.05, "betas": [0.5, 0.9]}),
    ]),
    ("adamw", torch.optim.AdamW, ADAMW, [
        ("plain", {}), ("amsgrad", {"amsgrad": True}), ("strong decay", {"weight_decay": 0.3}),
        ("no decay", {"weight_decay": 0.0}), ("betas and eps", {"betas": [0.8, 0.9], "eps": 1e-3}),
        ("amsgrad, short memory", {"amsgrad": True, "betas": [0.5, 0.9]}),
        ("maximize", {"maximize": True}),
    ]),
    ("rmsprop", torch.optim.RMSprop, RMSPROP, [
        ("plain", {}), ("centered", {"centered": True}), ("momentum", {"momentum": 0.9}),
        ("weight decay", {"weight_decay": 0.05}),
        ("centered and momentum", {"centered": True, "momentum": 0.8, "alpha": 0.9}),
        ("everything", {"lr": 0.02, "alpha": 0.95, "eps": 1e-3, "weight_decay": 0.01,
                        "momentum": 0.5, "centered": True}),
        ("maximize", {"maximize": True, "weight_decay": 0.05}),
    ]),
]


def gradient(t, count):
    return exact([math.sin(0.1 * t * (i + 1)) for i in range(count)])


def run(kind, options, start):
    parameter = start.clone().requires_grad_()
    optimizer = kind([parameter], **options)
    seen = []
    for t in range(1, RECORD[-1] + 1):
        parameter.grad = gradient(t, len(start))
        optimizer.step()
        if t in RECORD:
            seen.append(parameter.detach().clone())
    return seen


def optimizer(f):
    for op, kind, defaults, variants in TABLE:
        for name, changes in variants:
            options = {**defaults, **changes}
            attrs = {**options, "gradient": "sin(0.1*t*(i+1))", "record": RECORD}
            f.add(op, lambda start: run(kind, options, start), [exact(START)], attrs, name,
                  names="param", outputs=[f"step{t}" for t in RECORD])
