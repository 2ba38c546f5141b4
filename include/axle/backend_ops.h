/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file backend_ops.h
 * The operators that a backend may offer: numbers, attributes and exact meaning.
 *
 * A backend may offer any subset, for any element types; what it declines in op_query runs on the
 * host with the reference kernels. Numbers and fields are part of the binary interface: operators
 * are only added, attribute structs only grow at the end.
 *
 * Conventions
 *
 *  - `x (N, C)` is an operand and its dims. Operands marked `?` may be absent (NULL). An operand
 *    marked `rw` stands among the outputs and is read, then written.
 *  - Elements are counted in row-major order of the dims, whatever the strides.
 *  - "float" is f32, f16, bf16 or f64. Half types compute in f32 and round once, to nearest even.
 *    "stat" is the type of statistics beside a float type: f64 for f64, else f32.
 *  - Sums of products, means, variances and norms accumulate in at least f32; sums over many
 *    elements must be as exact as pairwise summation. Variance is two-pass or Welford. Mean losses
 *    and norms accumulate in f64 where the device has it.
 *  - Parameters beside x (gamma, beta, bias, class weights, running statistics) have x's dtype.
 *  - Outputs never overlap inputs, except that elementwise operators (UNARY, BINARY, WHERE,
 *    UNARY_BACKWARD, DROPOUT) may write exactly the view they read.
 *  - A view with no element makes outputs empty, or the identity where a reduction runs over it:
 *    sum 0, product 1, mean and variance NaN, any 0, all 1; an empty inner product is 0.
 *  - The core passes elementwise operands with equal rank and dims (broadcast by stride 0) and with
 *    neighbouring dims merged where all strides allow it, so a contiguous case has rank 0 or 1.
 *  - An index outside its range is AXLE_ERR_INDEX with the value and the range in the message; on
 *    asynchronous devices the next queue_finish or read reports it.
 *  - Random numbers: Philox4x32-10 with key (low, high half of rng_seed). Element i of a draw takes
 *    lane (rng_offset + i) % 4 of the block whose 128-bit counter is (rng_offset + i) / 4. Uniform
 *    is (word >> 8) * 2^-24. (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.)
 */
#ifndef AXLE_BACKEND_OPS_H
#define AXLE_BACKEND_OPS_H

#include "axle/types.h"

/** Operators: X(number, NAME, text, most inputs, most outputs). */
#define AXLE_OP_LIST(X)                                                                            \
    X(1, COPY, "copy", 1, 1)                                                                       \
    X(2, FILL, "fill", 0, 1)                                                                       \
    X(3, ARANGE, "arange", 0, 1)                                                                   \
    X(4, RANDOM, "random", 0, 1)                                                                   \
    X(5, UNARY, "unary", 1, 1)                                                                     \
    X(6, UNARY_BACKWARD, "unary_backward", 2, 1)                                                   \
    X(7, BINARY, "binary", 2, 1)                                                                   \
    X(8, WHERE, "where", 3, 1)                                                                     \
    X(9, REDUCE, "reduce", 1, 1)                                                                   \
    X(10, ARG_REDUCE, "arg_reduce", 1, 1)                                                          \
    X(11, MATMUL, "matmul", 3, 1)                                                                  \
    X(12, CONV, "conv", 3, 1)                                                                      \
    X(13, CONV_BACKWARD_DATA, "conv_backward_data", 3, 1)                                          \
    X(14, CONV_BACKWARD_WEIGHT, "conv_backward_weight", 2, 2)                                      \
    X(15, POOL, "pool", 1, 2)                                                                      \
    X(16, POOL_BACKWARD, "pool_backward", 2, 1)                                                    \
    X(17, INTERPOLATE, "interpolate", 1, 1)                                                        \
    X(18, INTERPOLATE_BACKWARD, "interpolate_backward", 1, 1)                                      \
    X(19, SOFTMAX, "softmax", 2, 1)                                                                \
    X(20, SOFTMAX_BACKWARD, "softmax_backward", 2, 1)                                              \
    X(21, CROSS_ENTROPY, "cross_entropy", 3, 3)                                                    \
    X(22, CROSS_ENTROPY_BACKWARD, "cross_entropy_backward", 6, 1)                                  \
    X(23, LAYER_NORM, "layer_norm", 3, 3)                                                          \
    X(24, LAYER_NORM_BACKWARD, "layer_norm_backward", 5, 3)                                        \
    X(25, BATCH_NORM, "batch_norm", 5, 5)                                                          \
    X(26, BATCH_NORM_BACKWARD, "batch_norm_backward", 5, 3)                                        \
    X(27, GROUP_NORM, "group_norm", 3, 3)                                                          \
    X(28, GROUP_NORM_BACKWARD, "group_norm_backward", 5, 3)                                        \
    X(29, DROPOUT, "dropout", 1, 1)                                                                \
    X(30, EMBEDDING, "embedding", 2, 1)                                                            \
    X(31, EMBEDDING_BACKWARD, "embedding_backward", 2, 1)                                          \
    X(32, GATHER, "gather", 2, 1)                                                                  \
    X(33, SCATTER, "scatter", 2, 1)                                                                \
    X(34, INDEX_SELECT, "index_select", 2, 1)                                                      \
    X(35, INDEX_ADD, "index_add", 2, 1)                                                            \
    X(36, ONE_HOT, "one_hot", 1, 1)                                                                \
    X(37, ATTENTION, "attention", 4, 2)                                                            \
    X(38, ATTENTION_BACKWARD, "attention_backward", 7, 3)                                          \
    X(39, SGD, "sgd", 1, 2)                                                                        \
    X(40, ADAM, "adam", 1, 4)                                                                      \
    X(41, RMSPROP, "rmsprop", 1, 4)

enum {
#define AXLE_OP_ENUM(number, name, text, n_in, n_out) AXLE_OP_##name = number,
    AXLE_OP_LIST(AXLE_OP_ENUM)
#undef AXLE_OP_ENUM
        AXLE_OP_LIMIT = 42
};

/** Most inputs and outputs that any operator has. */
enum { AXLE_OP_MAX_IN = 8, AXLE_OP_MAX_OUT = 6 };

/* ------------------------------------------------------------------ elementwise */

/* COPY: x (...) -> y (same dims, any dtype). Any strides. Casts: float to integer truncates (out of
 * range is undefined), anything to bool is x != 0, bool to number is 0 or 1, rounding to nearest
 * even, overflow to infinity. No attributes. */

/** FILL: -> y. The value of floats is `value`, of integers and booleans `integer`. */
typedef struct axle_fill_attrs {
    uint32_t struct_size, reserved;
    double value;
    int64_t integer;
} axle_fill_attrs;

/** ARANGE: -> y (n), number. y_i = start + i * step, computed in f64 (floats) or i64 (integers). */
typedef struct axle_arange_attrs {
    uint32_t struct_size, reserved;
    double start, step;
} axle_arange_attrs;

/** RANDOM: -> y, float. Uniform in [low, high): low + (high - low) * u, in the type of y (f32 for
 * halves). */
typedef struct axle_random_attrs {
    uint32_t struct_size, reserved;
    double low, high;
} axle_random_attrs;

/**
 * Kinds of UNARY: X(number, NAME, text, saved). `saved` names the operand from which UNARY_BACKWARD
 * computes: X the input, Y the output, N neither (the saved operand is absent), Z the gradient is
 * zero (there is no backward), B the output is boolean (no backward).
 * Names mean what PyTorch's functions of that name do; a and b are attrs.alpha and attrs.beta:
 * affine a*x+b; pow_scalar x^a; clip min(max(x,a),b); elu and leaky_relu slope a; softplus
 * log(1+exp(a*x))/a, linear above a*x > b; gelu is exact (erf), gelu_tanh the approximation.
 * The gradient of clip is dy where a <= x <= b; of abs sign(x)*dy; of relu 0 at 0.
 * abs, neg, sign, square, relu, clip, affine, floor, ceil, round, trunc take integers, too
 * (affine truncates a and b to integers); the boolean ones take every type.
 */
#define AXLE_UNARY_LIST(M)                                                                         \
    M(1, NEG, "neg", N)                                                                            \
    M(2, ABS, "abs", X)                                                                            \
    M(3, SIGN, "sign", Z)                                                                          \
    M(4, SQUARE, "square", X)                                                                      \
    M(5, SQRT, "sqrt", Y)                                                                          \
    M(6, RSQRT, "rsqrt", Y)                                                                        \
    M(7, RECIPROCAL, "reciprocal", Y)                                                              \
    M(8, EXP, "exp", Y)                                                                            \
    M(9, EXPM1, "expm1", Y)                                                                        \
    M(10, LOG, "log", X)                                                                           \
    M(11, LOG1P, "log1p", X)                                                                       \
    M(12, LOG2, "log2", X)                                                                         \
    M(13, LOG10, "log10", X)                                                                       \
    M(14, SIN, "sin", X)                                                                           \
    M(15, COS, "cos", X)                                                                           \
    M(16, TAN, "tan", Y)                                                                           \
    M(17, ASIN, "asin", X)                                                                         \
    M(18, ACOS, "acos", X)                                                                         \
    M(19, ATAN, "atan", X)                                                                         \
    M(20, SINH, "sinh", X)                                                                         \
    M(21, COSH, "cosh", X)                                                                         \
    M(22, TANH, "tanh", Y)                                                                         \
    M(23, ERF, "erf", X)                                                                           \
    M(24, SIGMOID, "sigmoid", Y)                                                                   \
    M(25, LOG_SIGMOID, "log_sigmoid", X)                                                           \
    M(26, RELU, "relu", Y)                                                                         \
    M(27, LEAKY_RELU, "leaky_relu", X)                                                             \
    M(28, ELU, "elu", X)                                                                           \
    M(29, GELU, "gelu", X)                                                                         \
    M(30, GELU_TANH, "gelu_tanh", X)                                                               \
    M(31, SILU, "silu", X)                                                                         \
    M(32, MISH, "mish", X)                                                                         \
    M(33, SOFTPLUS, "softplus", X)                                                                 \
    M(34, HARD_SIGMOID, "hard_sigmoid", X)                                                         \
    M(35, HARD_SWISH, "hard_swish", X)                                                             \
    M(36, CLIP, "clip", X)                                                                         \
    M(37, AFFINE, "affine", N)                                                                     \
    M(38, POW_SCALAR, "pow_scalar", X)                                                             \
    M(39, FLOOR, "floor", Z)                                                                       \
    M(40, CEIL, "ceil", Z)                                                                         \
    M(41, ROUND, "round", Z)                                                                       \
    M(42, TRUNC, "trunc", Z)                                                                       \
    M(43, LOGICAL_NOT, "logical_not", B)                                                           \
    M(44, IS_NAN, "is_nan", B)                                                                     \
    M(45, IS_INF, "is_inf", B)                                                                     \
    M(46, IS_FINITE, "is_finite", B)

enum {
#define AXLE_UNARY_ENUM(number, name, text, saved) AXLE_UNARY_##name = number,
    AXLE_UNARY_LIST(AXLE_UNARY_ENUM)
#undef AXLE_UNARY_ENUM
        AXLE_UNARY_LIMIT = 47
};

/** UNARY: x -> y, same dims; y has x's dtype, or bool for kinds marked B.
 *  UNARY_BACKWARD: dy, saved? (x or y by kind) -> dx; float, all of one dtype. */
typedef struct axle_unary_attrs {
    uint32_t struct_size, kind;
    double alpha, beta;
} axle_unary_attrs;

/**
 * Kinds of BINARY: X(number, NAME, text, result). Result S: the operands' dtype, B: bool.
 * add is a + alpha*b; remainder has the sign of b (Python), fmod the sign of a; integer division
 * rounds toward minus infinity; division, remainder and fmod of an integer by 0 give 0; pow of
 * integers wraps, a negative exponent gives 0. maximum and minimum pass NaN on. logical ones test
 * != 0. atan2 and bce_with_logits take floats only. bce_with_logits: a logit, b target: max(a,0) -
 * a*b + log1p(exp(-|a|)). Booleans take the comparisons, logical ones, maximum and minimum only.
 */
#define AXLE_BINARY_LIST(X)                                                                        \
    X(1, ADD, "add", S)                                                                            \
    X(2, SUB, "sub", S)                                                                            \
    X(3, MUL, "mul", S)                                                                            \
    X(4, DIV, "div", S)                                                                            \
    X(5, POW, "pow", S)                                                                            \
    X(6, MAXIMUM, "maximum", S)                                                                    \
    X(7, MINIMUM, "minimum", S)                                                                    \
    X(8, ATAN2, "atan2", S)                                                                        \
    X(9, REMAINDER, "remainder", S)                                                                \
    X(10, FMOD, "fmod", S)                                                                         \
    X(11, BCE_WITH_LOGITS, "bce_with_logits", S)                                                   \
    X(12, EQ, "eq", B)                                                                             \
    X(13, NE, "ne", B)                                                                             \
    X(14, LT, "lt", B)                                                                             \
    X(15, LE, "le", B)                                                                             \
    X(16, GT, "gt", B)                                                                             \
    X(17, GE, "ge", B)                                                                             \
    X(18, LOGICAL_AND, "logical_and", B)                                                           \
    X(19, LOGICAL_OR, "logical_or", B)                                                             \
    X(20, LOGICAL_XOR, "logical_xor", B)

enum {
#define AXLE_BINARY_ENUM(number, name, text, result) AXLE_BINARY_##name = number,
    AXLE_BINARY_LIST(AXLE_BINARY_ENUM)
#undef AXLE_BINARY_ENUM
        AXLE_BINARY_LIMIT = 21
};

/** BINARY: a, b -> y, same dims; a and b of one dtype. alpha is used by add alone. */
typedef struct axle_binary_attrs {
    uint32_t struct_size, kind;
    double alpha;
} axle_binary_attrs;

/* WHERE: condition (bool), a, b -> y; a, b, y of one dtype, any type. y = condition ? a : b.
 * The branch not taken never leaks (no 0 * NaN). No attributes. */

/* ------------------------------------------------------------------ reductions */

/** Kinds of REDUCE. max and min pass NaN on; norm1 sum|x|, norm2 sqrt(sum x^2), sum_squares sum
 * x^2; var: sum (x - mean)^2 / max(0, n - parameter). any and all give bool from every type. */
#define AXLE_REDUCE_LIST(X)                                                                        \
    X(1, SUM, "sum")                                                                               \
    X(2, MEAN, "mean")                                                                             \
    X(3, PROD, "prod")                                                                             \
    X(4, MAX, "max")                                                                               \
    X(5, MIN, "min")                                                                               \
    X(6, VAR, "var")                                                                               \
    X(7, NORM1, "norm1")                                                                           \
    X(8, NORM2, "norm2")                                                                           \
    X(9, SUM_SQUARES, "sum_squares")                                                               \
    X(10, ANY, "any")                                                                              \
    X(11, ALL, "all")

enum {
#define AXLE_REDUCE_ENUM(number, name, text) AXLE_REDUCE_##name = number,
    AXLE_REDUCE_LIST(AXLE_REDUCE_ENUM)
#undef AXLE_REDUCE_ENUM
        AXLE_REDUCE_LIMIT = 12
};

/** REDUCE: x -> y of the same rank; dim k of y is 1 where bit k of axes is set, else x's.
 *  y has x's dtype, or bool for any and all. sum, prod, max and min take integers, too. The dims
 *  that are neither separated by strides nor by the kind of axis have been merged. */
typedef struct axle_reduce_attrs {
    uint32_t struct_size, kind;
    uint32_t axes, reserved;
    double parameter;
} axle_reduce_attrs;

/** ARG_REDUCE: x -> y (i64), same rank, dim `axis` of y is 1. First of equal ones; NaN wins. */
typedef struct axle_arg_reduce_attrs {
    uint32_t struct_size, kind; /**< AXLE_REDUCE_MAX or AXLE_REDUCE_MIN */
    uint32_t axis, reserved;
} axle_arg_reduce_attrs;

/* ------------------------------------------------------------------ products */

/**
 * MATMUL: a (..., M, K), b (..., K, N), bias? (..., M, N) -> y (..., M, N); float, one dtype.
 * y = activation(alpha * (a . b) + bias), or y += alpha * (a . b) + bias with `accumulate` (then y
 * is rw and there is no activation). Equal rank >= 2 and equal leading dims (stride 0 repeats; bias
 * often has stride 0 over M). Transposed operands have their strides swapped. K = 0 gives the bias.
 * Without `accumulate` what y held (even NaN) has no influence.
 */
typedef struct axle_matmul_attrs {
    uint32_t struct_size;
    uint32_t activation; /**< 0, or AXLE_UNARY_RELU, GELU, GELU_TANH, SIGMOID, TANH or SILU */
    uint32_t accumulate, reserved;
    double alpha;
} axle_matmul_attrs;

enum { AXLE_MAX_SPATIAL = 3 };

/**
 * CONV: x (N, C, in...), w (O, C/groups, kernel...), bias? (O) -> y (N, O, out...); 1 to 3 spatial
 * dims; cross-correlation as in PyTorch. y = activation(conv(x, w) + bias).
 *
 * CONV_BACKWARD_DATA: dy (N, O, out...), w, bias? (C) -> dx (N, C, in...) (+ bias over C: this is
 * the forward of the transposed convolution, too).
 *
 * CONV_BACKWARD_WEIGHT: dy, x -> dw?, db? (O).
 *
 * Strides of x and y tell their layout (row-major or channels-last).
 */
typedef struct axle_conv_attrs {
    uint32_t struct_size, n_spatial;
    uint32_t groups, activation; /**< activation: 0 or AXLE_UNARY_RELU, CONV only */
    int32_t stride[AXLE_MAX_SPATIAL], pad[AXLE_MAX_SPATIAL]; /**< pad: zeros before and after */
    int32_t dilation[AXLE_MAX_SPATIAL], reserved;            /**< 1 is dense */
} axle_conv_attrs;

enum {
    AXLE_POOL_MAX = 1,
    AXLE_POOL_AVG = 2,
    AXLE_POOL_AVG_NO_PAD = 3 /* padding is not counted */
};

/**
 * POOL: x (N, C, in...) -> y (N, C, out...), index? (like y, i32; kind max only): the row-major
 * position of the maximum inside the input plane; first of equal ones, NaN wins. Padding never is a
 * maximum; a window of padding alone gives -inf and index -1, which the backward pass skips. A
 * window that leaves the padded input on the right (ceil mode) is clipped to in + 2*pad for the
 * count. Adaptive: window i of n covers [floor(i*in/n), ceil((i+1)*in/n)) and kernel, stride, pad
 * are 0.
 *
 * POOL_BACKWARD: dy, index? (max) -> dx.
 */
typedef struct axle_pool_attrs {
    uint32_t struct_size, n_spatial;
    uint32_t kind, adaptive;
    int32_t kernel[AXLE_MAX_SPATIAL], stride[AXLE_MAX_SPATIAL];
    int32_t pad[AXLE_MAX_SPATIAL], dilation[AXLE_MAX_SPATIAL];
} axle_pool_attrs;

/* INTERPOLATE: x (N, C, in...) -> y (N, C, out...), nearest: source i*in/out rounded down.
 * INTERPOLATE_BACKWARD: dy -> dx: sums over the pixels that took an element. No attributes. */

/* ------------------------------------------------------------------ softmax and losses */

/**
 * SOFTMAX: x, mask? -> y over dim `axis`; the mask has x's dims. A bool mask keeps what is true; a
 * float mask (x's dtype) is added to scale * x, -inf removes. `causal` (axis is the last dim) keeps
 * column <= row of the last two dims. A slice with nothing kept gives zeros (log: all -inf), and
 * removed elements give exactly 0 (log: -inf), whatever x holds there. Where all kept elements are
 * -inf the slice is NaN.
 *
 * SOFTMAX_BACKWARD: dy, y -> dx; uses log, axis, scale. Where y is 0 (log: -inf), dx is 0.
 */
typedef struct axle_softmax_attrs {
    uint32_t struct_size, axis;
    uint32_t log, causal;
    double scale;
} axle_softmax_attrs;

enum { AXLE_REDUCTION_NONE = 0, AXLE_REDUCTION_MEAN = 1, AXLE_REDUCTION_SUM = 2 };

/**
 * CROSS_ENTROPY: logits (N, C, S), target (N, S) i64 or i32, weight? (C) ->
 *     loss (1, 1) or, reduction none, (N, S); lse (N, S) stat, log(sum(exp(logits))) of each
 *     position; total (1, 1) stat, the sum of the weights of the valid targets (their number where
 *     there is no weight).
 * With t the target, w its weight, s the smoothing:
 *     loss = (1-s) * w[t] * (lse - x[t]) + s/C * sum_c w[c] * (lse - x[c]),
 * 0 where t == ignore_index. mean divides by total and is 0 where total is 0. Any other target
 * outside [0, C) is AXLE_ERR_INDEX.
 * CROSS_ENTROPY_BACKWARD: dloss (like loss), logits, target, weight?, lse, total -> dlogits;
 * exactly 0 at ignored positions.
 */
typedef struct axle_cross_entropy_attrs {
    uint32_t struct_size, reduction;
    int64_t ignore_index;
    double label_smoothing;
} axle_cross_entropy_attrs;

/* ------------------------------------------------------------------ normalisation */

enum { AXLE_NORM_LAYER = 1, AXLE_NORM_RMS = 2 };

/**
 * LAYER_NORM: x (R, D), gamma? (D), beta? (D) -> y (R, D), mean? (R) stat (layer only), rstd? (R)
 * stat.
 *
 *     layer: (x - mean) * rstd * gamma + beta, rstd = 1/sqrt(var + eps), var biased
 *     rms:   x * rstd * gamma,                 rstd = 1/sqrt(mean(x^2) + eps)
 *
 * LAYER_NORM_BACKWARD: dy, x, gamma?, mean? (layer only), rstd -> dx?, dgamma?, dbeta?.
 */
typedef struct axle_layer_norm_attrs {
    uint32_t struct_size, kind;
    double eps;
} axle_layer_norm_attrs;

/**
 * BATCH_NORM: x (N, C, ...), gamma? (C), beta? (C), running_mean? (C), running_var? (C) ->
 *     y, mean? (C) stat, rstd? (C) stat, running_mean? rw, running_var? rw (the same storage as the
 *     inputs; training only).
 *
 * training: statistics of the batch (biased variance; the core refuses one value a channel)
 * normalise; running = (1-momentum)*running + momentum*batch, with the unbiased variance. Not
 * training: running statistics normalise, and mean and rstd report them.
 *
 * BATCH_NORM_BACKWARD: dy, x, gamma?, mean, rstd -> dx?, dgamma?, dbeta?; `training` says whether
 * the statistics depend on x.
 */
typedef struct axle_batch_norm_attrs {
    uint32_t struct_size, training;
    double eps, momentum;
} axle_batch_norm_attrs;

/**
 * GROUP_NORM: x (N, C, ...), gamma? (C), beta? (C) -> y, mean? (N, G) stat, rstd? (N, G) stat;
 * biased variance over C/G channels and space.
 *
 * GROUP_NORM_BACKWARD: dy, x, gamma?, mean, rstd -> dx?, dgamma?, dbeta?.
 */
typedef struct axle_group_norm_attrs {
    uint32_t struct_size, groups;
    double eps;
} axle_group_norm_attrs;

/** DROPOUT: x -> y, same dims: element i is x / (1-p) where its uniform u >= p, else exactly 0
 * (also of NaN). p = 1 gives zeros. The backward pass runs the same operator on dy with the same
 * seed. */
typedef struct axle_dropout_attrs {
    uint32_t struct_size, reserved;
    double p;
} axle_dropout_attrs;

/* ------------------------------------------------------------------ indexing */

/**
 * EMBEDDING: weight (V, D), ids (n) i32 or i64 -> y (n, D).
 *
 * EMBEDDING_BACKWARD: dy (n, D), ids (n) -> dweight (V, D), overwritten; rows of equal ids add up
 * in the order of their positions; ids equal to padding_idx (-1: none) add nothing.
 */
typedef struct axle_embedding_attrs {
    uint32_t struct_size, reserved;
    int64_t padding_idx;
} axle_embedding_attrs;

/**
 * GATHER: x, index (i32 or i64, rank of x) -> y (dims of index): y[..i..] = x[..index[..i..]..]
 * along axis.
 *
 * SCATTER: index, src (dims of index) -> y rw (float or integer): y[..index..] = src, or += with
 * accumulate; in the order of the elements, so the last one wins.
 *
 * INDEX_SELECT: x, index (n) -> y: slices of x along axis.
 *
 * INDEX_ADD: index (n), src -> y rw: y[.., index_j, ..] += src[.., j, ..], in the order of j.
 */
typedef struct axle_index_attrs {
    uint32_t struct_size, axis;
    uint32_t accumulate, reserved; /**< SCATTER only */
} axle_index_attrs;

/* ONE_HOT: ids (...) i32 or i64 -> y (..., C) of any dtype. An id outside [0, C) is AXLE_ERR_INDEX.
 * No attributes. */

/* ------------------------------------------------------------------ attention */

/**
 * ATTENTION: q (B, H, L, D), k (B, H, S, D), v (B, H, S, E), mask? (B, H, L, S; usually with
 *     repeating strides) -> y (B, H, L, E), lse? (B, H, L) stat.
 * y = dropout(softmax(scale * q.k^T, mask, causal)) . v, with mask, causal and empty rows as in
 * SOFTMAX: a row with nothing kept gives zeros (lse -inf), and what v or k hold at removed
 * positions, NaN included, has no influence. Dropout element of (b,h,i,j) is ((b*H+h)*L+i)*S+j.
 * ATTENTION_BACKWARD: dy, q, k, v, mask?, y, lse -> dq?, dk?, dv?. y and lse are there to be used
 * or to be computed again, as a backend likes; so are lse and total of CROSS_ENTROPY_BACKWARD.
 */
typedef struct axle_attention_attrs {
    uint32_t struct_size, causal;
    double scale, dropout;
} axle_attention_attrs;

/* ------------------------------------------------------------------ optimizers */

/*
 * Over flat, contiguous storage: every operand has the same n elements. g = grad * grad_scale.
 * Parameters and moments are f32 or f64 of one dtype; grad has that dtype, too. Definitions are
 * those of torch.optim (1.13 and later).
 */

/** SGD: grad (n) -> param (n) rw, momentum? (n) rw. */
typedef struct axle_sgd_attrs {
    uint32_t struct_size, nesterov;
    uint32_t maximize, reserved;
} axle_sgd_attrs;
/** first: the momentum buffer holds nothing yet and becomes g (no dampening). */
typedef struct axle_sgd_scalars {
    uint32_t struct_size, first;
    double lr, momentum, dampening, weight_decay, grad_scale;
} axle_sgd_scalars;

/** ADAM: grad (n) -> param (n) rw, m (n) rw, v (n) rw, vmax? (n) rw (amsgrad, over the raw v).
 *  decoupled: AdamW. denominator = sqrt(v)/sqrt(bias2) + eps. */
typedef struct axle_adam_attrs {
    uint32_t struct_size, decoupled;
    uint32_t maximize, reserved;
} axle_adam_attrs;
/** bias1 = 1 - beta1^t, bias2 = 1 - beta2^t. */
typedef struct axle_adam_scalars {
    uint32_t struct_size, reserved;
    double lr, beta1, beta2, eps, weight_decay, bias1, bias2, grad_scale;
} axle_adam_scalars;

/** RMSPROP: grad (n) -> param (n) rw, square (n) rw, momentum? (n) rw, mean? (n) rw (centered). */
typedef struct axle_rmsprop_attrs {
    uint32_t struct_size, maximize;
} axle_rmsprop_attrs;
typedef struct axle_rmsprop_scalars {
    uint32_t struct_size, reserved;
    double lr, alpha, eps, weight_decay, momentum, grad_scale;
} axle_rmsprop_scalars;

#endif
