# SPDX-License-Identifier: Apache-2.0
"""Normalisation layers."""

import torch.nn.functional as F


def norm(f):
    layer_norm(f)
    rms_norm(f)
    batch_norm(f)
    group_norm(f)


def affine(f, shape, gamma, beta):
    return (f.leaf(shape, 0.5, 1.5) if gamma else None, f.leaf(shape, -1, 1) if beta else None)


def layer_norm(f):
    table = [("rows", (3, 5), [5], True, True, 1e-5), ("plain", (3, 5), [5], False, False, 1e-5),
             ("no bias", (3, 5), [5], True, False, 1e-5),
             ("leading dims", (2, 3, 4), [4], True, True, 1e-12),
             ("two axes", (2, 3, 4), [3, 4], True, True, 1e-5),
             ("large eps", (2, 6), [6], True, True, 0.5), ("one row", (7,), [7], True, True, 1e-5),
             ("one element", (3, 1), [1], True, True, 1e-5),
             ("no rows", (0, 4), [4], True, True, 1e-5)]
    for name, shape, normalized, gamma, beta, eps in table:
        f.add("layer_norm", lambda x, g, b: F.layer_norm(x, normalized, g, b, eps),
              [f.leaf(shape), *affine(f, normalized, gamma, beta)],
              {"normalized_shape": normalized, "eps": eps}, name, names="x gamma beta")
    f.add("layer_norm", lambda x, g, b: F.layer_norm(x, [9], g, b, 1e-5),
          [f.leaf((2, 9), 1000.0, 1001.0), *affine(f, (9,), True, True)],
          {"normalized_shape": [9], "eps": 1e-5}, "large mean", names="x gamma beta")


def rms(x, gamma, eps):
    y = x / (x.square().mean(-1, keepdim=True) + eps).sqrt()
    return y if gamma is None else y * gamma


def rms_norm(f):
    table = [("rows", (3, 5), True, 1e-6), ("plain", (3, 5), False, 1e-6),
             ("leading dims", (2, 3, 4), True, 1e-5), ("one element", (3, 1), True, 1e-6),
             ("no rows", (0, 4), True, 1e-6), ("large eps", (2, 7), True, 0.5)]
    for name, shape, gamma, eps in table:
        g, _ = affine(f, shape[-1:], gamma, False)
        f.add("rms_norm", lambda x, g: rms(x, g, eps), [f.leaf(shape), g], {"eps": eps}, name,
              names="x gamma")


def batch_norm_case(f, name, x, parts, training, momentum, eps):
    def call(x, gamma, beta, mean, var):
        mean, var = [None if t is None else t.clone() for t in (mean, var)]
        y = F.batch_norm(x, mean, var, gamma, beta, training, momentum, eps)
        return (y, mean, var) if training and mean is not None else y
    f.add("batch_norm", call, [x, *parts],
          {"training": training, "momentum": momentum, "eps": eps}, name,
          names="x gamma beta running_mean running_var", outputs="y running_mean running_var")


def batch_norm(f):
    table = [("(N, C)", (4, 3), True, True, 0.1, 1e-5), ("(N, C, L)", (3, 2, 5), True, True, 0.1,
                                                         1e-5),
             ("(N, C, H, W)", (2, 3, 3, 2), True, True, 0.3, 1e-3),
             ("(N, C, D, H, W)", (2, 2, 2, 1, 3), True, True, 0.1, 1e-5),
             ("plain", (3, 2, 4), False, True, 0.1, 1e-5),
             ("untracked", (3, 2, 4), True, False, 0.1, 1e-5)]
    for training in (True, False):
        for name, shape, has_affine, tracked, momentum, eps in table:
            if not training and not tracked:
                continue
            channels = shape[1:2]
            mean = f.const(channels, -1, 1) if tracked else None
            var = f.const(channels, 0.5, 2) if tracked else None
            parts = [*affine(f, channels, has_affine, has_affine), mean, var]
            batch_norm_case(f, name, f.leaf(shape), parts, training, momentum, eps)
    parts = [*affine(f, (3,), True, True), f.const((3,), -1, 1), f.const((3,), 0.5, 2)]
    batch_norm_case(f, "empty", f.leaf((0, 3, 2)), parts, False, 0.1, 1e-5)


def group_norm(f):
    table = [("two groups", (2, 4, 3), 2, True), ("one group", (2, 4, 3), 1, True),
             ("a group each channel", (2, 3, 2, 2), 3, True), ("plain", (2, 4, 3), 2, False),
             ("no space", (3, 6), 2, True), ("planes", (1, 6, 2, 3), 3, True),
             ("no samples", (0, 4, 3), 2, True)]
    for name, shape, groups, has_affine in table:
        f.add("group_norm", lambda x, g, b: F.group_norm(x, groups, g, b, 1e-5),
              [f.leaf(shape), *affine(f, shape[1:2], has_affine, has_affine)],
              {"groups": groups, "eps": 1e-5}, name, names="x gamma beta")
