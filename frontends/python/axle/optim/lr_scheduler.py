# SPDX-License-Identifier: Apache-2.0
"""Learning-rate schedules, with PyTorch's arguments."""
import ctypes

from .._library import callback, check, lib, options, out_pointer, remember
from ..tensor import numbers


class LRScheduler:
    """What all schedules are: the initial rates, times a factor of the number of ticks."""

    def __init__(self, optimizer, create, *arguments):
        self.optimizer = optimizer
        self._as_parameter_ = out_pointer(getattr(lib, create), optimizer, *arguments)

    def __del__(self):
        try:
            lib.axle_scheduler_release(self._as_parameter_)
        except (AttributeError, TypeError):  # it was never made, or the interpreter ends
            pass

    def step(self):
        """One tick; none inside a window of accumulation and after a skipped update."""
        check(lib.axle_scheduler_step(self))

    def get_last_lr(self):
        """The rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    @property
    def last_epoch(self):
        """Ticks so far."""
        return lib.axle_scheduler_ticks(self)

    def state_dict(self):
        """Ticks so far."""
        return {"last_epoch": self.last_epoch}

    def load_state_dict(self, state_dict):
        """Go there."""
        check(lib.axle_scheduler_set_ticks(self, state_dict["last_epoch"]))


class LambdaLR(LRScheduler):
    """Factor lr_lambda(tick)."""

    def __init__(self, optimizer, lr_lambda):
        @callback("axle_schedule_fn")
        def factor(tick, _):
            try:
                return float(lr_lambda(tick))
            except BaseException as error:  # noqa: B902 - it is raised again where C returns
                remember(error)
                return 0.0
        self._factor = factor
        super().__init__(optimizer, "axle_lambda_schedule_create", factor, None)


class StepLR(LRScheduler):
    """Factor gamma every step_size ticks."""

    def __init__(self, optimizer, step_size, gamma=0.1):
        super().__init__(optimizer, "axle_step_schedule_create", step_size, gamma)


class MultiStepLR(LRScheduler):
    """Factor gamma at each milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1):
        milestones = sorted(milestones)
        super().__init__(optimizer, "axle_multi_step_schedule_create", numbers(milestones),
                         len(milestones), gamma)


class ExponentialLR(LRScheduler):
    """Factor gamma every tick."""

    def __init__(self, optimizer, gamma):
        super().__init__(optimizer, "axle_exponential_schedule_create", gamma)


def _anneal(scheduler, optimizer, **values):
    chosen = options("axle_anneal_options", **values)
    LRScheduler.__init__(scheduler, optimizer, "axle_anneal_schedule_create", ctypes.byref(chosen))


class LinearLR(LRScheduler):
    """From start_factor to end_factor in total_iters ticks."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5):
        _anneal(self, optimizer, total=total_iters, to=end_factor, anneal=1,
                **{"from": start_factor})


class CosineAnnealingLR(LRScheduler):
    """From the initial rate to eta_min in T_max ticks, where it stays."""

    def __init__(self, optimizer, T_max, eta_min=0.0):
        peak = optimizer.param_groups[0]["lr"]
        _anneal(self, optimizer, total=T_max, to=eta_min / peak, anneal=0, **{"from": 1.0})


class OneCycleLR(LRScheduler):
    """Up to max_lr, and down again."""

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None,
                 pct_start=0.3, anneal_strategy="cos", div_factor=25.0, final_div_factor=1e4,
                 three_phase=False):
        for group in optimizer.param_groups:
            group["lr"] = max_lr
        chosen = options("axle_one_cycle_options", total=total_steps or epochs * steps_per_epoch,
                         rise=pct_start, divide=div_factor, final_divide=final_div_factor,
                         anneal=int(anneal_strategy != "cos"), three_phase=int(three_phase))
        super().__init__(optimizer, "axle_one_cycle_schedule_create", ctypes.byref(chosen))
