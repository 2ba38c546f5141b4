# SPDX-License-Identifier: Apache-2.0
"""Metrics of classifiers and regressions, with the calls of Hugging Face's evaluate."""
import ctypes

from . import _abi
from ._library import check, models, out_pointer
from .creation import as_tensor, eye

#: What evaluate's names mean: kind, labels, and which values.
_GLUE = {"cola": ("CLASSES", 2, ("matthews",)), "stsb": ("NUMBERS", 1, ("pearson", "spearman")),
         "mrpc": ("CLASSES", 2, ("accuracy", "f1")), "qqp": ("CLASSES", 2, ("accuracy", "f1")),
         "mnli": ("CLASSES", 3, ("accuracy",))}
_NAMES = {"matthews": "matthews_correlation", "spearman": "spearmanr"}


class Metric:
    """Values over the rows that were added."""

    _as_parameter_ = None

    def __init__(self, kind, num_labels, values=None):
        self._kind, self._labels = kind, num_labels
        self._as_parameter_ = out_pointer(models.axle_metrics_create,
                                          _abi.CONSTANTS["AXLE_METRICS_" + kind], num_labels)
        self._values = values or tuple(self._names())

    def __del__(self):
        try:
            models.axle_metrics_release(self)
        except (AttributeError, TypeError):  # it was never made, or the interpreter ends
            pass

    def _names(self):
        names = ctypes.cast(models.axle_metrics_names(self), ctypes.POINTER(ctypes.c_char_p))
        k = 0
        while names[k]:
            yield names[k].decode()
            k += 1

    def add_batch(self, *, predictions, references):
        """Add rows. Predictions are classes (N), or logits (N, labels); references are classes."""
        predictions, references = as_tensor(predictions), as_tensor(references)
        if self._kind == "CLASSES" and predictions.ndim == 1:
            predictions = eye(self._labels)[predictions.long()]
        check(models.axle_metrics_add(self, predictions, references))

    def compute(self, *, predictions=None, references=None):
        """The values by name; the rows are forgotten."""
        if predictions is not None:
            self.add_batch(predictions=predictions, references=references)
        result = {}
        for name in self._values:
            out = ctypes.c_double()
            check(models.axle_metrics_value(self, name.encode(), ctypes.byref(out)))
            result[_NAMES.get(name, name)] = out.value
        models.axle_metrics_reset(self)
        return result


def load(path, config_name=None, num_labels=2):
    """The metric of a name: load("glue", "mrpc"), load("accuracy"), load("f1", num_labels=5)."""
    if path == "glue":
        return Metric(*_GLUE.get(config_name, ("CLASSES", 2, ("accuracy",))))
    kind = "NUMBERS" if path in ("pearson", "spearman", "mse", "mae") else "CLASSES"
    metric = Metric(kind, num_labels if kind == "CLASSES" else 1)
    if path not in metric._values:
        raise ValueError("there is no metric %r; there are %s" % (path, ", ".join(metric._values)))
    metric._values = (path,)
    return metric
