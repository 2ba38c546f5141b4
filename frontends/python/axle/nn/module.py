# SPDX-License-Identifier: Apache-2.0
"""Modules: trees of layers with named parameters.

A module has a twin in the C library, which optimizers, prepare() and checkpoints work on. That of a
layer of ours is the layer itself; that of a module written in Python is made of its attributes when
it is first wanted.
"""
import collections
import ctypes

from .. import dtypes
from .._library import callback, check, lib, options, out_pointer, struct
from ..autograd import no_grad
from ..creation import as_tensor
from ..device import Device
from ..tensor import Tensor, borrow, call
from .parameter import Parameter, adopt

LoadResult = collections.namedtuple("LoadResult", "missing_keys unexpected_keys")

_CLASS = options("axle_module_class", name="python",
                 instance_size=ctypes.sizeof(struct("axle_module")))


class Handle:
    """A reference to a C module."""

    __slots__ = ("_as_parameter_",)

    def __init__(self, handle):
        self._as_parameter_ = handle

    def __del__(self):
        try:
            lib.axle_module_release(self._as_parameter_)
        except (AttributeError, TypeError):  # the interpreter ends
            pass


def visit(function, handle):
    """(path, tensor) pairs that one of the C library's walks gives."""
    found = []

    @callback("axle_tensor_visit_fn")
    def note(path, tensor, _):
        found.append((path.decode(), tensor))
        return 0
    check(function(handle, note, None))
    return found


class Module:
    """What all layers are; subclass it, make layers and parameters attributes, define forward().

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(784, 32)
                self.head = nn.Linear(32, 10)

            def forward(self, x):
                return self.head(self.body(x).relu())
    """

    training = True
    _twin = None      # its Handle
    _native = False   # whether the twin computes
    _precision = 0    # element type of products, where mixed precision was prepared
    _prepared = False

    def __init__(self):
        for name in ("_parameters", "_buffers", "_modules"):
            self.__dict__[name] = {}
        self.__dict__["_transient"] = set()  # buffers that are not saved

    # ---- attributes

    def __setattr__(self, name, value):
        members = self.__dict__
        if "_modules" not in members:
            if isinstance(value, (Parameter, Module)):
                raise AttributeError("call super().__init__() before setting modules or parameters")
            object.__setattr__(self, name, value)
            return
        if isinstance(value, Parameter):
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self.add_module(name, value)
        elif name in members["_buffers"] or name in members["_parameters"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError("%r is a tensor of the module, not a %s" % (name, type(value)))
            if name in members["_parameters"] and value is not None:
                raise TypeError("%r is a parameter; assign an nn.Parameter" % name)
            self._change()
            members["_buffers" if name in members["_buffers"] else "_parameters"][name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        members = self.__dict__
        for kind in ("_modules", "_parameters", "_buffers"):
            if name in members.get(kind, ()):
                return members[kind][name]
        raise AttributeError("%r has no attribute %r" % (type(self).__name__, name))

    def __delattr__(self, name):
        for kind in ("_modules", "_parameters", "_buffers"):
            if name in self.__dict__[kind]:
                self._change()
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def _change(self):
        """What is registered is about to change."""
        if self._native:
            raise AttributeError("tensors of a %s stay; overwrite them with copy_()"
                                 % type(self).__name__)
        if self._prepared:
            raise RuntimeError("a module that was prepared keeps its modules and parameters")

    def register_parameter(self, name, parameter):
        """Add a parameter; None keeps the name free."""
        self._register("_parameters", name, parameter)

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that is saved (if persistent), but not trained."""
        self._register("_buffers", name, tensor)
        (self._transient.discard if persistent else self._transient.add)(name)

    def add_module(self, name, module):
        """Add a child."""
        self._register("_modules", name, module)

    def _register(self, kind, name, value):
        if not name or "." in name:
            raise KeyError("%r is no name of a member" % name)
        self._change()
        self.__dict__.pop(name, None)
        for other in ("_parameters", "_buffers", "_modules"):
            if other != kind:
                self.__dict__[other].pop(name, None)
        self.__dict__[kind][name] = value

    # ---- computing

    def forward(self, *arguments, **named):
        """Compute the result; subclasses define it."""
        raise NotImplementedError("%s has no forward()" % type(self).__name__)

    def __call__(self, *arguments, **named):
        if not self._precision or lib.axle_autocast_dtype() != dtypes.resolve("float32").code:
            return self.forward(*arguments, **named)
        check(lib.axle_autocast_push(self._precision))
        try:
            return _widen(self.forward(*arguments, **named))
        finally:
            lib.axle_autocast_pop()

    # ---- walking

    def named_children(self):
        """(name, child) pairs."""
        return ((name, child) for name, child in self._modules.items() if child is not None)

    def children(self):
        """Modules one level below."""
        return (child for _, child in self.named_children())

    def named_modules(self, prefix="", memo=None):
        """(path, module) pairs of the tree, each module once, this one first."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, child in self.named_children():
            yield from child.named_modules(prefix + "." + name if prefix else name, memo)

    def modules(self):
        """Modules of the tree."""
        return (module for _, module in self.named_modules())

    def _named_tensors(self, kind, prefix, once):
        seen = set()
        walk = self.named_modules(prefix) if once else self._all_paths(prefix)
        for path, module in walk:
            for name, tensor in module.__dict__[kind].items():
                if tensor is None or once and tensor._as_parameter_ in seen:
                    continue
                seen.add(tensor._as_parameter_)
                yield (path + "." + name if path else name), tensor

    def _all_paths(self, prefix):
        yield prefix, self
        for name, child in self.named_children():
            yield from child._all_paths(prefix + "." + name if prefix else name)

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, parameter) pairs, a tied one once."""
        if recurse:
            return self._named_tensors("_parameters", prefix, remove_duplicate)
        return ((name, p) for name, p in self._parameters.items() if p is not None)

    def parameters(self, recurse=True):
        """Parameters of the tree."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, buffer) pairs."""
        if recurse:
            return self._named_tensors("_buffers", prefix, remove_duplicate)
        return ((name, b) for name, b in self._buffers.items() if b is not None)

    def buffers(self, recurse=True):
        """Buffers of the tree."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, path):
        """The module of that path."""
        module = self
        for name in path.split(".") if path else ():
            module = getattr(module, name)
        return module

    def apply(self, function):
        """Call a function with each module of the tree, children first."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    # ---- state

    def state_dict(self):
        """All parameters and saved buffers by path; they share memory with the module."""
        state = collections.OrderedDict()
        for path, module in self._all_paths(""):
            for kind in ("_parameters", "_buffers"):
                for name, tensor in module.__dict__[kind].items():
                    if tensor is not None and name not in module._transient:
                        state[path + "." + name if path else name] = tensor.detach()
        return state

    def load_state_dict(self, state_dict, strict=True):
        """Overwrite parameters and buffers by path; nothing changes where shapes do not fit."""
        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        wrong = ["%s: %s instead of %s" % (name, tuple(state_dict[name].shape), tensor.shape)
                 for name, tensor in own.items()
                 if name in state_dict and tuple(state_dict[name].shape) != tensor.shape]
        if wrong or strict and (missing or unexpected):
            raise RuntimeError("the state does not fit: missing %s; unexpected %s; shapes %s"
                               % (missing, unexpected, wrong))
        for name, tensor in own.items():
            if name in state_dict:
                tensor.copy_(as_tensor(state_dict[name]))
        return LoadResult(missing, unexpected)

    def train(self, mode=True):
        """Set training mode, or with False evaluation mode."""
        for module in self.modules():
            object.__setattr__(module, "training", bool(mode))
            if module._native:
                lib.axle_module_train(module._twin, int(mode))
        return self

    def eval(self):
        """Set evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Freeze or thaw all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forget the gradients."""
        for parameter in self.parameters():
            parameter.grad = None

    def to(self, *targets, dtype=None, device=None):
        """Move parameters and buffers to a device, or change the type of those that are floats."""
        for target in targets:
            named = isinstance(target, str) and target in dtypes.__all__
            if named or isinstance(target, dtypes.dtype):
                dtype = target
            else:
                device = target
        if device is not None:
            check(lib.axle_module_to_device(self.twin(), Device(device)))
        if dtype is not None:
            check(lib.axle_module_to_dtype(self.twin(), dtypes.resolve(dtype).code))
        return self

    def cpu(self):
        return self.to("cpu")

    def float(self):
        return self.to(dtype="float32")

    def double(self):
        return self.to(dtype="float64")

    # ---- the twin

    def twin(self):
        """The Handle of the C module."""
        if self._native or self._prepared:
            return self._twin
        twin = Handle(out_pointer(lib.axle_module_new, ctypes.byref(_CLASS)))
        for name, parameter in self.named_parameters(recurse=False):
            wanted = parameter.requires_grad
            check(lib.axle_module_add_parameter(twin, name.encode(),
                                                lib.axle_tensor_retain(parameter)))
            parameter.requires_grad = wanted
        for name, buffer in self.named_buffers(recurse=False):
            check(lib.axle_module_add_buffer(twin, name.encode(), lib.axle_tensor_retain(buffer)))
        for name, child in self.named_children():
            check(lib.axle_module_add_child(twin, name.encode(),
                                            lib.axle_module_retain(child.twin())))
        object.__setattr__(self, "_twin", twin)
        return twin

    def handle(self):
        """What the C library's prepare() and checkpoints take."""
        return self.twin()

    def prepared(self, precision=0):
        """Note that an accelerator works on the twin from now on."""
        self.twin()
        for module in self.modules():
            object.__setattr__(module, "_prepared", True)
        object.__setattr__(self, "_precision", precision)

    def extra_repr(self):
        """What stands between the parentheses of a layer's text."""
        return ""

    def __repr__(self):
        lines = ["(%s): %s" % (name, "\n  ".join(repr(child).split("\n")))
                 for name, child in self.named_children()]
        inside = "\n  ".join([self.extra_repr()] * bool(self.extra_repr()) + lines)
        return "%s(%s)" % (type(self).__name__, "\n  " + inside + "\n" if lines else inside)


class Native(Module):
    """A layer of the C library."""

    def _adopt(self, handle):
        """Take over a C module, with names of its tensors as attributes."""
        object.__setattr__(self, "_twin", Handle(handle))
        object.__setattr__(self, "_native", True)
        self._read_tensors()
        return self

    def _read_tensors(self):
        for path, tensor in visit(lib.axle_module_each_parameter_name, self._twin):
            self._parameters[path] = adopt(tensor)
        for path, tensor in visit(lib.axle_module_each_buffer, self._twin):
            self._buffers[path] = borrow(tensor)

    def _make(self, function, *arguments):
        return self._adopt(out_pointer(function, *arguments))

    def __call__(self, *arguments, **named):
        return self.forward(*arguments, **named)

    def forward(self, x):
        return call(lib.axle_module_forward, self._twin, x)


def _widen(value):
    """Halves in a result become float32."""
    if isinstance(value, Tensor):
        return value.float() if value.dtype.name in ("float16", "bfloat16") else value
    if isinstance(value, dict):
        return type(value)((key, _widen(item)) for key, item in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_widen, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(_widen, value))
    return value


__all__ = ["Module", "Parameter", "no_grad"]
