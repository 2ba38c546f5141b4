# SPDX-License-Identifier: Apache-2.0
"""Trackers: numbers of a run in files, as the C library writes them."""
import ctypes
import json
import os

from ._library import check, options, out_pointer, struct, track
from .tensor import Tensor


class Trackers:
    """Those of an accelerator: "jsonl", "csv", "tensorboard", a list of them, or "all"."""

    def __init__(self, accelerator, log_with):
        names = [log_with] if isinstance(log_with, str) else list(log_with or ())
        self.kinds = ["jsonl", "csv", "tensorboard"] if "all" in names else list(map(str, names))
        self._accelerator, self._handle, self._step = accelerator, None, 0

    def begin(self, project_name, config):
        """Open the files."""
        if not self.kinds:
            return
        folder = self._accelerator.logging_dir
        if folder is None:
            raise ValueError("trackers need a logging folder: Accelerator(project_dir=...)")
        chosen = options("axle_tracker_options", directory=os.path.join(folder, project_name),
                         kinds=",".join(self.kinds))
        self._handle = out_pointer(track.axle_tracker_create, self._accelerator,
                                   ctypes.byref(chosen))
        if config:
            text = json.dumps(config, default=str)
            check(track.axle_tracker_config(self._handle, text.encode()))

    def log(self, values, step):
        """Write numbers; what is none is left out."""
        step = self._step if step is None else step
        self._step = step + 1
        if self._handle is None:
            return
        plain = {name: value.item() if isinstance(value, Tensor) else value
                 for name, value in values.items()}
        numbers = {name: float(value) for name, value in plain.items()
                   if isinstance(value, (bool, int, float))}
        metrics = (struct("axle_metric") * max(len(numbers), 1))()
        for metric, (name, value) in zip(metrics, numbers.items()):
            metric.name, metric.value = name.encode(), value
        check(track.axle_tracker_log(self._handle, step, metrics, len(numbers)))

    def finish(self):
        """Close the files."""
        if self._handle is not None:
            check(track.axle_tracker_finish(self._handle))
            track.axle_tracker_release(self._handle)
            self._handle = None
