# SPDX-License-Identifier: Apache-2.0
"""Layers."""
import ctypes

from .._library import check, failure, lib, options, out_pointer
from ..tensor import call, numbers, wrap
from . import functional
from .module import Module, Native
from .parameter import Parameter


def _three(value, dims):
    return (value,) * dims if isinstance(value, int) else tuple(value)


class Linear(Native):
    """y = x . weight^T + bias"""

    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self._make(lib.axle_linear_create, in_features, out_features, int(bias))
        if not bias:
            self._parameters.setdefault("bias", None)

    def extra_repr(self):
        return "in_features=%d, out_features=%d" % (self.in_features, self.out_features)


class _Conv(Native):
    dims, transposed = 2, False

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, *more,
                 output_padding=0, dilation=1, groups=1, bias=True):
        super().__init__()
        if more:
            raise TypeError("name the arguments after padding")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, n = _three(kernel_size, self.dims), self.dims
        if padding == "same":
            padding = tuple(d * (k - 1) // 2
                            for d, k in zip(_three(dilation, n), self.kernel_size))
        params = {"stride": _three(stride, n), "padding": _three(padding, n),
                  "dilation": _three(dilation, n), "output_padding": _three(output_padding, n),
                  "groups": groups}
        chosen = options("axle_conv_options", dims=n, in_channels=in_channels,
                         out_channels=out_channels, kernel=self.kernel_size, params=params,
                         transposed=int(self.transposed), bias=int(bias))
        self._make(lib.axle_conv_create, ctypes.byref(chosen))
        if not bias:
            self._parameters.setdefault("bias", None)

    def extra_repr(self):
        return "%d, %d, kernel_size=%s" % (self.in_channels, self.out_channels, self.kernel_size)


class _Pool(Native):
    dims, function = 2, "axle_max_pool_create"

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                 count_include_pad=True):
        super().__init__()
        params = functional.pool_params(self.dims, kernel_size, stride, padding, dilation,
                                        ceil_mode, count_include_pad)
        self._make(getattr(lib, self.function), ctypes.byref(params))


class _AdaptivePool(Native):
    dims = 2

    def __init__(self, output_size):
        super().__init__()
        self._make(lib.axle_adaptive_avg_pool_create, self.dims,
                   numbers(_three(output_size, self.dims)))


def _variants(base, name, **members):
    """Classes for one, two and three dims."""
    for dims in (1, 2, 3):
        full = "%s%dd" % (name, dims)
        globals()[full] = type(full, (base,), {"dims": dims, "__module__": __name__, **members})
        __all__.append(full)


__all__ = []
_variants(_Conv, "Conv", __doc__="Convolution.")
_variants(_Conv, "ConvTranspose", transposed=True, __doc__="Transposed convolution.")
_variants(_Pool, "MaxPool", __doc__="Greatest element of each window.")
_variants(_Pool, "AvgPool", function="axle_avg_pool_create", __doc__="Mean of each window.")
_variants(_AdaptivePool, "AdaptiveAvgPool", __doc__="Means of windows that give that many.")


class LayerNorm(Module):
    """Normalises over the last dims, which normalized_shape gives."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True):
        super().__init__()
        from ..creation import ones, zeros
        shape = _three(normalized_shape, 1)
        self.normalized_shape, self.eps = shape, eps
        self.weight = Parameter(ones(shape)) if elementwise_affine else None
        self.bias = Parameter(zeros(shape)) if elementwise_affine and bias else None

    def forward(self, x):
        return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Native):
    """x / sqrt(mean(x^2) + eps) * weight"""

    def __init__(self, normalized_shape, eps=1e-6):
        super().__init__()
        self._make(lib.axle_rms_norm_create, _three(normalized_shape, 1)[0], eps)


class _BatchNorm(Native):
    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.num_features = num_features
        self._make(lib.axle_batch_norm_create, num_features, eps, momentum)


_variants(_BatchNorm, "BatchNorm", __doc__="Normalises each channel over the batch.")


class GroupNorm(Native):
    """Normalises groups of channels."""

    def __init__(self, num_groups, num_channels, eps=1e-5):
        super().__init__()
        self._make(lib.axle_group_norm_create, num_groups, num_channels, eps)


class Embedding(Native):
    """Rows of a table, by number."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx
        self._make(lib.axle_embedding_create, num_embeddings, embedding_dim,
                   -1 if padding_idx is None else padding_idx)


class Dropout(Native):
    """Sets elements to zero at random in training."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = p
        self._make(lib.axle_dropout_create, p)


class Flatten(Module):
    """Merges dims."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x):
        return x.flatten(self.start_dim, self.end_dim)


class _Activation(Native):
    text = ""

    def __init__(self, inplace=False):
        super().__init__()
        self._make(lib.axle_activation_create, self.text.encode())


for _name, _text in (("ReLU", "relu"), ("SiLU", "silu"), ("Tanh", "tanh"), ("Sigmoid", "sigmoid"),
                     ("Mish", "mish"), ("Hardswish", "hard_swish")):
    globals()[_name] = type(_name, (_Activation,), {"text": _text, "__module__": __name__,
                                                    "__doc__": _text + " of each element."})
    __all__.append(_name)


class GELU(Native):
    """Gaussian error linear unit."""

    def __init__(self, approximate="none"):
        super().__init__()
        self._make(lib.axle_activation_create, b"gelu_tanh" if approximate == "tanh" else b"gelu")


class Identity(Module):
    """Gives what it gets."""

    def __init__(self, *arguments, **named):
        super().__init__()

    def forward(self, x):
        return x


class _Function(Module):
    """A function of functional with its arguments."""

    names = ()

    def __init__(self, *arguments, **named):
        super().__init__()
        named.pop("inplace", None)
        for name, value in zip(self.names, arguments):
            named[name] = value
        self.arguments = named

    def forward(self, x):
        return self.function(x, **self.arguments)


def _wrap(name, function, *names):
    members = {"function": staticmethod(function), "names": names, "__module__": __name__,
               "__doc__": "See functional.%s()." % function.__name__}
    globals()[name] = type(name, (_Function,), members)
    __all__.append(name)


_wrap("LeakyReLU", functional.leaky_relu, "negative_slope")
_wrap("ELU", functional.elu, "alpha")
_wrap("Softplus", functional.softplus, "beta", "threshold")
_wrap("Softmax", functional.softmax, "dim")
_wrap("LogSoftmax", functional.log_softmax, "dim")


class MultiheadAttention(Native):
    """Attention with several heads; gives (result, None)."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, batch_first=False):
        super().__init__()
        self.embed_dim, self.num_heads, self.batch_first = embed_dim, num_heads, batch_first
        self._make(lib.axle_multihead_attention_create, embed_dim, num_heads, dropout)

    def forward(self, query, key, value, attn_mask=None, is_causal=False, need_weights=False):
        """`attn_mask` keeps what is true, or is added."""
        if need_weights:
            raise NotImplementedError("the weights of attention are not kept")
        swap = (lambda x: x) if self.batch_first else (lambda x: x.transpose(0, 1))
        result = call(lib.axle_multihead_attention_forward, self._twin, swap(query), swap(key),
                      swap(value), attn_mask, int(is_causal))
        return swap(result), None


class TransformerEncoderLayer(Native):
    """Attention and a feed-forward network, over (batch, length, features)."""

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu",
                 layer_norm_eps=1e-5, batch_first=True, norm_first=False):
        super().__init__()
        if not batch_first:
            raise NotImplementedError("TransformerEncoderLayer takes batches first")
        chosen = options("axle_encoder_layer_options", features=d_model, heads=nhead,
                         hidden=dim_feedforward, dropout=dropout, activation=activation,
                         eps=layer_norm_eps, norm_first=int(norm_first))
        self._make(lib.axle_encoder_layer_create, ctypes.byref(chosen))

    def forward(self, src, src_mask=None, is_causal=False):
        return call(lib.axle_encoder_layer_forward, self._twin, src, src_mask, int(is_causal))


class _Recurrent(Native):
    kind = 1

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
                 dropout=0.0, bidirectional=False):
        super().__init__()
        self.batch_first = batch_first
        chosen = options("axle_rnn_options", kind=self.kind, input=input_size, hidden=hidden_size,
                         layers=num_layers, bias=int(bias), dropout=dropout,
                         bidirectional=int(bidirectional))
        self._make(lib.axle_rnn_create, ctypes.byref(chosen))

    def forward(self, x, state=None):
        """(result, final state); the state of an LSTM is a pair."""
        lstm = self.kind == 1
        h, c = state if lstm and state is not None else (state, None)
        out = (ctypes.c_void_p * 2)()
        x = x if self.batch_first else x.transpose(0, 1)
        check(lib.axle_scope_push())
        handle = lib.axle_rnn_forward(self._twin, x, h, c, ctypes.addressof(out),
                                      ctypes.addressof(out) + 8 if lstm else None)
        found = [handle, *out[:1 + lstm]] if handle else []
        made = [wrap(lib.axle_tensor_retain(one)) for one in found]
        lib.axle_scope_pop()
        if not made:
            raise failure()
        y = made[0] if self.batch_first else made[0].transpose(0, 1)
        return y, (tuple(made[1:]) if lstm else made[1])


class LSTM(_Recurrent):
    """Long short-term memory."""


class GRU(_Recurrent):
    """Gated recurrent unit."""

    kind = 2


# ---------------------------------------------------------------------- containers

class Sequential(Module):
    """Runs its children in order; where all are layers of the C library, in one go."""

    def __init__(self, *children):
        super().__init__()
        self.__dict__["_chain"] = None
        named = children[0].items() if len(children) == 1 and isinstance(children[0], dict) \
            else ((str(k), child) for k, child in enumerate(children))
        for name, child in named:
            self.add_module(name, child)

    def _change(self):
        super()._change()
        self.__dict__["_chain"] = None

    def _build(self):
        """A C sequence of the same layers; False where there is none."""
        children = list(self.children())
        if not children or not all(type(c).forward is Native.forward for c in children):
            return False
        from .module import Handle
        chain = Handle(out_pointer(lib.axle_sequential_create))
        for name, child in self.named_children():
            check(lib.axle_module_add_child(chain, name.encode(),
                                            lib.axle_module_retain(child.twin())))
        return chain

    def forward(self, x):
        if self._chain is None:
            self.__dict__["_chain"] = self._build()
        if self._chain:
            return call(lib.axle_module_forward, self._chain, x)
        for child in self._modules.values():
            x = child(x)
        return x

    def append(self, module):
        """Add a child at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, k):
        children = list(self._modules.values())[k]
        return Sequential(*children) if isinstance(k, slice) else children


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules=()):
        super().__init__()
        self.extend(modules)

    def append(self, module):
        """Add a module."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Add modules."""
        for module in modules:
            self.append(module)
        return self

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, k):
        found = list(self._modules.values())[k]
        return ModuleList(found) if isinstance(k, slice) else found


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules=None):
        super().__init__()
        for name, module in (modules or {}).items():
            self.add_module(name, module)

    def __getitem__(self, name):
        return self._modules[name]

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __contains__(self, name):
        return name in self._modules

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()


__all__ += ["Linear", "LayerNorm", "RMSNorm", "GroupNorm", "Embedding", "Dropout", "Flatten",
            "GELU", "Identity", "MultiheadAttention", "TransformerEncoderLayer", "LSTM", "GRU",
            "Sequential", "ModuleList", "ModuleDict"]
