# SPDX-License-Identifier: Apache-2.0
"""Losses."""

import itertools

import torch.nn.functional as F

from .case import exact, tensor

REDUCTIONS = ("none", "mean", "sum")


def loss(f):
    cross_entropy(f)
    bce_with_logits(f)
    regression(f)


def cross_entropy_case(f, x, target, weight, attrs, name, note=""):
    def call(x, target, weight):
        y = F.cross_entropy(x, target, weight, ignore_index=attrs["ignore_index"],
                            reduction=attrs["reduction"],
                            label_smoothing=attrs["label_smoothing"])
        # Over no valid target the mean is 0 here, with no gradient; PyTorch divides 0 by 0.
        if attrs["reduction"] == "mean" and bool((target == attrs["ignore_index"]).all()):
            return (x * 0.0).sum()
        return y
    f.add("cross_entropy", call, [x, target, weight], attrs, name, note,
          names="logits target weight")


def cross_entropy(f):
    shapes = {"(N, C)": ((4, 5), (4,)), "(N, C, d1)": ((2, 4, 3), (2, 3))}
    combinations = itertools.product(shapes.items(), REDUCTIONS, (False, True), (0.0, 0.1),
                                     (-100, 1))
    for (name, (x_shape, t_shape)), reduction, weighted, smoothing, ignore in combinations:
        classes = x_shape[1]
        target = f.ints(t_shape, 0, classes)
        if ignore >= 0:
            target.reshape(-1)[1] = ignore
        else:
            target.reshape(-1)[-1] = ignore
        weight = f.const((classes,), 0.2, 2.0) if weighted else None
        attrs = {"reduction": reduction, "ignore_index": ignore, "label_smoothing": smoothing}
        cross_entropy_case(f, f.leaf(x_shape, -3, 3), target, weight, attrs, name)
    for reduction in REDUCTIONS:
        attrs = {"reduction": reduction, "ignore_index": -100, "label_smoothing": 0.0}
        cross_entropy_case(f, f.leaf((3, 4)), tensor([-100, -100, -100]), None, attrs,
                           "no valid target", "The mean over no valid target is 0.")
        large = exact([[1000.0, 0.0, -1000.0], [-800.0, 800.0, 799.0]], True)
        cross_entropy_case(f, large, tensor([2, 1]), None, attrs, "large logits")
        cross_entropy_case(f, f.leaf((2, 3, 2, 2)), f.ints((2, 2, 2), 0, 3), None, attrs,
                           "(N, C, d1, d2)")
        cross_entropy_case(f, f.leaf((3, 1)), tensor([0, 0, 0]), None, attrs, "one class")
    attrs = {"reduction": "mean", "ignore_index": -100, "label_smoothing": 1.0}
    cross_entropy_case(f, f.leaf((3, 4)), tensor([0, 3, -100]), f.const((4,), 0.2, 2.0), attrs,
                       "all smoothing")


def bce_with_logits(f):
    shape = (2, 3)
    for reduction, weighted, positive in itertools.product(REDUCTIONS, (False, True),
                                                           (False, True)):
        weight = f.const(shape, 0.2, 2.0) if weighted else None
        pos_weight = f.const((3,), 0.5, 3.0) if positive else None
        bce_case(f, f.leaf(shape, -4, 4), f.const(shape, 0.0, 1.0), weight, pos_weight, reduction,
                 "matrix")
    bce_case(f, exact([700.0, -700.0, 700.0, -700.0], True), exact([1.0, 0.0, 0.0, 1.0]), None,
             None, "mean", "large logits")
    bce_case(f, f.leaf((5,)), f.const((5,), 0.0, 1.0), f.const((1,), 0.5, 2.0), None, "mean",
             "weight broadcast")
    bce_case(f, f.leaf(()), f.const((), 0.0, 1.0), None, None, "mean", "scalar")


def bce_case(f, x, target, weight, pos_weight, reduction, name):
    def call(x, target, weight, pos_weight):
        return F.binary_cross_entropy_with_logits(x, target, weight, reduction=reduction,
                                                  pos_weight=pos_weight)
    f.add("bce_with_logits", call, [x, target, weight, pos_weight], {"reduction": reduction},
          name, names="logits target weight pos_weight")


def regression(f):
    table = [("mse", F.mse_loss, {}), ("l1", F.l1_loss, {}),
             ("smooth_l1", F.smooth_l1_loss, {"beta": 1.0}),
             ("smooth_l1", F.smooth_l1_loss, {"beta": 0.5}),
             ("huber", F.huber_loss, {"delta": 1.0}), ("huber", F.huber_loss, {"delta": 0.5})]
    for op, function, options in table:
        for reduction, (name, shape) in itertools.product(
                REDUCTIONS, (("matrix", (2, 3)), ("scalar", ()))):
            f.add(op, lambda x, t: function(x, t, reduction=reduction, **options),
                  [f.leaf(shape), f.leaf(shape)], {"reduction": reduction, **options}, name,
                  names="x target")
    equal = [1.0, -2.0, 0.5]
    for op, function in (("mse", F.mse_loss), ("l1", F.l1_loss)):
        f.add(op, lambda x, t: function(x, t), [exact(equal, True), exact(equal, True)],
              {"reduction": "mean"}, "no difference", names="x target")
        f.add(op, lambda x, t: function(x, t, reduction="sum"), [f.leaf((0, 3)), f.leaf((0, 3))],
              {"reduction": "sum"}, "empty", names="x target")
