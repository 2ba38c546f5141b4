# SPDX-License-Identifier: Apache-2.0
"""Functions of layers, with PyTorch's names and arguments."""
import ctypes

from .. import dtypes
from .._library import lib, options
from ..operators import log_softmax, relu, sigmoid, softmax, tanh
from ..tensor import call, numbers

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _reduction(name):
    if name not in _REDUCTIONS:
        raise ValueError("reduction is %r; there are %s" % (name, ", ".join(_REDUCTIONS)))
    return _REDUCTIONS[name]


def _each(value, dims):
    return (value,) * dims if isinstance(value, int) else tuple(value)


# ---------------------------------------------------------------------- activations

def gelu(x, approximate="none"):
    """Gaussian error linear unit."""
    return call(lib.axle_gelu_tanh if approximate == "tanh" else lib.axle_gelu, x)


def silu(x):
    """x * sigmoid(x)"""
    return call(lib.axle_silu, x)


def mish(x):
    """x * tanh(softplus(x))"""
    return call(lib.axle_mish, x)


def hardswish(x):
    """Piecewise swish."""
    return call(lib.axle_hard_swish, x)


def logsigmoid(x):
    """log(sigmoid(x))"""
    return call(lib.axle_log_sigmoid, x)


def leaky_relu(x, negative_slope=0.01):
    """x, or slope * x where that is negative."""
    return call(lib.axle_leaky_relu, x, negative_slope)


def elu(x, alpha=1.0):
    """x, or alpha * (exp(x) - 1) where that is negative."""
    return call(lib.axle_elu, x, alpha)


def softplus(x, beta=1.0, threshold=20.0):
    """log(1 + exp(beta * x)) / beta"""
    return call(lib.axle_softplus, x, beta, threshold)


# ---------------------------------------------------------------------- layers

def linear(x, weight, bias=None):
    """x . weight^T + bias"""
    return call(lib.axle_linear, x, weight, bias)


def embedding(ids, weight, padding_idx=None):
    """Rows of weight."""
    return call(lib.axle_embedding, weight, ids, -1 if padding_idx is None else padding_idx)


def dropout(x, p=0.5, training=True):
    """Zero elements with probability p and scale the others."""
    return call(lib.axle_dropout, x, p) if training and p > 0 else x


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalise over the last dims."""
    return call(lib.axle_layer_norm, x, len(_each(normalized_shape, 1)), weight, bias, eps)


def _conv(dims, function):
    def conv(x, weight, bias=None, stride=1, padding=0, *, output_padding=0, dilation=1, groups=1):
        params = options("axle_conv_params", stride=_each(stride, dims), groups=groups,
                         padding=_each(padding, dims), dilation=_each(dilation, dims),
                         output_padding=_each(output_padding, dims))
        return call(getattr(lib, function), x, weight, bias, ctypes.byref(params))
    conv.__doc__ = "Convolution over %d dims." % dims
    return conv


conv1d, conv2d, conv3d = (_conv(dims, "axle_conv") for dims in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    _conv(dims, "axle_conv_transpose") for dims in (1, 2, 3))


def pool_params(dims, kernel_size, stride, padding, dilation, ceil_mode, count_include_pad):
    """The C struct of a pooling layer."""
    return options("axle_pool_params", kernel=_each(kernel_size, dims),
                   padding=_each(padding, dims),
                   stride=_each(kernel_size if stride is None else stride, dims),
                   dilation=_each(dilation, dims), ceil_mode=int(ceil_mode),
                   exclude_padding=int(not count_include_pad))


def _pool(dims, function):
    def pool(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
             count_include_pad=True):
        params = pool_params(dims, kernel_size, stride, padding, dilation, ceil_mode,
                             count_include_pad)
        return call(getattr(lib, function), x, ctypes.byref(params))
    pool.__doc__ = "Pooling over %d dims." % dims
    return pool


max_pool1d, max_pool2d, max_pool3d = (_pool(dims, "axle_max_pool") for dims in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_pool(dims, "axle_avg_pool") for dims in (1, 2, 3))


def one_hot(ids, num_classes=-1):
    """1 at the id, else 0."""
    count = int(ids.max().item()) + 1 if num_classes < 0 else num_classes
    return call(lib.axle_one_hot, ids, count, dtypes.resolve("int64").code)


def pad(x, widths, value=0.0):
    """Surround with a constant: (before, after) of the last dim, of the one before it, ..."""
    before, after = [0] * x.ndim, [0] * x.ndim
    for k in range(len(widths) // 2):
        before[-1 - k], after[-1 - k] = widths[2 * k:2 * k + 2]
    return call(lib.axle_pad, x, numbers(before), numbers(after), float(value))


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
                                 scale=None):
    """softmax(scale * q . k^T) . v over (batch, heads, length, features)."""
    params = options("axle_attention_params", causal=int(is_causal), dropout=dropout_p, scale=scale)
    return call(lib.axle_attention, query, key, value, attn_mask, ctypes.byref(params))


# ---------------------------------------------------------------------- losses

def cross_entropy(logits, target, weight=None, ignore_index=-100, reduction="mean",
                  label_smoothing=0.0):
    """Of classes by number."""
    params = options("axle_cross_entropy_params", reduction=_reduction(reduction),
                     ignore_index=ignore_index, label_smoothing=label_smoothing)
    if weight is not None:
        params.weight = weight._as_parameter_
    return call(lib.axle_cross_entropy, logits, target, ctypes.byref(params))


def binary_cross_entropy_with_logits(logits, target, weight=None, reduction="mean",
                                     pos_weight=None):
    """Of numbers whose sigmoid is a probability."""
    return call(lib.axle_bce_with_logits, logits, target, weight, pos_weight, _reduction(reduction))


def mse_loss(x, target, reduction="mean"):
    """Squared differences."""
    return call(lib.axle_mse_loss, x, target, _reduction(reduction))


def l1_loss(x, target, reduction="mean"):
    """Absolute differences."""
    return call(lib.axle_l1_loss, x, target, _reduction(reduction))


def _reduce(x, reduction):
    _reduction(reduction)
    return x.mean() if reduction == "mean" else x.sum() if reduction == "sum" else x


def binary_cross_entropy(x, target, reduction="mean"):
    """Of probabilities; logarithms are no less than -100."""
    logs = target * x.log().clamp(min=-100) + (1 - target) * (1 - x).log().clamp(min=-100)
    return _reduce(-logs, reduction)


def nll_loss(log_probabilities, target, reduction="mean"):
    """Negative log-likelihood of classes by number."""
    chosen = log_probabilities.gather(1, target.unsqueeze(1)).squeeze(1)
    return _reduce(-chosen, reduction)


__all__ = ["relu", "sigmoid", "tanh", "softmax", "log_softmax"]
