/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ops.h
 * Operators on tensors, with gradients.
 *
 * Common to all: arguments are borrowed; the result is a new tensor of the current scope on the
 * arguments' device, or NULL on error and on NULL input (except where an argument is marked
 * optional). Dtypes are never promoted: operands have one dtype or AXLE_ERR_DTYPE, one device or
 * AXLE_ERR_DEVICE. Binary operators broadcast as NumPy does, else AXLE_ERR_SHAPE. Dims are counted
 * from 0, negative ones from the end. Meanings, initialisers and gradients are PyTorch's (1.13 and
 * later) unless stated.
 *
 * Groups: elementwise - compare and choose - casts and copies - views - joining - reductions -
 * products - convolution - pooling - normalisation - softmax and attention - losses - dropout -
 * indexing.
 */
#ifndef AXLE_OPS_H
#define AXLE_OPS_H

#include "axle/tensor.h"

AXLE_BEGIN_DECLS

/* ------------------------------------------------------------------ elementwise */

/** Unary functions of any float tensor; same dims and dtype. neg, abs, sign, square, relu, floor,
 *  ceil, round (half to even) and trunc take integers, too. gelu is exact (erf). */
AXLE_API axle_tensor *axle_neg(axle_tensor *x);
AXLE_API axle_tensor *axle_abs(axle_tensor *x);
AXLE_API axle_tensor *axle_sign(axle_tensor *x);
AXLE_API axle_tensor *axle_square(axle_tensor *x);
AXLE_API axle_tensor *axle_sqrt(axle_tensor *x);
AXLE_API axle_tensor *axle_rsqrt(axle_tensor *x);
AXLE_API axle_tensor *axle_reciprocal(axle_tensor *x);
AXLE_API axle_tensor *axle_exp(axle_tensor *x);
AXLE_API axle_tensor *axle_expm1(axle_tensor *x);
AXLE_API axle_tensor *axle_log(axle_tensor *x);
AXLE_API axle_tensor *axle_log1p(axle_tensor *x);
AXLE_API axle_tensor *axle_log2(axle_tensor *x);
AXLE_API axle_tensor *axle_log10(axle_tensor *x);
AXLE_API axle_tensor *axle_sin(axle_tensor *x);
AXLE_API axle_tensor *axle_cos(axle_tensor *x);
AXLE_API axle_tensor *axle_tan(axle_tensor *x);
AXLE_API axle_tensor *axle_asin(axle_tensor *x);
AXLE_API axle_tensor *axle_acos(axle_tensor *x);
AXLE_API axle_tensor *axle_atan(axle_tensor *x);
AXLE_API axle_tensor *axle_sinh(axle_tensor *x);
AXLE_API axle_tensor *axle_cosh(axle_tensor *x);
AXLE_API axle_tensor *axle_tanh(axle_tensor *x);
AXLE_API axle_tensor *axle_erf(axle_tensor *x);
AXLE_API axle_tensor *axle_sigmoid(axle_tensor *x);
AXLE_API axle_tensor *axle_log_sigmoid(axle_tensor *x);
AXLE_API axle_tensor *axle_relu(axle_tensor *x);
AXLE_API axle_tensor *axle_gelu(axle_tensor *x);
AXLE_API axle_tensor *axle_gelu_tanh(axle_tensor *x);
AXLE_API axle_tensor *axle_silu(axle_tensor *x);
AXLE_API axle_tensor *axle_mish(axle_tensor *x);
AXLE_API axle_tensor *axle_hard_sigmoid(axle_tensor *x);
AXLE_API axle_tensor *axle_hard_swish(axle_tensor *x);
AXLE_API axle_tensor *axle_floor(axle_tensor *x);
AXLE_API axle_tensor *axle_ceil(axle_tensor *x);
AXLE_API axle_tensor *axle_round(axle_tensor *x);
AXLE_API axle_tensor *axle_trunc(axle_tensor *x);
/** x < 0 ? slope * x : x. */
AXLE_API axle_tensor *axle_leaky_relu(axle_tensor *x, double slope);
/** x < 0 ? alpha * (exp(x) - 1) : x. */
AXLE_API axle_tensor *axle_elu(axle_tensor *x, double alpha);
/** log(1 + exp(beta * x)) / beta; x where beta * x > threshold (PyTorch's defaults are 1 and 20).
 */
AXLE_API axle_tensor *axle_softplus(axle_tensor *x, double beta, double threshold);
/** min(max(x, low), high); the gradient passes where low <= x <= high. */
AXLE_API axle_tensor *axle_clip(axle_tensor *x, double low, double high);
/** scale * x + shift. */
AXLE_API axle_tensor *axle_affine(axle_tensor *x, double scale, double shift);
AXLE_API axle_tensor *axle_add_scalar(axle_tensor *x, double value);
AXLE_API axle_tensor *axle_mul_scalar(axle_tensor *x, double value);
/** x ^ exponent. */
AXLE_API axle_tensor *axle_pow_scalar(axle_tensor *x, double exponent);

/** Binary functions with broadcasting. remainder has the sign of b, fmod that of a; integer
 * division rounds down. At equal elements maximum and minimum give half the gradient to each side.
 */
AXLE_API axle_tensor *axle_add(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_sub(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_mul(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_div(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_pow(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_maximum(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_minimum(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_atan2(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_remainder(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_fmod(axle_tensor *a, axle_tensor *b);
/** a + alpha * b. */
AXLE_API axle_tensor *axle_add_scaled(axle_tensor *a, axle_tensor *b, double alpha);

/* ------------------------------------------------------------------ compare and choose */

/** bool results; no gradient. */
AXLE_API axle_tensor *axle_eq(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_ne(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_lt(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_le(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_gt(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_ge(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_logical_and(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_logical_or(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_logical_xor(axle_tensor *a, axle_tensor *b);
AXLE_API axle_tensor *axle_logical_not(axle_tensor *x);
AXLE_API axle_tensor *axle_is_nan(axle_tensor *x);
AXLE_API axle_tensor *axle_is_inf(axle_tensor *x);
AXLE_API axle_tensor *axle_is_finite(axle_tensor *x);
/** condition (bool) ? a : b, all broadcast; what is not chosen gets gradient 0. */
AXLE_API axle_tensor *axle_where(axle_tensor *condition, axle_tensor *a, axle_tensor *b);

/* ------------------------------------------------------------------ casts and copies */

/** Another element type; x itself where it has it. The gradient is cast back. */
AXLE_API axle_tensor *axle_cast(axle_tensor *x, int dtype);
/** A row-major copy. */
AXLE_API axle_tensor *axle_clone(axle_tensor *x);
/** x itself where it is row-major, else a row-major copy. */
AXLE_API axle_tensor *axle_contiguous(axle_tensor *x);
/** The same values on another device; x itself where it is there. */
AXLE_API axle_tensor *axle_to_device(axle_tensor *x, axle_device *device);
/** A view that gradients do not pass. */
AXLE_API axle_tensor *axle_detach(axle_tensor *x);

/* ------------------------------------------------------------------ views */

/** Same elements, other dims; one dim may be -1 and is computed. A view where strides allow, else a
 * copy. */
AXLE_API axle_tensor *axle_reshape(axle_tensor *x, int rank, const int64_t *dims);
/** Merge dims first..last into one. */
AXLE_API axle_tensor *axle_flatten(axle_tensor *x, int first, int last);
/** Reorder dims: dim k of the result is dim order[k] of x. @param order  rank numbers. */
AXLE_API axle_tensor *axle_permute(axle_tensor *x, const int *order);
/** Swap two dims. */
AXLE_API axle_tensor *axle_transpose(axle_tensor *x, int a, int b);
/** Insert a dim of 1 before dim @p dim. */
AXLE_API axle_tensor *axle_unsqueeze(axle_tensor *x, int dim);
/** Drop dim @p dim, which must be 1. */
AXLE_API axle_tensor *axle_squeeze(axle_tensor *x, int dim);
/** Repeat dims of 1 (and new leading dims) without copying. */
AXLE_API axle_tensor *axle_expand(axle_tensor *x, int rank, const int64_t *dims);
/** Elements start, start + step, ... below end of one dim (Python's rules for negative and large
 *  bounds; step >= 1). */
AXLE_API axle_tensor *axle_slice(axle_tensor *x, int dim, int64_t start, int64_t end, int64_t step);
/** Element @p index of one dim, which is dropped. */
AXLE_API axle_tensor *axle_select(axle_tensor *x, int dim, int64_t index);

/* ------------------------------------------------------------------ joining */

/** Join along a dim. @param x  n >= 1 tensors that differ in that dim at most. */
AXLE_API axle_tensor *axle_concat(axle_tensor *const *x, int n, int dim);
/** Join along a new dim. */
AXLE_API axle_tensor *axle_stack(axle_tensor *const *x, int n, int dim);
/** Surround with a constant. @param before, after  rank numbers >= 0 each. */
AXLE_API axle_tensor *axle_pad(axle_tensor *x, const int64_t *before, const int64_t *after,
                               double value);

/* ------------------------------------------------------------------ reductions
 *
 * Over the listed dims, or over all with n = 0 and dims NULL. keepdim leaves dims of 1. */

AXLE_API axle_tensor *axle_sum(axle_tensor *x, int n, const int *dims, int keepdim);
AXLE_API axle_tensor *axle_mean(axle_tensor *x, int n, const int *dims, int keepdim);
AXLE_API axle_tensor *axle_prod(axle_tensor *x, int n, const int *dims, int keepdim);
/** The gradient is shared evenly among equal extremes. */
AXLE_API axle_tensor *axle_max(axle_tensor *x, int n, const int *dims, int keepdim);
AXLE_API axle_tensor *axle_min(axle_tensor *x, int n, const int *dims, int keepdim);
/** Divides by max(0, count - correction); correction 1 is the unbiased estimate. */
AXLE_API axle_tensor *axle_var(axle_tensor *x, int n, const int *dims, int keepdim,
                               double correction);
/** p is 1 or 2; the gradient of norm 2 is 0 where the norm is 0. */
AXLE_API axle_tensor *axle_norm(axle_tensor *x, int n, const int *dims, int keepdim, int p);
/** bool; no gradient. */
AXLE_API axle_tensor *axle_any(axle_tensor *x, int n, const int *dims, int keepdim);
AXLE_API axle_tensor *axle_all(axle_tensor *x, int n, const int *dims, int keepdim);
/** Rank 0. */
AXLE_API axle_tensor *axle_sum_all(axle_tensor *x);
AXLE_API axle_tensor *axle_mean_all(axle_tensor *x);
/** Position (i64) of the first extreme along a dim. No gradient. */
AXLE_API axle_tensor *axle_argmax(axle_tensor *x, int dim, int keepdim);
AXLE_API axle_tensor *axle_argmin(axle_tensor *x, int dim, int keepdim);

/* ------------------------------------------------------------------ products */

/**
 * Multiply matrices, batched and broadcast over leading dimensions; vectors as in NumPy.
 * @param a  (..., M, K), (K); float. @param b  (..., K, N), (K).
 * @return   (..., M, N), without M or N where a or b is a vector.
 */
AXLE_API axle_tensor *axle_matmul(axle_tensor *a, axle_tensor *b);
/**
 * x . weight^T + bias.
 * @param x  (..., in). @param weight  (out, in). @param bias  (out), optional. @return  (..., out).
 */
AXLE_API axle_tensor *axle_linear(axle_tensor *x, axle_tensor *weight, axle_tensor *bias);
/** relu(axle_linear(...)) in one pass. */
AXLE_API axle_tensor *axle_linear_relu(axle_tensor *x, axle_tensor *weight, axle_tensor *bias);

/* ------------------------------------------------------------------ convolution */

/** One number a spatial dim, first dim first. Starts from AXLE_CONV_PARAMS_INIT (all dims alike).
 */
typedef struct axle_conv_params {
    size_t struct_size;
    int stride[3], padding[3], dilation[3];
    int output_padding[3]; /**< transposed convolution only */
    int groups;
    int relu; /**< apply relu to the result in the same pass; convolution only */
} axle_conv_params;
#define AXLE_CONV_PARAMS_INIT                                                                      \
    {                                                                                              \
        sizeof(axle_conv_params), {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1, 0                 \
    }

/**
 * Convolution (cross-correlation) over the 1 to 3 dims after the first two.
 * @param x       (N, C, in...). @param weight  (O, C/groups, kernel...).
 * @param bias    (O), optional. @param params  NULL for the defaults.
 * @return (N, O, out...), out = (in + 2*padding - dilation*(kernel-1) - 1) / stride + 1.
 */
AXLE_API axle_tensor *axle_conv(axle_tensor *x, axle_tensor *weight, axle_tensor *bias,
                                const axle_conv_params *params);
/**
 * Transposed convolution.
 * @param x  (N, C, in...). @param weight  (C, O/groups, kernel...). @param bias  (O), optional.
 * @return (N, O, out...), out = (in-1)*stride - 2*padding + dilation*(kernel-1) + output_padding
 * + 1.
 */
AXLE_API axle_tensor *axle_conv_transpose(axle_tensor *x, axle_tensor *weight, axle_tensor *bias,
                                          const axle_conv_params *params);

/* ------------------------------------------------------------------ pooling */

/** One number a spatial dim. Starts from AXLE_POOL_PARAMS_INIT; stride 0 means the kernel's size.
 */
typedef struct axle_pool_params {
    size_t struct_size;
    int kernel[3], stride[3], padding[3], dilation[3];
    int ceil_mode;
    int exclude_padding; /**< average only: do not count padding (PyTorch's count_include_pad=False)
                          */
} axle_pool_params;
#define AXLE_POOL_PARAMS_INIT                                                                      \
    {                                                                                              \
        sizeof(axle_pool_params), {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 0, 0                 \
    }

/** x (N, C, in...) with 1 to 3 spatial dims -> (N, C, out...). */
AXLE_API axle_tensor *axle_max_pool(axle_tensor *x, const axle_pool_params *params);
AXLE_API axle_tensor *axle_avg_pool(axle_tensor *x, const axle_pool_params *params);
/** @param size  one number a spatial dim. */
AXLE_API axle_tensor *axle_adaptive_avg_pool(axle_tensor *x, const int64_t *size);
AXLE_API axle_tensor *axle_adaptive_max_pool(axle_tensor *x, const int64_t *size);
/** Nearest neighbour. @param size  output size, one number a spatial dim. */
AXLE_API axle_tensor *axle_interpolate(axle_tensor *x, const int64_t *size);

/* ------------------------------------------------------------------ normalisation */

/** Over the last n_dims dims, whose sizes gamma and beta (optional) have. */
AXLE_API axle_tensor *axle_layer_norm(axle_tensor *x, int n_dims, axle_tensor *gamma,
                                      axle_tensor *beta, double eps);
/** x / sqrt(mean(x^2) + eps) * gamma over the last dim; gamma optional. (Zhang and Sennrich, 2019.)
 */
AXLE_API axle_tensor *axle_rms_norm(axle_tensor *x, axle_tensor *gamma, double eps);
/**
 * @param x             (N, C, ...). @param gamma, beta  (C), optional.
 * @param running_mean  (C), with running_var; optional in training. Updated in training, used
 * otherwise.
 * @param momentum      weight of the new batch.
 */
AXLE_API axle_tensor *axle_batch_norm(axle_tensor *x, axle_tensor *gamma, axle_tensor *beta,
                                      axle_tensor *running_mean, axle_tensor *running_var,
                                      int training, double momentum, double eps);
/** @param x  (N, C, ...), C divisible by groups. @param gamma, beta  (C), optional. */
AXLE_API axle_tensor *axle_group_norm(axle_tensor *x, int groups, axle_tensor *gamma,
                                      axle_tensor *beta, double eps);

/* ------------------------------------------------------------------ softmax and attention */

AXLE_API axle_tensor *axle_softmax(axle_tensor *x, int dim);
AXLE_API axle_tensor *axle_log_softmax(axle_tensor *x, int dim);
/** Softmax of x where mask (bool, broadcast to x) is true; removed elements, and slices with
 * nothing kept, are 0 with gradient 0. */
AXLE_API axle_tensor *axle_masked_softmax(axle_tensor *x, axle_tensor *mask, int dim);

/** Starts from AXLE_ATTENTION_PARAMS_INIT. */
typedef struct axle_attention_params {
    size_t struct_size;
    int causal;     /**< query i sees keys 0..i */
    double scale;   /**< 0 means 1/sqrt(D) */
    double dropout; /**< of the weights; only while it is > 0 */
} axle_attention_params;
#define AXLE_ATTENTION_PARAMS_INIT                                                                 \
    {                                                                                              \
        sizeof(axle_attention_params), 0, 0.0, 0.0                                                 \
    }

/**
 * softmax(scale * q.k^T) . v (Vaswani et al., 2017).
 * @param q  (B, H, L, D). @param k  (B, H, S, D). @param v  (B, H, S, E).
 * @param mask  optional, broadcast to (B, H, L, S); bool keeps what is true, q's dtype is added.
 * @return (B, H, L, E); rows that keep no key are 0 with gradient 0.
 */
AXLE_API axle_tensor *axle_attention(axle_tensor *q, axle_tensor *k, axle_tensor *v,
                                     axle_tensor *mask, const axle_attention_params *params);

/* ------------------------------------------------------------------ losses */

enum { AXLE_LOSS_NONE = 0, AXLE_LOSS_MEAN = 1, AXLE_LOSS_SUM = 2 };

/** Starts from AXLE_CROSS_ENTROPY_PARAMS_INIT. */
typedef struct axle_cross_entropy_params {
    size_t struct_size;
    int reduction;
    int64_t ignore_index; /**< targets with this value count for nothing */
    double label_smoothing;
    axle_tensor *weight; /**< (C), one a class; optional */
} axle_cross_entropy_params;
#define AXLE_CROSS_ENTROPY_PARAMS_INIT                                                             \
    {                                                                                              \
        sizeof(axle_cross_entropy_params), AXLE_LOSS_MEAN, -100, 0.0, NULL                         \
    }

/**
 * @param logits  (N, C) or (N, C, d...). @param target  (N) or (N, d...), i64 or i32, in [0, C).
 * @param params  NULL for the defaults.
 * @return rank 0, or target's dims without reduction. The mean over no valid target is 0 with
 *         gradient 0. AXLE_ERR_INDEX for a target out of range.
 */
AXLE_API axle_tensor *axle_cross_entropy(axle_tensor *logits, axle_tensor *target,
                                         const axle_cross_entropy_params *params);
/** @param weight, pos_weight  optional, broadcast to logits. */
AXLE_API axle_tensor *axle_bce_with_logits(axle_tensor *logits, axle_tensor *target,
                                           axle_tensor *weight, axle_tensor *pos_weight,
                                           int reduction);
AXLE_API axle_tensor *axle_mse_loss(axle_tensor *x, axle_tensor *target, int reduction);
AXLE_API axle_tensor *axle_l1_loss(axle_tensor *x, axle_tensor *target, int reduction);

/* ------------------------------------------------------------------ dropout */

/** Zero elements with probability p and scale the others by 1/(1-p); keyed as random.h says. */
AXLE_API axle_tensor *axle_dropout(axle_tensor *x, double p);

/* ------------------------------------------------------------------ indexing
 *
 * Indices are i64 or i32. One out of range is AXLE_ERR_INDEX; negative ones are out of range. */

/** Rows of weight (V, D): ids (...) -> (..., D). @param padding_idx  its row gets no gradient; -1:
 * none. */
AXLE_API axle_tensor *axle_embedding(axle_tensor *weight, axle_tensor *ids, int64_t padding_idx);
/** y[.., i, ..] = x[.., index[.., i, ..], ..] along dim. */
AXLE_API axle_tensor *axle_gather(axle_tensor *x, int dim, axle_tensor *index);
/** A copy of x with y[.., index[..], ..] = src; where indices repeat, the last one wins. Index and
 * src have the same dims. */
AXLE_API axle_tensor *axle_scatter(axle_tensor *x, int dim, axle_tensor *index, axle_tensor *src);
/** The same with +=. */
AXLE_API axle_tensor *axle_scatter_add(axle_tensor *x, int dim, axle_tensor *index,
                                       axle_tensor *src);
/** Slices of x along dim. @param index  (n). */
AXLE_API axle_tensor *axle_index_select(axle_tensor *x, int dim, axle_tensor *index);
/** ids (...) -> (..., classes) of that dtype, 1 at the id, else 0. */
AXLE_API axle_tensor *axle_one_hot(axle_tensor *ids, int64_t classes, int dtype);

AXLE_END_DECLS

#endif
