# SPDX-License-Identifier: Apache-2.0
"""Gradients: switches, hooks, and functions with derivatives of one's own."""
import contextlib
import ctypes
import itertools

from ._library import callback, check, lib, options, remember
from .tensor import Tensor, borrow, handles, wrap


class no_grad(contextlib.ContextDecorator):
    """Where nothing is recorded: `with no_grad():`, or a decorator."""

    def __enter__(self):
        lib.axle_no_grad_push()
        return self

    def __exit__(self, *_):
        lib.axle_no_grad_pop()


inference_mode = no_grad


def is_grad_enabled():
    """Whether this thread records."""
    return bool(lib.axle_grad_enabled())


#: What C functions get to name Python objects: number -> object.
_objects = {}
_numbers = itertools.count(1)


def _remember_object(value):
    number = next(_numbers)
    _objects[number] = value
    return number


def _hand_over(tensor):
    """Put a tensor into the current scope, as C's callbacks return them."""
    own = lib.axle_detach(tensor)
    return own


# ---------------------------------------------------------------------- hooks

@callback("axle_grad_fn")
def _call_hook(grad, number):
    try:
        result = _objects[number](borrow(grad))
        return _hand_over(result) if result is not None else None
    except BaseException as error:  # noqa: B902 - it is raised again where C returns
        remember(error)
        return None


class HookHandle:
    """What removes a hook."""

    def __init__(self, tensor, number, handle):
        self._tensor, self._number, self._handle = tensor, number, handle

    def remove(self):
        """Call the function no more."""
        if self._handle:
            lib.axle_hook_remove(self._handle)
            _objects.pop(self._number, None)
            self._handle = None


def add_hook(tensor, hook):
    """See Tensor.register_hook()."""
    number, out = _remember_object(hook), ctypes.c_void_p()
    check(lib.axle_tensor_add_hook(tensor, _call_hook, number, ctypes.byref(out)))
    return HookHandle(tensor, number, out.value)


# ---------------------------------------------------------------------- functions of one's own

class Context:
    """What forward leaves for backward; other attributes are free to use."""

    def __init__(self):
        self.saved_tensors = ()
        self.needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Keep tensors."""
        self.saved_tensors = tensors


class _Call:
    """One application of a Function."""

    def __init__(self, function, arguments):
        self.function, self.arguments = function, arguments
        self.places = [k for k, a in enumerate(arguments) if isinstance(a, Tensor)]
        self.context, self.single = Context(), True

    def forward(self, inputs, n_out):
        arguments = list(self.arguments)
        for place, handle in zip(self.places, inputs):
            arguments[place] = borrow(handle)
        self.context.needs_input_grad = tuple(
            isinstance(a, Tensor) and a.requires_grad for a in self.arguments)
        results = self.function.forward(self.context, *arguments)
        self.arguments = ()
        self.single = not isinstance(results, tuple)
        results = (results,) if self.single else results
        if len(results) != n_out:
            raise ValueError("%s.forward gave %d results; set its class attribute `outputs`"
                             % (self.function.__name__, len(results)))
        return results

    def backward(self, grads, n_in):
        results = self.function.backward(self.context, *grads)
        results = results if isinstance(results, tuple) else (results,)
        chosen = [results[place] if place < len(results) else None for place in self.places]
        return chosen[:n_in]


def _pointers(address, n):
    return (ctypes.c_void_p * n).from_address(address) if n else ()


def _run(context, address_in, n_in, address_out, n_out, work):
    try:
        call = _objects[lib.axle_function_user(context)]
        results = work(call, _pointers(address_in, n_in))
        out = _pointers(address_out, n_out)
        for k, result in enumerate(results):
            out[k] = _hand_over(result) if result is not None else None
        return 0
    except BaseException as error:  # noqa: B902 - it is raised again where C returns
        return remember(error)


_pass = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
                         ctypes.c_void_p, ctypes.c_int)


@_pass
def _forward(context, inputs, n_in, outputs, n_out):
    return _run(context, inputs, n_in, outputs, n_out,
                lambda call, given: call.forward(given, n_out))


@_pass
def _backward(context, grads, n_out, results, n_in):
    return _run(context, grads, n_out, results, n_in,
                lambda call, given: call.backward([borrow(g) for g in given], n_in))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _destroy(number):
    _objects.pop(number, None)


class Function:
    """An operator with its own derivative:

        class Cube(axle.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x * x

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return grad * 3 * x * x

        y = Cube.apply(x)

    Where forward gives several results, the class attribute `outputs` says how many.
    """

    outputs = 1

    @staticmethod
    def forward(ctx, *arguments):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError

    @classmethod
    def apply(cls, *arguments):
        """Compute it; tensors among the arguments get gradients."""
        call = _Call(cls, arguments)
        inputs = [arguments[place] for place in call.places]
        description = options("axle_function", name=cls.__name__,
                              forward=ctypes.cast(_forward, ctypes.c_void_p),
                              backward=ctypes.cast(_backward, ctypes.c_void_p),
                              destroy=ctypes.cast(_destroy, ctypes.c_void_p))
        results = (ctypes.c_void_p * cls.outputs)()
        check(lib.axle_scope_push())
        code = lib.axle_function_apply(ctypes.byref(description), handles(inputs), len(inputs),
                                       results, cls.outputs, _remember_object(call))
        for handle in results if code == 0 else ():
            lib.axle_tensor_retain(handle)
        lib.axle_scope_pop()
        check(code)
        made = tuple(wrap(handle) for handle in results)
        return made[0] if call.single else made


def backward(tensors, grad_tensors=None, retain_graph=False):
    """Compute the gradients of all leaves."""
    tensors = [tensors] if isinstance(tensors, Tensor) else tensors
    for tensor, grad in zip(tensors, grad_tensors or [None] * len(tensors)):
        tensor.backward(grad, retain_graph)
