# SPDX-License-Identifier: Apache-2.0
"""The accelerator, with the names and arguments of Hugging Face's accelerate."""
import atexit
import contextlib
import ctypes
import functools
import math
import os
import pickle
import sys
import weakref

from . import _abi, dtypes
from ._library import (callback, check, check_callbacks, lib, options, out_pointer, patiently,
                       remember)
from .data import DataLoader
from .data.collate import map_tensors
from .device import Device
from .nn import Module
from .optim import Optimizer
from .optim.lr_scheduler import LRScheduler
from .tensor import call
from .tracking import Trackers
from .utils import DistributedType, GradientAccumulationPlugin, ProjectConfiguration

_REDUCTIONS = {name: _abi.CONSTANTS["AXLE_REDUCE_" + name.upper()]
               for name in ("sum", "mean", "max", "min")}
_PRECISIONS = {"bf16": "bfloat16", "fp16": "float16"}
_living = weakref.WeakSet()


class GradientState:
    """Where the loop is."""

    def __init__(self, accelerator):
        self._accelerator = accelerator

    @property
    def sync_gradients(self):
        """Whether the batch under way ends a window."""
        return self._accelerator.sync_gradients

    @property
    def active_dataloader(self):
        """The innermost prepared loader whose loop is running."""
        running = [loader for loader in self._accelerator._dataloaders if loader._running]
        return running[-1] if running else None

    @property
    def end_of_dataloader(self):
        """Whether the batch under way is the last one."""
        loader = self.active_dataloader
        return loader is not None and loader.end_of_dataloader

    @property
    def in_dataloader(self):
        """Whether there is a loop over a prepared loader."""
        return self.active_dataloader is not None


class Accelerator:
    """One training loop on every device, for any number of processes.

        accelerator = Accelerator()
        model, optimizer, loader, scheduler = accelerator.prepare(
            model, optimizer, loader, scheduler)
        for inputs, targets in loader:
            with accelerator.accumulate(model):
                optimizer.zero_grad()
                accelerator.backward(loss_function(model(inputs), targets))
                optimizer.step()
                scheduler.step()

    The device is that of AXLE_BACKEND, or `backend`; cpu=True means the processor. What prepare()
    gets is changed in place and returned. device_placement and step_scheduler_with_optimizer are
    taken and need not be said: batches and parameters are on the device, and a schedule ticks once
    an update, whatever the number of processes.
    """

    def __init__(self, device_placement=True, split_batches=False, mixed_precision=None,
                 gradient_accumulation_steps=None, cpu=False, log_with=None, project_dir=None,
                 project_config=None, gradient_accumulation_plugin=None,
                 step_scheduler_with_optimizer=True, rng_types=None, kwargs_handlers=None,
                 dataloader_config=None, backend=None):
        plugin = gradient_accumulation_plugin or GradientAccumulationPlugin(
            gradient_accumulation_steps or 0)
        if mixed_precision is not None and mixed_precision not in ("no", *_PRECISIONS):
            raise ValueError("mixed_precision is %r; there are no, bf16 and fp16" % mixed_precision)
        chosen = options("axle_accelerator_options", accumulate=plugin.num_steps,
                         precision=mixed_precision, sync_each_batch=int(plugin.sync_each_batch),
                         backend="onednn,openblas,reference" if cpu else backend)
        self._as_parameter_ = out_pointer(lib.axle_accelerator_create, ctypes.byref(chosen))
        self.device = Device(lib.axle_accelerator_device(self))
        check(lib.axle_device_set_default(self.device))
        self.split_batches = split_batches or bool(dataloader_config and
                                                   dataloader_config.split_batches)
        self._mixed_precision = mixed_precision
        self.project_configuration = project_config or ProjectConfiguration(project_dir)
        self._models, self._optimizers, self._dataloaders = [], [], []
        self._schedulers, self._custom, self._configured = [], [], False
        self.gradient_state = GradientState(weakref.proxy(self))
        self.trackers = Trackers(weakref.proxy(self), log_with)
        _living.add(self)

    def __del__(self):
        try:
            if "_as_parameter_" in self.__dict__ and self.num_processes == 1:
                self._release()
        except (AttributeError, TypeError, ImportError):  # it was never made, or the end is near
            pass

    def _release(self):
        handle = self.__dict__.pop("_as_parameter_", None)
        lib.axle_accelerator_release(handle)

    # ---- processes

    @property
    def num_processes(self):
        """Processes of the job."""
        return lib.axle_process_count(self)

    @property
    def process_index(self):
        """Number of this one."""
        return lib.axle_process_index(self)

    @property
    def local_process_index(self):
        """Its number among those of this host."""
        return lib.axle_local_process_index(self)

    @property
    def is_main_process(self):
        """Whether it is the first one."""
        return bool(lib.axle_is_main_process(self))

    @property
    def is_local_main_process(self):
        """Whether it is the first one of this host."""
        return bool(lib.axle_is_local_main_process(self))

    @property
    def is_last_process(self):
        """Whether it is the last one."""
        return bool(lib.axle_is_last_process(self))

    @property
    def use_distributed(self):
        """Whether there are several."""
        return self.num_processes > 1

    @property
    def distributed_type(self):
        """DistributedType.NO, or MULTI_PROCESS."""
        return DistributedType.MULTI_PROCESS if self.use_distributed else DistributedType.NO

    @property
    def mixed_precision(self):
        """no, bf16 or fp16."""
        return self._mixed_precision or os.environ.get("AXLE_PRECISION") or "no"

    def print(self, *arguments, **named):
        """Print on the main process only."""
        if self.is_main_process:
            print(*arguments, **named)
            sys.stdout.flush()

    def wait_for_everyone(self):
        """Wait until all processes are here."""
        if self.num_processes > 1:
            patiently(lambda: check(lib.axle_wait_for_everyone(self)))

    def _only(self, function, condition):
        @functools.wraps(function)
        def wrapper(*arguments, **named):
            return function(*arguments, **named) if condition() else None
        return wrapper

    def on_main_process(self, function):
        """A function that the main process alone runs."""
        return self._only(function, lambda: self.is_main_process)

    def on_local_main_process(self, function):
        """A function that the first process of each host runs."""
        return self._only(function, lambda: self.is_local_main_process)

    def on_last_process(self, function):
        """A function that the last process alone runs."""
        return self._only(function, lambda: self.is_last_process)

    def on_process(self, function=None, process_index=0):
        """A function that one process alone runs."""
        if function is None:
            return functools.partial(self.on_process, process_index=process_index)
        return self._only(function, lambda: self.process_index == process_index)

    @contextlib.contextmanager
    def _first(self, local):
        patiently(lambda: check(lib.axle_main_process_first_begin(self, local)))
        try:
            yield
        finally:
            check(lib.axle_main_process_first_end(self, local))

    def main_process_first(self):
        """Where the main process goes first and the others wait."""
        return self._first(0)

    def local_main_process_first(self):
        """Where the first process of each host goes first."""
        return self._first(1)

    def _part(self, n, padded):
        """Numbers of this process's items."""
        items, out, count = (ctypes.c_int64 * max(n, 1))(*range(n)), ctypes.c_void_p(), \
            ctypes.c_int64()
        check(lib.axle_split_items(self, items, n, 8, int(padded), ctypes.byref(out),
                                   ctypes.byref(count)))
        part = list((ctypes.c_int64 * count.value).from_address(out.value)) if count.value else []
        lib.axle_free(out)
        return part

    @contextlib.contextmanager
    def split_between_processes(self, inputs, apply_padding=False):
        """This process's part of a list, tensor, text, or a dictionary of such."""
        def split(value):
            part = self._part(len(value), apply_padding)
            if isinstance(value, (list, tuple)):
                return type(value)(value[k] for k in part)
            if isinstance(value, str):
                return "".join(value[k] for k in part)
            return value[part] if part else value[:0]
        yield {key: split(value) for key, value in inputs.items()} if isinstance(inputs, dict) \
            else split(inputs)

    # ---- preparing

    def prepare(self, *objects, device_placement=None):
        """Take over modules, optimizers, loaders and schedules; the same objects come back."""
        known = [one for one in objects if isinstance(one, (Module, Optimizer, DataLoader,
                                                            LRScheduler))]
        for one in known:
            self._note(one)
        pointers = [self._handle_of(one) for one in known]
        array = (ctypes.c_void_p * (len(pointers) + 1))(*pointers, None)
        check(lib.axle_prepare_objects(self, array))
        return objects[0] if len(objects) == 1 else objects

    def prepare_model(self, model, device_placement=None, evaluation_mode=False):
        """Take over a module."""
        return self.prepare(model)

    prepare_optimizer = prepare_data_loader = prepare_scheduler = prepare_model

    def _note(self, one):
        kinds = ((Module, self._models), (Optimizer, self._optimizers),
                 (DataLoader, self._dataloaders), (LRScheduler, self._schedulers))
        known = next(known for kind, known in kinds if isinstance(one, kind))
        if any(one is other for other in known):
            return
        known.append(one)
        if isinstance(one, Module):
            name = _PRECISIONS.get(self.mixed_precision)
            one.prepared(dtypes.resolve(name).code if name else 0)
        elif isinstance(one, DataLoader):
            if self.split_batches:
                one.split_batches(self.num_processes)
            one.prepared(self.num_processes)

    @staticmethod
    def _handle_of(one):
        handle = one.handle() if isinstance(one, Module) else one
        return handle._as_parameter_

    def unwrap_model(self, model, keep_fp32_wrapper=True):
        """The model itself; prepare() wraps nothing."""
        return model

    def free_memory(self, *objects):
        """Forget what was prepared, and give memory that nothing uses back to the device."""
        for known in (self._models, self._optimizers, self._dataloaders, self._schedulers):
            known.clear()
        self.device.empty_cache()
        return tuple(None for _ in objects)

    clear = free_memory

    # ---- training

    def backward(self, loss, **named):
        """Compute gradients of a loss that is a mean over the batch's rows."""
        check_callbacks(lib.axle_backward(self, loss))

    @property
    def gradient_accumulation_steps(self):
        """Batches a window."""
        return lib.axle_accumulate_count(self)

    @property
    def sync_gradients(self):
        """Whether the batch under way ends a window."""
        return bool(lib.axle_is_update(self))

    @contextlib.contextmanager
    def accumulate(self, *models):
        """A batch of the window, for loops without a prepared loader; else it changes nothing."""
        pointers = [self._handle_of(model) for model in models]
        array = (ctypes.c_void_p * (len(pointers) + 1))(*pointers, None)
        check(lib.axle_accumulate_begin_objects(self, array))
        try:
            yield
        finally:
            check(lib.axle_accumulate_end(self))

    @contextlib.contextmanager
    def no_sync(self, model=None):
        """Where batches are accumulated on this process alone."""
        check(lib.axle_no_sync_begin(self))
        try:
            yield
        finally:
            check(lib.axle_no_sync_end(self))

    @contextlib.contextmanager
    def autocast(self, autocast_handler=None):
        """Where products are in the type of mixed_precision."""
        kind = dtypes.resolve(_PRECISIONS.get(self.mixed_precision, "float32"))
        check(lib.axle_autocast_push(kind.code))
        try:
            yield
        finally:
            lib.axle_autocast_pop()

    @contextlib.contextmanager
    def join_uneven_inputs(self, joinables, even_batches=None):
        """Where loops of processes may be of unequal length."""
        check(lib.axle_join_begin(self))
        yield
        check(lib.axle_join_end(self))

    def _optimizer_of(self, parameters):
        wanted = {one._as_parameter_ for one in parameters if one.requires_grad}
        for optimizer in self._optimizers:
            if {one._as_parameter_ for one in optimizer.parameters()
                    if one.requires_grad} == wanted:
                return optimizer
        raise ValueError("gradients are clipped for all parameters of one prepared optimizer")

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        """Scale the gradients of a prepared optimizer's parameters to that norm at most; gives the
        norm before."""
        if norm_type != 2:
            raise ValueError("the norm is the 2-norm")
        norm = ctypes.c_double()
        optimizer = self._optimizer_of(parameters)
        check(lib.axle_clip_norm(self, optimizer, float(max_norm), ctypes.byref(norm)))
        return call(lib.axle_scalar, dtypes.resolve("float32").code, norm.value)

    def clip_grad_value_(self, parameters, clip_value):
        """Clip each gradient element."""
        if self.sync_gradients:
            check(lib.axle_optimizer_clip_value(self._optimizer_of(parameters), float(clip_value)))

    @property
    def optimizer_step_was_skipped(self):
        """Whether gradients of the last update were not finite in mixed precision."""
        return bool(lib.axle_step_was_skipped(self))

    # ---- collectives

    def gather(self, value):
        """Rows of all processes, for each tensor of a structure."""
        return map_tensors(value, lambda one: call(lib.axle_accelerator_gather, self, one))

    def gather_for_metrics(self, input_data, use_gather_object=False):
        """The same for what was computed from the batch under way: each sample once. Without
        tensors, the objects in the lists of all processes."""
        found = []
        map_tensors(input_data, lambda one: found.append(one) or one)
        if found and not use_gather_object:
            return map_tensors(input_data, lambda one: call(lib.axle_gather_for_metrics, self, one))
        loader = self.gradient_state.active_dataloader
        kept = list(input_data) if loader is None or loader.weight else []
        return [one for part in self.gather_objects(kept) for one in part]

    def gather_objects(self, value):
        """A list of every process's object."""
        data = pickle.dumps(value)
        sizes, out = (ctypes.c_size_t * self.num_processes)(), ctypes.c_void_p()
        patiently(lambda: check(lib.axle_gather_objects(self, data, len(data), ctypes.byref(out),
                                                        sizes)))
        whole = ctypes.string_at(out, sum(sizes))
        lib.axle_free(out)
        ends = [sum(sizes[:k + 1]) for k in range(len(sizes))]
        return [pickle.loads(whole[end - size:end]) for size, end in zip(sizes, ends)]

    def reduce(self, tensor, reduction="sum", scale=1.0):
        """A tensor combined over all processes: sum, mean, max or min."""
        op = _REDUCTIONS[reduction]

        def combined(one):
            result = call(lib.axle_accelerator_reduce, self, one, op)
            return result if scale == 1.0 else result * scale
        return map_tensors(tensor, combined)

    def pad_across_processes(self, tensor, dim=0, pad_index=0, pad_first=False):
        """Pad a dim to the longest of all processes."""
        return map_tensors(tensor, lambda one: call(lib.axle_pad_across_processes, self, one, dim,
                                                    float(pad_index), int(pad_first)))

    def set_trigger(self):
        """Set a flag that all processes see at their next check_trigger()."""
        lib.axle_set_trigger(self)

    def check_trigger(self):
        """Whether any process set the flag, which is reset."""
        out = ctypes.c_int()
        check(lib.axle_check_trigger(self, ctypes.byref(out)))
        return bool(out.value)

    # ---- checkpoints

    def _configure(self):
        config = self.project_configuration
        if not self._configured and config.project_dir:
            chosen = options("axle_checkpoint_options", keep=config.total_limit or 0,
                             directory=os.path.join(config.project_dir, "checkpoints"))
            check(lib.axle_checkpoint_configure(self, ctypes.byref(chosen)))
            self._configured = True

    def save_state(self, output_dir=None, safe_serialization=True):
        """Save the state of all that was prepared and registered; without a folder, to a new one
        in project_dir/checkpoints. Gives the folder."""
        if output_dir is None:
            self._configure()
        check_callbacks(lib.axle_save_state(self, _path(output_dir)))
        if output_dir is not None:
            return str(output_dir)
        return self._latest()

    def _latest(self):
        from ._library import take_text
        folder = os.path.join(self.project_configuration.project_dir, "checkpoints")
        found = out_pointer(lib.axle_latest_checkpoint, folder.encode()) \
            if self.is_main_process else None
        return take_text(found) if found else None

    def load_state(self, input_dir=None):
        """Load it back; without a folder, the newest one."""
        if input_dir is None:
            self._configure()
        check_callbacks(lib.axle_load_state(self, _path(input_dir)))

    def register_for_checkpointing(self, *objects):
        """Let save_state() hold objects with state_dict() and load_state_dict()."""
        wrong = [one for one in objects
                 if not hasattr(one, "state_dict") or not hasattr(one, "load_state_dict")]
        if wrong:
            raise ValueError("no state_dict() and load_state_dict(): %s" % wrong)
        for one in objects:
            callbacks = _state_callbacks(one)
            self._custom.append((one, callbacks))
            check(lib.axle_register_state(self, b"object_%d" % (len(self._custom) - 1),
                                          ctypes.byref(callbacks), None))

    def save_model(self, model, save_directory, max_shard_size="10GB", safe_serialization=True):
        """Write a model's parameters as safetensors files."""
        chosen = options("axle_model_file_options", shard_size=_bytes(max_shard_size))
        check(lib.axle_save_model(self, self._handle_of(model), _path(save_directory),
                                  ctypes.byref(chosen)))

    def get_state_dict(self, model, unwrap=True):
        """The model's state."""
        return model.state_dict()

    def save(self, obj, f, safe_serialization=False):
        """Pickle an object to a file, on the main process."""
        if self.is_main_process:
            with open(f, "wb") as file:
                pickle.dump(obj, file)

    def skip_first_batches(self, dataloader, num_batches=0):
        """The loader, whose next loop begins after that many batches."""
        dataloader.skip(num_batches)
        return dataloader

    # ---- tracking

    @property
    def project_dir(self):
        """Where the project's files go."""
        return self.project_configuration.project_dir

    @property
    def logging_dir(self):
        """Where logs go."""
        return self.project_configuration.logging_dir

    def init_trackers(self, project_name, config=None, init_kwargs=None):
        """Begin a run of the trackers that log_with names."""
        self.trackers.begin(project_name, config)

    def log(self, values, step=None, log_kwargs=None):
        """Log numbers by name."""
        self.trackers.log(values, step)

    def end_training(self):
        """Finish trackers, and leave the job in order."""
        self.trackers.finish()
        check(lib.axle_end_training(self))

    def __repr__(self):
        return "Accelerator(process %d of %d on %s)" % (self.process_index, self.num_processes,
                                                        self.device.type)


def _path(path):
    return None if path is None else os.fspath(path).encode()


def _bytes(size):
    """10GB as a number."""
    if isinstance(size, int):
        return size
    units = {"KB": 10 ** 3, "MB": 10 ** 6, "GB": 10 ** 9, "KIB": 2 ** 10, "MIB": 2 ** 20,
             "GIB": 2 ** 30}
    text = size.upper().strip()
    unit = max((u for u in units if text.endswith(u)), key=len, default=None)
    return math.floor(float(text[:-len(unit)]) * units[unit]) if unit else int(text)


def _state_callbacks(one):
    """How the C library saves and loads an object."""
    def save(writer, _):
        try:
            data = pickle.dumps(one.state_dict())
            return lib.axle_state_write(writer, data, len(data))
        except BaseException as error:  # noqa: B902 - it is raised again where C returns
            return remember(error)

    def load(data, size, _):
        try:
            one.load_state_dict(pickle.loads(ctypes.string_at(data, size)))
            return 0
        except BaseException as error:  # noqa: B902 - it is raised again where C returns
            return remember(error)
    chosen = options("axle_state_callbacks")
    save = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(save)
    load = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)(load)
    chosen.save = ctypes.cast(save, ctypes.c_void_p)
    chosen.load = ctypes.cast(load, ctypes.c_void_p)
    chosen.functions = (save, load)
    return chosen


def current():
    """The accelerator that was made last; a new one where there is none."""
    living = [one for one in _living if "_as_parameter_" in one.__dict__]
    return living[-1] if living else Accelerator()


@atexit.register
def _leave():
    """Leave the job in order, unless the program failed."""
    if not hasattr(sys, "last_type"):
        for accelerator in list(_living):
            accelerator._release()


