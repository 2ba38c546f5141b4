# SPDX-License-Identifier: Apache-2.0
"""Optimizers, with PyTorch's arguments."""
import ctypes

from .._library import check, lib, options, out_pointer
from ..tensor import Tensor, handles


class ParameterGroup(dict):
    """An entry of param_groups; its "lr" is the C library's."""

    def __init__(self, optimizer, number, values):
        super().__init__(values)
        self._optimizer, self._number = optimizer, number

    def __getitem__(self, name):
        if name == "lr":
            return lib.axle_optimizer_lr(self._optimizer, self._number)
        return super().__getitem__(name)

    def __setitem__(self, name, value):
        if name == "lr":
            check(lib.axle_optimizer_set_lr(self._optimizer, self._number, float(value)))
        elif name in ("params", "weight_decay"):
            raise KeyError("%s of a group stay as they were given" % name)
        super().__setitem__(name, value)


class Optimizer:
    """What all optimizers are. `params` are parameters, or dictionaries with "params" and what
    differs for them: "lr", "weight_decay"."""

    _create, _options = "", ""

    def __init__(self, params, **values):
        groups = list(params)
        if not groups:
            raise ValueError("there is no parameter to train")
        if isinstance(groups[0], Tensor):
            groups = [{"params": groups}]
        chosen = options(self._options, **values)
        self._as_parameter_ = out_pointer(getattr(lib, self._create), None, ctypes.byref(chosen))
        self.defaults = values
        self.param_groups = []
        for group in groups:
            self.add_param_group(group)

    def __del__(self):
        try:
            lib.axle_optimizer_release(self._as_parameter_)
        except (AttributeError, TypeError):  # it was never made, or the interpreter ends
            pass

    def add_param_group(self, param_group):
        """Add parameters; those that require no gradient are left out."""
        group = dict(param_group)
        tensors = group["params"]
        tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        unknown = set(group) - {"params", "lr", "weight_decay", "name"}
        if unknown:
            raise ValueError("a group has no %s of its own" % ", ".join(sorted(unknown)))
        trained = [tensor for tensor in tensors if tensor.requires_grad]
        chosen = options("axle_group_options", lr=group.get("lr"),
                         weight_decay=group.get("weight_decay"))
        check(lib.axle_optimizer_add_group(self, handles(trained), len(trained),
                                           ctypes.byref(chosen)))
        number = lib.axle_optimizer_group_count(self) - 1
        values = {"lr": lib.axle_optimizer_lr(self, number),
                  "weight_decay": self.defaults.get("weight_decay", 0.0), **group,
                  "params": tensors}
        values["initial_lr"] = values["lr"]
        self.param_groups.append(ParameterGroup(self, number, values))

    def parameters(self):
        """Parameters of all groups."""
        return [tensor for group in self.param_groups for tensor in group["params"]]

    def zero_grad(self, set_to_none=True):
        """Forget the gradients; inside a window of accumulation it does nothing."""
        check(lib.axle_optimizer_zero_grad(self))

    def step(self, closure=None):
        """Update the parameters; inside a window of accumulation it does nothing."""
        loss = closure() if closure is not None else None
        check(lib.axle_optimizer_step(self))
        return loss

    @property
    def step_was_skipped(self):
        """Whether gradients were not finite in mixed precision, so that nothing was updated."""
        return bool(lib.axle_optimizer_step_was_skipped(self))

    @property
    def updates(self):
        """Number of updates done."""
        return lib.axle_optimizer_updates(self)

    def state_dict(self):
        """Rates of the groups. Moments are in the checkpoints of Accelerator.save_state()."""
        return {"param_groups": [{"lr": group["lr"]} for group in self.param_groups]}

    def load_state_dict(self, state_dict):
        """Take the rates back."""
        for group, saved in zip(self.param_groups, state_dict["param_groups"]):
            group["lr"] = saved["lr"]

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join(
            "lr=%g" % group["lr"] for group in self.param_groups))


class SGD(Optimizer):
    """Gradient descent, with momentum."""

    _create, _options = "axle_sgd_create", "axle_sgd_options"

    def __init__(self, params, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0,
                 nesterov=False, *, maximize=False):
        super().__init__(params, lr=lr, momentum=momentum, dampening=dampening,
                         weight_decay=weight_decay, nesterov=int(nesterov), maximize=int(maximize))


class Adam(Optimizer):
    """Kingma and Ba, 2015. How it is computed (foreach, capturable, fused) is no choice."""

    _create, _options = "axle_adam_create", "axle_adam_options"
    _decay = 0.0

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=None,
                 amsgrad=False, *, maximize=False, foreach=None, capturable=False, fused=None):
        super().__init__(params, lr=lr, beta1=betas[0], beta2=betas[1], eps=eps,
                         weight_decay=self._decay if weight_decay is None else weight_decay,
                         amsgrad=int(amsgrad), maximize=int(maximize))


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019)."""

    _create, _options, _decay = "axle_adamw_create", "axle_adamw_options", 1e-2


class RMSprop(Optimizer):
    """Gradients divided by a mean of their size."""

    _create, _options = "axle_rmsprop_create", "axle_rmsprop_options"

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0,
                 centered=False, *, maximize=False):
        super().__init__(params, lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay,
                         momentum=momentum, centered=int(centered), maximize=int(maximize))
