# SPDX-License-Identifier: Apache-2.0
"""Pretrained language models and their schedules, with the names of Hugging Face's transformers."""
import collections
import ctypes
import os

from ._library import check, failure, lib, models, options, out_pointer, patiently, take_text
from .creation import tensor as _tensor
from .nn.module import Handle, Native
from .optim.lr_scheduler import LRScheduler
from .tensor import Tensor, borrow
from .tokenization import (AutoTokenizer, BatchEncoding, DataCollatorWithPadding,  # noqa: F401
                           Tokenizer, default_data_collator)
from .utils import set_seed  # noqa: F401 - transformers has it, too


# ---------------------------------------------------------------------- results

class ModelOutput(collections.OrderedDict):
    """A result with named parts: output.loss, output["loss"], output[0]."""

    def __getattr__(self, name):
        try:
            return super().__getitem__(name)
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, key):
        return super().__getitem__(key) if isinstance(key, str) else self.to_tuple()[key]

    def to_tuple(self):
        """The parts."""
        return tuple(self.values())


# ---------------------------------------------------------------------- configurations

class PretrainedConfig:
    """What config.json says, by key."""

    def __init__(self, handle):
        self.__dict__["_as_parameter_"] = handle

    def __del__(self):
        try:
            models.axle_transformer_config_release(self)
        except (AttributeError, TypeError):  # the interpreter ends
            pass

    @classmethod
    def from_pretrained(cls, name):
        """Read that of a folder or a model's name."""
        return cls(out_pointer(models.axle_transformer_config_read, folder_of(name).encode()))

    def save_pretrained(self, folder):
        """Write config.json."""
        os.makedirs(folder, exist_ok=True)
        check(models.axle_transformer_config_write(self, os.fspath(folder).encode()))

    @property
    def model_type(self):
        """bert, distilbert ..."""
        return models.axle_transformer_config_model_type(self).decode()

    @property
    def num_labels(self):
        """Number of labels."""
        return models.axle_transformer_config_label_count(self)

    @property
    def id2label(self):
        """Names of labels by number."""
        names = (models.axle_transformer_config_label(self, k) for k in range(self.num_labels))
        return {k: name.decode() for k, name in enumerate(names) if name is not None}

    @property
    def label2id(self):
        """Numbers of labels by name."""
        return {name: k for k, name in self.id2label.items()}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        text = models.axle_transformer_config_get_string(self, name.encode())
        if text is not None:
            return text.decode()
        for kind, ctype in (("int", ctypes.c_int64), ("double", ctypes.c_double)):
            value = ctype()
            function = getattr(models, "axle_transformer_config_get_" + kind)
            if function(self, name.encode(), ctypes.byref(value)) == 0:
                return value.value
            lib.axle_error_clear()  # it may be there as another type
        raise AttributeError("the configuration has no %r" % name)

    def __setattr__(self, name, value):
        if name == "num_labels":
            check(models.axle_transformer_config_set_labels(self, None, value))
        elif name == "id2label":
            names = [value[k].encode() for k in sorted(value)]
            check(models.axle_transformer_config_set_labels(
                self, (ctypes.c_char_p * len(names))(*names), len(names)))
        elif value is None or isinstance(value, str):
            check(models.axle_transformer_config_set_string(
                self, name.encode(), None if value is None else value.encode()))
        else:
            kind = {bool: "bool", int: "int"}.get(type(value), "double")
            setter = getattr(models, "axle_transformer_config_set_" + kind)
            check(setter(self, name.encode(), value))


class AutoConfig:
    """Configurations."""

    from_pretrained = PretrainedConfig.from_pretrained

    @staticmethod
    def for_model(model_type, **values):
        """The defaults of a type, and other values."""
        config = PretrainedConfig(out_pointer(models.axle_transformer_config_create,
                                              model_type.encode()))
        for name, value in values.items():
            setattr(config, name, value)
        return config


def folder_of(name):
    """The folder of a model's files, which may be downloaded."""
    name = os.fspath(name)
    if os.path.isdir(name):
        return name
    return take_text(patiently(out_pointer, models.axle_hub_resolve, name.encode(), None))


# ---------------------------------------------------------------------- models

class PreTrainedModel(Native):
    """A language model; results have `logits`, and with `labels` a `loss`."""

    def __init__(self, handle, return_dict=True):
        super().__init__()
        object.__setattr__(self, "_model", _ModelHandle(handle))
        object.__setattr__(self, "return_dict", return_dict)
        self._adopt(lib.axle_module_retain(lib.axle_model_module(handle)))

    def handle(self):
        return self._model

    @property
    def config(self):
        """The model's configuration."""
        handle = models.axle_transformer_config_of(self._model)
        return PretrainedConfig(models.axle_transformer_config_retain(handle))

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, labels=None,
                return_dict=None, **fields):
        """`input_ids` may also be a dictionary of inputs."""
        given = dict(input_ids) if hasattr(input_ids, "keys") else {"input_ids": input_ids}
        given.update(attention_mask=attention_mask, token_type_ids=token_type_ids, labels=labels,
                     **fields)
        output = self._run({name: value for name, value in given.items() if value is not None})
        wanted = self.return_dict if return_dict is None else return_dict
        return output if wanted else output.to_tuple()

    def _run(self, fields):
        batch = _Batch()
        for name, value in fields.items():
            if not isinstance(value, Tensor):
                raise TypeError("%s is a %s, not a tensor" % (name, type(value).__name__))
            check(lib.axle_batch_set(batch, name.encode(), value))
        check(lib.axle_scope_push())
        made = lib.axle_model_forward(self._model, batch)
        output = ModelOutput((name, borrow(handle)) for name, handle in
                             (("loss", made.loss), ("logits", made.logits)) if handle)
        lib.axle_scope_pop()
        if not made.logits:
            raise failure()
        return output

    def generate(self, input_ids, max_new_tokens=20, do_sample=False, temperature=1.0, top_k=None,
                 top_p=1.0, eos_token_id=None, seed=0):
        """Continue the tokens of (1, T): the likeliest ones, or drawn ones, equal for equal seeds.
        Of a model for the next token; eos_token_id -1 goes on behind the one that ends texts."""
        beginning = input_ids.tolist()
        if len(beginning) != 1:
            raise ValueError("generate takes one row, not %d" % len(beginning))
        begin = (ctypes.c_int64 * len(beginning[0]))(*beginning[0])
        chosen = options("axle_generate_options", max_new_tokens=max_new_tokens,
                         sample=int(do_sample), temperature=temperature, top_k=top_k or 0,
                         top_p=top_p, seed=seed)
        if eos_token_id is not None:
            chosen.end = eos_token_id if eos_token_id >= 0 else -2
        ids, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_int64()
        check(models.axle_transformer_generate(self._model, begin, len(begin),
                                               ctypes.byref(chosen), ctypes.byref(ids),
                                               ctypes.byref(count)))
        new = ids[:count.value]
        lib.axle_free(ids)
        return _tensor([beginning[0] + new], dtype="int64", device=input_ids.device)

    def save_pretrained(self, folder, max_shard_size=None, is_main_process=True):
        """Write config.json and model.safetensors, which transformers reads, too."""
        if is_main_process:
            check(models.axle_transformer_save_pretrained(self._model, os.fspath(folder).encode(),
                                                          None))


class _ModelHandle(Handle):
    def __del__(self):
        try:
            lib.axle_model_release(self._as_parameter_)
        except (AttributeError, TypeError):  # the interpreter ends
            pass


class _Batch(Handle):
    def __init__(self):
        super().__init__(out_pointer(lib.axle_batch_create))

    def __del__(self):
        try:
            lib.axle_batch_release(self._as_parameter_)
        except (AttributeError, TypeError):  # the interpreter ends
            pass


class _AutoModel:
    task = "base"

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, num_labels=None, id2label=None,
                        label2id=None, problem_type=None, return_dict=True, dropout=None,
                        ignore_mismatched_sizes=False):
        """The model of a folder, or of a name. As with transformers it is in evaluation mode:
        model.train() turns dropout on. `dropout` overrides all its probabilities."""
        names = [id2label[k].encode() for k in sorted(id2label)] if id2label else []
        chosen = options("axle_pretrained_options", problem_type=problem_type, dropout=dropout,
                         num_labels=len(names) or num_labels,
                         ignore_mismatched_sizes=int(ignore_mismatched_sizes))
        if names:
            array = (ctypes.c_char_p * len(names))(*names)
            chosen.labels = ctypes.cast(array, ctypes.c_void_p)
        folder = folder_of(pretrained_model_name_or_path)
        handle = out_pointer(models.axle_transformer_from_pretrained, folder.encode(),
                             cls.task.encode(), ctypes.byref(chosen))
        return PreTrainedModel(handle, return_dict).eval()

    @classmethod
    def from_config(cls, config, return_dict=True):
        """A model with random parameters."""
        return PreTrainedModel(out_pointer(models.axle_transformer_create, config,
                                           cls.task.encode()), return_dict)


class AutoModel(_AutoModel):
    """What the last layer gives."""


class AutoModelForSequenceClassification(_AutoModel):
    """One label a text, or numbers."""

    task = "sequence-classification"


class AutoModelForTokenClassification(_AutoModel):
    """A label a token."""

    task = "token-classification"


class AutoModelForMaskedLM(_AutoModel):
    """Which tokens were masked."""

    task = "masked-lm"


class AutoModelForCausalLM(_AutoModel):
    """Which token comes next."""

    task = "causal-lm"


# ---------------------------------------------------------------------- schedules

def get_constant_schedule(optimizer):
    """The initial rates."""
    return LRScheduler(optimizer, "axle_constant_schedule_create", 0)


def get_constant_schedule_with_warmup(optimizer, num_warmup_steps):
    """From 0 up to the initial rates."""
    return LRScheduler(optimizer, "axle_constant_schedule_create", num_warmup_steps)


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    """From 0 up to the initial rates and down to 0."""
    return LRScheduler(optimizer, "axle_linear_schedule_create", num_warmup_steps,
                       num_training_steps)


def get_cosine_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps,
                                    num_cycles=0.5):
    """The same, down along a cosine."""
    return LRScheduler(optimizer, "axle_cosine_schedule_create", num_warmup_steps,
                       num_training_steps, float(num_cycles))


def get_cosine_with_hard_restarts_schedule_with_warmup(optimizer, num_warmup_steps,
                                                       num_training_steps, num_cycles=1):
    """The same, several times."""
    return LRScheduler(optimizer, "axle_cosine_restarts_schedule_create", num_warmup_steps,
                       num_training_steps, num_cycles)


def get_polynomial_decay_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps,
                                              lr_end=1e-7, power=1.0):
    """From 0 up to the initial rates and down to lr_end."""
    return LRScheduler(optimizer, "axle_polynomial_schedule_create", num_warmup_steps,
                       num_training_steps, float(power), lr_end / optimizer.param_groups[0]["lr"])


_SCHEDULES = {
    "linear": get_linear_schedule_with_warmup, "cosine": get_cosine_schedule_with_warmup,
    "cosine_with_restarts": get_cosine_with_hard_restarts_schedule_with_warmup,
    "polynomial": get_polynomial_decay_schedule_with_warmup,
}


def get_scheduler(name, optimizer, num_warmup_steps=0, num_training_steps=None):
    """A schedule by name."""
    if name == "constant":
        return get_constant_schedule(optimizer)
    if name == "constant_with_warmup":
        return get_constant_schedule_with_warmup(optimizer, num_warmup_steps)
    if name not in _SCHEDULES:
        raise ValueError("%r is no schedule; there are constant, constant_with_warmup, %s"
                         % (name, ", ".join(_SCHEDULES)))
    return _SCHEDULES[name](optimizer, num_warmup_steps, num_training_steps)
