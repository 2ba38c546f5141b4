#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the stubs (.pyi) of the package's public modules, from what the modules hold.

    PYTHONPATH=. AXLE_LIBRARY=FOLDER tools/describe_types.py OUTPUT_FOLDER

Parameters have the types of their names or of their defaults, results those of the tables below;
what no table tells is Any. Many functions are made by other functions, so that no tool sees their
definitions.
"""
import enum
import importlib
import inspect
import os
import sys
import types

MODULES = """axle axle.accelerator axle.autograd axle.creation axle.data axle.data.collate
axle.data.dataset axle.data.loader axle.data.sampler axle.device axle.dtypes axle.exchange
axle.launchers axle.metrics axle.nn axle.nn.functional axle.nn.init axle.nn.layers axle.nn.loss
axle.nn.module axle.nn.parameter axle.operators axle.optim axle.optim.lr_scheduler
axle.optim.optimizer axle.random axle.tensor axle.tokenization axle.tracking
axle.transformers axle.utils""".split()
HEADER = """# SPDX-License-Identifier: Apache-2.0
# Made by tools/describe_types.py; do not edit.
import builtins
import collections
import enum
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from typing_extensions import Self

"""
USED = ("axle.tensor.Tensor", "axle.device.Device", "axle.nn.module.Module",
        "axle.nn.parameter.Parameter", "axle.optim.optimizer.Optimizer",
        "axle.transformers.PreTrainedModel", "axle.transformers.PretrainedConfig",
        "axle.transformers.ModelOutput", "axle.tokenization.BatchEncoding",
        "axle.tokenization.Tokenizer", "axle.optim.lr_scheduler.LRScheduler",
        "axle.metrics.Metric")
INT, FLOAT, STR, BOOL = "builtins.int", "builtins.float", "builtins.str", "builtins.bool"
SIZES = INT + " | tuple[" + INT + ", ...]"
PARAMETERS = {
    "dtype": "_Dtype | " + STR + " | type | None", "device": "Device | " + STR + " | None",
    "dim": SIZES + " | None", "requires_grad": BOOL, "lr": FLOAT, "kernel_size": SIZES,
    "padding": SIZES + " | " + STR + " | None", "stride": SIZES + " | None", "dilation": SIZES,
    "output_padding": SIZES, "in_features": INT, "out_features": INT, "in_channels": INT,
    "out_channels": INT, "optimizer": "Optimizer", "module": "Module", "p": FLOAT,
    "num_warmup_steps": INT, "num_training_steps": INT, "num_cycles": FLOAT, "seed": INT,
    "batch_size": INT + " | None", "max_length": INT + " | None", "name": STR,
    "return_tensors": STR + " | None", "truncation": STR + " | " + BOOL + " | None",
    "save_directory": STR + " | os.PathLike[str]", "cpu": BOOL, "mixed_precision": STR + " | None",
    "betas": "tuple[" + FLOAT + ", " + FLOAT + "]", "size": "Any", "value": "Any",
    "dropout": FLOAT + " | None", "norm_type": FLOAT, "max_norm": FLOAT, "clip_value": FLOAT,
}
TENSOR = ("axle.tensor.Tensor", "axle.creation", "axle.operators", "axle.nn.functional",
          "axle.exchange")
SELF = {"train", "eval", "to", "requires_grad_", "cpu", "float", "double", "half", "apply",
        "register_parameters"}
CONTEXTS = {"accumulate", "no_sync", "autocast", "join_uneven_inputs", "main_process_first",
            "local_main_process_first", "split_between_processes"}
RESULTS = {
    "shape": "tuple[" + INT + ", ...]", "stride": "tuple[" + INT + ", ...]", "size": "Any",
    "ndim": INT, "dim": INT, "numel": INT, "dtype": "_Dtype", "device": "Device", "grad": "Any",
    "item": "Any", "tolist": "Any", "numpy": "Any", "__array__": "Any", "__len__": INT,
    "__dlpack__": "Any", "__dlpack_device__": "tuple[" + INT + ", " + INT + "]",
    "__float__": FLOAT, "__int__": INT, "__bool__": BOOL, "__index__": INT, "__hash__": INT,
    "__contains__": BOOL,
    "__repr__": STR, "__str__": STR, "__init__": "None", "__del__": "None", "__setattr__": "None",
    "__delattr__": "None", "__setitem__": "None", "__reduce__": "Any", "backward": "None",
    "register_hook": "Any", "requires_grad": BOOL, "is_leaf": BOOL, "is_contiguous": BOOL,
    "is_floating_point": BOOL, "allclose": BOOL, "equal": BOOL, "split": "builtins.list[Tensor]",
    "chunk": "builtins.list[Tensor]", "__iter__": "Iterator[Any]",
    "parameters": "builtins.list[Parameter]", "state_dict": "builtins.dict[" + STR + ", Any]",
    "get_last_lr": "builtins.list[" + FLOAT + "]", "zero_grad": "None",
    "loss": "Any", "logits": "Any", "compute": "builtins.dict[" + STR + ", " + FLOAT + "]",
    "add_batch": "None", "encode": "builtins.list[" + INT + "]", "decode": STR,
    "tokenize": "builtins.list[" + STR + "]", "batch_decode": "builtins.list[" + STR + "]",
    "save_pretrained": "None", "pad": "BatchEncoding", "is_array": BOOL, "num_labels": INT,
    "vocab_size": INT, "updates": INT, "last_epoch": INT, "epoch": INT, "num_processes": INT,
    "process_index": INT, "local_process_index": INT, "is_main_process": BOOL,
    "is_local_main_process": BOOL, "is_last_process": BOOL, "sync_gradients": BOOL,
    "end_of_dataloader": BOOL, "wait_for_everyone": "None", "notebook_launcher": "None",
    "load": "Metric",
    "step_was_skipped": BOOL, "optimizer_step_was_skipped": BOOL, "itemsize": INT,
    "manual_seed": "None", "set_epoch": "None", "skip": "None", "check_trigger": BOOL,
    "set_trigger": "None", "end_training": "None", "log": "None", "init_trackers": "None",
    "is_grad_enabled": BOOL, "current_device": "Device", "folder_of": STR,
}


def result_of(owner, name):
    if name in SELF and owner not in ("axle.tensor.Tensor", "axle.tokenization.BatchEncoding"):
        return "Self"
    if name in CONTEXTS:
        return "AbstractContextManager[Any]"
    if name.startswith("get_") and "schedule" in name:
        return "LRScheduler"
    if name == "from_pretrained":
        return {"axle.transformers.PretrainedConfig": "PretrainedConfig",
                "axle.transformers.AutoConfig": "PretrainedConfig",
                "axle.tokenization.AutoTokenizer": "Tokenizer"}.get(owner, "PreTrainedModel")
    if name == "generate":
        return "Tensor"
    if owner == "axle.operators" and name == "log":
        return "Tensor"
    if owner == "axle.tensor.Tensor" and name == "log":
        return "Tensor"
    if name in RESULTS:
        return RESULTS[name]
    return "Tensor" if owner in TENSOR else "Any"


def parameter(p):
    star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    hint = PARAMETERS.get(p.name) if not star else "Any"
    if hint is None:
        kinds = {bool: BOOL, int: INT, float: FLOAT, str: STR}
        hint = kinds.get(type(p.default), "Any")
    if p.default is None and "None" not in hint and hint != "Any":
        hint += " | None"
    return "%s%s: %s%s" % (star, p.name, hint, "" if p.default is p.empty else " = ...")


def signature(function, method):
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ("self, " if method else "") + "*args: Any, **kwargs: Any"
    parts, keyword = [], False
    for k, p in enumerate(parameters):
        if k == 0 and method:
            parts.append(p.name if p.kind is not p.VAR_POSITIONAL else "self, *%s: Any" % p.name)
            continue
        if p.kind is p.KEYWORD_ONLY and not keyword:
            keyword = True
            if not any(q.kind is q.VAR_POSITIONAL for q in parameters):
                parts.append("*")
        parts.append(parameter(p))
        if p.kind is p.POSITIONAL_ONLY and (k + 1 == len(parameters) or
                                            parameters[k + 1].kind is not p.POSITIONAL_ONLY):
            parts.append("/")
    return ", ".join(parts)


def member(owner, name, value):
    """Lines of a class's member."""
    if isinstance(value, property):
        kind = result_of(owner, name)
        lines = ["@property", "def %s(self) -> %s: ..." % (name, kind)]
        if value.fset:
            lines += ["@%s.setter" % name, "def %s(self, value: Any) -> None: ..." % name]
        return lines
    lines = []
    for kind in (classmethod, staticmethod):
        if isinstance(value, kind):
            lines, value = ["@" + kind.__name__], value.__func__
    if getattr(value, "__self__", None) is not None and inspect.ismethod(value):
        return ["%s: Callable[..., %s]" % (name, result_of(owner, name))]
    if not callable(value) or isinstance(value, type):
        kind = "Any" if value is None or not isinstance(value, (bool, int, float, str)) \
            else "builtins." + type(value).__name__
        return ["%s: %s" % (name, kind)]
    if name == "forward" and owner in ("axle.nn.module.Module", "axle.nn.module.Native"):
        return ["forward: Callable[..., Any]"]
    static = lines == ["@staticmethod"]
    line = "def %s(%s) -> %s: ..." % (name, signature(value, not static), result_of(owner, name))
    differs = name in ("__eq__", "__ne__") and owner == "axle.tensor.Tensor"
    return lines + [line + "  # type: ignore[override]" * differs]


def class_lines(module, cls):
    owner = module + "." + cls.__name__
    if issubclass(cls, enum.Enum):
        return ["class %s(str, enum.Enum):" % cls.__name__] + \
            ["    %s = %r" % (name, one.value) for name, one in cls.__members__.items()]
    bases = [b for b in cls.__bases__ if b is not object and (
        b.__module__.startswith(("axle", "builtins")) or b.__name__ == "OrderedDict")]
    names = ["builtins." + b.__name__ if b.__module__ == "builtins" else
             "collections.OrderedDict[builtins.str, Any]" if b.__name__ == "OrderedDict"
             else b.__name__ for b in bases]
    generic = {"builtins.dict": "[Any, Any]", "builtins.tuple": "[Any, ...]"}
    names = [name + generic.get(name, "") for name in names]
    lines = ["class %s%s:" % (cls.__name__, "(%s)" % ", ".join(names) if names else "")]
    for name, value in sorted(vars(cls).items()):
        dunder = name.startswith("__") and name.endswith("__")
        if name.startswith("_") and not dunder or name in (
                "__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__qualname__",
                "__firstlineno__", "__static_attributes__", "__del__", "__hash__",
                "__array_priority__", "__annotations__", "__parameters__", "__orig_bases__"):
            continue
        lines += ["    " + line for line in member(owner, name, value)]
    for name, kind in ATTRIBUTES.get(owner, {}).items():
        lines.append("    %s: %s" % (name, kind))
    return lines if len(lines) > 1 else [lines[0] + " ..."]


ATTRIBUTES = {
    "axle.accelerator.Accelerator": {"device": "Device", "gradient_state": "Any", "trackers": "Any",
                                     "project_configuration": "Any", "split_batches": BOOL},
    "axle.optim.optimizer.Optimizer": {"param_groups": "builtins.list[Any]"},
    "axle.tokenization.Tokenizer": {"model_max_length": INT, "padding_side": STR},
    "axle.data.loader.DataLoader": {"dataset": "Any", "batch_size": "Any"},
}


def stub(name):
    module = importlib.import_module(name)
    imports, body, here = [], [], set()
    for key, value in sorted(vars(module).items(), key=lambda pair: pair[0]):
        if key.startswith("_") and key != "__version__" and not (
                isinstance(value, type) and value.__module__ == name and
                value.__name__ != "_Memory" and "ctypes" not in
                value.__mro__[-2].__module__):
            continue
        home = getattr(value, "__module__", None)
        if isinstance(value, types.ModuleType):
            if value.__name__ in MODULES:
                parent, _, leaf = value.__name__.rpartition(".")
                imports.append("from %s import %s as %s" % (parent, leaf, key))
            continue
        if isinstance(value, type) and home == name and value.__name__ == key:
            body.append((value, class_lines(name, value)))
        elif isinstance(home, str) and home != name and home.startswith("axle") and \
                not type(value).__name__ == "dtype" and hasattr(value, "__name__") and \
                value.__name__ == key:
            if home in MODULES or home == "axle._library":
                imports.append("from %s import %s as %s" % (home, key, key))
        elif type(value).__name__ == "dtype":
            body.append((None, ["%s: _Dtype" % key]))
        elif isinstance(value, type) and home == name:
            body.append((None, ["%s = %s" % (key, value.__name__)]))
        elif inspect.isfunction(value) or type(value).__name__ == "partial":
            line = "def %s(%s) -> %s: ..." % (key, signature(value, False), result_of(name, key))
            body.append((None, [line]))
        elif isinstance(value, (bool, int, float, str)):
            body.append((None, ["%s: builtins.%s" % (key, type(value).__name__)]))
        here.add(key)
    body.sort(key=lambda pair: len(pair[0].__mro__) if pair[0] else 0)
    text = "\n".join(line for _, lines in body for line in lines)
    for path in USED:
        home, _, key = path.rpartition(".")
        if home != name and key in text and not any(i.endswith(" as " + key) for i in imports):
            imports.append("from %s import %s" % (home, key))
    if name == "axle.dtypes":
        text = text.replace("_Dtype", "dtype")
    elif "_Dtype" in text:
        imports.append("from axle.dtypes import dtype as _Dtype")
    if "os.PathLike" in text:
        imports.append("import os")
    bases = {b.__name__: b.__module__ for cls, _ in body if cls for b in cls.__bases__
             if b.__module__.startswith("axle") and b.__module__ != name}
    for key, home in bases.items():
        if not any(i.endswith((" import " + key, " as " + key)) for i in imports):
            imports.append("from %s import %s" % (home, key))
    return HEADER + "\n".join(sorted(set(imports))) + "\n\n" + text + "\n"


def main():
    for name in MODULES:
        module = importlib.import_module(name)
        package = os.path.basename(module.__file__) == "__init__.py"
        path = os.path.join(sys.argv[1], *name.split("."))
        path += "/__init__.pyi" if package else ".pyi"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(stub(name))


if __name__ == "__main__":
    main()
