# SPDX-License-Identifier: Apache-2.0
"""Learning rates of sixty updates."""

import math

import torch
from torch.optim import lr_scheduler
from torch.optim.swa_utils import SWALR

from .case import exact

STEPS, BASE = 60, 0.1


def drive(make):
    """The rates that a scheduler of PyTorch gives, one an update."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=BASE)
    schedule = make(optimizer)
    rates = []
    for _ in range(STEPS):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return rates


def rising(step, warmup):
    return step / max(1, warmup)


def progress(step, warmup, total):
    return (step - warmup) / max(1, total - warmup)


def constant(step, warmup):
    return BASE if step >= warmup else BASE * rising(step, warmup)


def linear(step, warmup, total):
    if step < warmup:
        return BASE * rising(step, warmup)
    return BASE * max(0.0, (total - step) / max(1, total - warmup))


def cosine(step, warmup, total, cycles):
    if step < warmup:
        return BASE * rising(step, warmup)
    angle = 2.0 * math.pi * cycles * progress(step, warmup, total)
    return BASE * max(0.0, 0.5 * (1.0 + math.cos(angle)))


def cosine_restarts(step, warmup, total, cycles):
    if step < warmup:
        return BASE * rising(step, warmup)
    done = progress(step, warmup, total)
    if done >= 1.0:
        return 0.0
    return BASE * max(0.0, 0.5 * (1.0 + math.cos(math.pi * ((cycles * done) % 1.0))))


def polynomial(step, warmup, total, power, end):
    if step < warmup:
        return BASE * rising(step, warmup)
    if step > total:
        return end
    return end + (BASE - end) * (1.0 - progress(step, warmup, total)) ** power


PAST_END = "Past the total the formula goes on, so that the rate rises again."

FORMULAS = [
    ("constant", constant, ("warmup",), [(0,), (7,)]),
    ("linear", linear, ("warmup", "total"), [(0, 60), (10, 60), (5, 40), (0, 1)]),
    ("cosine", cosine, ("warmup", "total", "cycles"),
     [(0, 60, 0.5), (10, 60, 0.5), (6, 50, 1.5), (3, 40, 0.5)]),
    ("cosine_with_restarts", cosine_restarts, ("warmup", "total", "cycles"),
     [(0, 60, 1), (10, 50, 3), (5, 60, 2)]),
    ("polynomial", polynomial, ("warmup", "total", "power", "lr_end"),
     [(0, 60, 1.0, 1e-7), (10, 50, 2.0, 0.01), (5, 60, 0.5, 0.0)]),
]

FROM_TORCH = [
    ("step", {"step_size": 13, "gamma": 0.5}, lr_scheduler.StepLR),
    ("step", {"step_size": 1, "gamma": 0.95}, lr_scheduler.StepLR),
    ("multi_step", {"milestones": [5, 20, 21, 50], "gamma": 0.1}, lr_scheduler.MultiStepLR),
    ("multi_step", {"milestones": [30], "gamma": 0.5}, lr_scheduler.MultiStepLR),
    ("exponential", {"gamma": 0.97}, lr_scheduler.ExponentialLR),
]


def scheduler(f):
    def add(op, attrs, rates, name="", note=""):
        f.add(op, lambda: exact(rates), [], {"lr": BASE, **attrs}, name, note, outputs="lr")

    for op, formula, keys, variants in FORMULAS:
        for values in variants:
            attrs = dict(zip(keys, values))
            rates = [formula(k, *values) for k in range(STEPS)]
            add(op, attrs, rates, f"total {attrs['total']}" if "total" in attrs else "",
                PAST_END if op == "cosine" and attrs["total"] < STEPS else "")
    for op, options, kind in FROM_TORCH:
        add(op, options, drive(lambda optimizer: kind(optimizer, **options)))
    for options in ({}, {"anneal": "linear"}, {"pct_start": 0.1, "max_lr": 0.5},
                    {"three_phase": True}, {"div_factor": 10.0, "final_div_factor": 100.0}):
        one_cycle(add, options)
    add("lambda", {"formula": "1/(1+0.1*k)"},
        drive(lambda optimizer: lr_scheduler.LambdaLR(optimizer, lambda k: 1 / (1 + 0.1 * k))),
        note="k counts the updates from 0; the rate is lr times the formula.")
    for start, end, total in ((1.0 / 3.0, 1.0, 5), (1.0, 0.1, 40), (1e-3, 1.0, 100)):
        attrs = {"start_factor": start, "end_factor": end, "total": total, "anneal": "linear"}
        add("linear_anneal", attrs, drive(lambda optimizer: lr_scheduler.LinearLR(
            optimizer, start_factor=start, end_factor=end, total_iters=total)))
    for anneal, total in (("linear", 10), ("cosine", 25)):
        swa_averages(add, anneal, total)
    one_cycle(add, {"three_phase": True, "anneal": "linear", "pct_start": 0.2})


def swa_averages(add, anneal, total):
    words = {"cosine": "cos", "linear": "linear"}
    attrs = {"swa_lr": 0.02, "total": total, "anneal": anneal}
    rates = drive(lambda optimizer: SWALR(optimizer, swa_lr=0.02, anneal_epochs=total,
                                          anneal_strategy=words[anneal]))
    add("swa", attrs, rates, note="lr falls to swa_lr, which then stays.")


def one_cycle(add, options):
    attrs = {"max_lr": 1.0, "total": STEPS, "pct_start": 0.3, "anneal": "cosine",
             "div_factor": 25.0, "final_div_factor": 1e4, "three_phase": False, **options}
    words = {"cosine": "cos", "linear": "linear"}
    rates = drive_one_cycle(attrs, words[attrs["anneal"]])
    add("one_cycle", attrs, rates, note="lr is not used: the first rate is max_lr / div_factor.")


def drive_one_cycle(attrs, anneal):
    # The scheduler refuses the tick after its last update, which no rate here needs.
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=BASE)
    schedule = lr_scheduler.OneCycleLR(
        optimizer, attrs["max_lr"], total_steps=attrs["total"], pct_start=attrs["pct_start"],
        anneal_strategy=anneal, cycle_momentum=False, div_factor=attrs["div_factor"],
        final_div_factor=attrs["final_div_factor"], three_phase=attrs["three_phase"])
    rates = [optimizer.param_groups[0]["lr"]]
    for _ in range(STEPS - 1):
        optimizer.step()
        schedule.step()
        rates.append(optimizer.param_groups[0]["lr"])
    return rates
