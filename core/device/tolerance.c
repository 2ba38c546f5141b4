/* SPDX-License-Identifier: Apache-2.0 */
/* What the hook "check" lets pass, all of it. */
#include "device/check.h"

#include <string.h>

/*
 * An element type's tolerances.
 *
 * f32 has 24 bits, 6e-8 to a rounding. Vector libraries and OpenCL promise 4 to 16 of them for most
 * functions, and exp and pow lose as many as their argument has digits: hence `rounded`. Functions
 * that pass through 0 (sin, log, gelu) come in fast forms whose error is absolute there: `natural`.
 * Sums of n terms in any order err by about sqrt(n) roundings of the sum of the absolute terms, and
 * Winograd's convolutions by some hundred: `summed` and `whole`. f64 is the same with 53 bits. The
 * half types compute in f32 and round their results once, to 11 and 8 bits; what is summed may have
 * been rounded in between, as after the halves of a fused operator.
 */
static const axle__tolerance tolerances[] = {
    [AXLE_DTYPE_F32] = {1e-5, 2e-6, 1e-5, 2e-5, 0x1p-126},
    [AXLE_DTYPE_F64] = {1e-13, 1e-13, 1e-13, 1e-12, 0x1p-1022},
    [AXLE_DTYPE_F16] = {1e-3, 1e-3, 2e-3, 4e-3, 0x1p-14},
    [AXLE_DTYPE_BF16] = {8e-3, 8e-3, 1.6e-2, 3.2e-2, 0x1p-126},
};

const axle__tolerance *axle__dtype_tolerance(uint32_t dtype)
{
    bool rounds =
        dtype < sizeof(tolerances) / sizeof(tolerances[0]) && tolerances[dtype].rounded > 0;
    return rounds ? &tolerances[dtype] : NULL;
}

/* Operators that are not mentioned move or select elements, or draw bits: their results are equal.
 * DROPOUT divides once; its zeros are compared as such, see compare.c. */
static const unsigned char closeness[AXLE_OP_LIMIT] = {
    [AXLE_OP_COPY] = AXLE__CLOSE_EQUAL,
    [AXLE_OP_ARANGE] = AXLE__CLOSE_ROUNDED,
    [AXLE_OP_UNARY] = AXLE__CLOSE_NATURAL,
    [AXLE_OP_UNARY_BACKWARD] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_BINARY] = AXLE__CLOSE_ROUNDED,
    [AXLE_OP_REDUCE] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_MATMUL] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_CONV] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_CONV_BACKWARD_DATA] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_CONV_BACKWARD_WEIGHT] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_POOL] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_POOL_BACKWARD] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_INTERPOLATE_BACKWARD] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_SOFTMAX] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_SOFTMAX_BACKWARD] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_CROSS_ENTROPY] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_CROSS_ENTROPY_BACKWARD] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_LAYER_NORM] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_LAYER_NORM_BACKWARD] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_BATCH_NORM] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_BATCH_NORM_BACKWARD] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_GROUP_NORM] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_GROUP_NORM_BACKWARD] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_DROPOUT] = AXLE__CLOSE_ROUNDED,
    [AXLE_OP_EMBEDDING_BACKWARD] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_SCATTER] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_INDEX_ADD] = AXLE__CLOSE_SUMMED,
    [AXLE_OP_ATTENTION] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_ATTENTION_BACKWARD] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_SGD] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_ADAM] = AXLE__CLOSE_WHOLE,
    [AXLE_OP_RMSPROP] = AXLE__CLOSE_WHOLE,
};

/* Kinds that differ from their operator. */
static const unsigned char unary_exact[AXLE_UNARY_LIMIT] = {
    [AXLE_UNARY_NEG] = 1,         [AXLE_UNARY_ABS] = 1,    [AXLE_UNARY_SIGN] = 1,
    [AXLE_UNARY_RELU] = 1,        [AXLE_UNARY_CLIP] = 1,   [AXLE_UNARY_FLOOR] = 1,
    [AXLE_UNARY_CEIL] = 1,        [AXLE_UNARY_ROUND] = 1,  [AXLE_UNARY_TRUNC] = 1,
    [AXLE_UNARY_LOGICAL_NOT] = 1, [AXLE_UNARY_IS_NAN] = 1, [AXLE_UNARY_IS_INF] = 1,
    [AXLE_UNARY_IS_FINITE] = 1,
};
static const unsigned char binary_kind[AXLE_BINARY_LIMIT] = {
    [AXLE_BINARY_ADD] = AXLE__CLOSE_SUMMED,
    [AXLE_BINARY_SUB] = AXLE__CLOSE_SUMMED,
    [AXLE_BINARY_MUL] = AXLE__CLOSE_ROUNDED,
    [AXLE_BINARY_DIV] = AXLE__CLOSE_ROUNDED,
    [AXLE_BINARY_POW] = AXLE__CLOSE_ROUNDED,
    [AXLE_BINARY_ATAN2] = AXLE__CLOSE_NATURAL,
    [AXLE_BINARY_REMAINDER] = AXLE__CLOSE_WHOLE,
    [AXLE_BINARY_FMOD] = AXLE__CLOSE_WHOLE,
    [AXLE_BINARY_BCE_WITH_LOGITS] = AXLE__CLOSE_WHOLE,
};
/* Variance and products of many factors have no sum of absolute terms. */
static const unsigned char reduce_kind[AXLE_REDUCE_LIMIT] = {
    [AXLE_REDUCE_SUM] = AXLE__CLOSE_SUMMED,         [AXLE_REDUCE_MEAN] = AXLE__CLOSE_SUMMED,
    [AXLE_REDUCE_PROD] = AXLE__CLOSE_WHOLE,         [AXLE_REDUCE_VAR] = AXLE__CLOSE_WHOLE,
    [AXLE_REDUCE_NORM1] = AXLE__CLOSE_SUMMED,       [AXLE_REDUCE_NORM2] = AXLE__CLOSE_SUMMED,
    [AXLE_REDUCE_SUM_SQUARES] = AXLE__CLOSE_SUMMED,
};

static uint32_t kind_of(const axle__call *call)
{
    return ((const uint32_t *)call->attrs)[1];
}

axle__closeness axle__call_closeness(const axle__call *call)
{
    switch (call->op) {
    case AXLE_OP_UNARY:
        return unary_exact[kind_of(call)] ? AXLE__CLOSE_EQUAL : AXLE__CLOSE_NATURAL;
    case AXLE_OP_BINARY:
        return (axle__closeness)binary_kind[kind_of(call)];
    case AXLE_OP_REDUCE:
        return (axle__closeness)reduce_kind[kind_of(call)];
    case AXLE_OP_COPY: /* between types of different precision one rounding may go either way */
        return call->in[0]->dtype == call->out[0]->dtype ? AXLE__CLOSE_EQUAL : AXLE__CLOSE_ROUNDED;
    default:
        return (axle__closeness)closeness[call->op];
    }
}

bool axle__call_reads_output(const axle__call *call, uint32_t k)
{
    switch (call->op) {
    case AXLE_OP_MATMUL:
        return ((const axle_matmul_attrs *)call->attrs)->accumulate != 0;
    case AXLE_OP_BATCH_NORM:
        return k >= 3;
    case AXLE_OP_SCATTER:
    case AXLE_OP_INDEX_ADD:
    case AXLE_OP_SGD:
    case AXLE_OP_ADAM:
    case AXLE_OP_RMSPROP:
        return true;
    default:
        return false;
    }
}

bool axle__call_scales_by_operand(const axle__call *call)
{
    bool is_optimizer =
        call->op == AXLE_OP_SGD || call->op == AXLE_OP_ADAM || call->op == AXLE_OP_RMSPROP;
    return call->n_in > 0 && !is_optimizer;
}

bool axle__call_divides_by_deviation(const axle__call *call)
{
    return call->op == AXLE_OP_LAYER_NORM_BACKWARD || call->op == AXLE_OP_BATCH_NORM_BACKWARD ||
           call->op == AXLE_OP_GROUP_NORM_BACKWARD;
}

/* ------------------------------------------------------------------ magnitudes */

static double magnitude(double x)
{
    return x < 0.0 ? -x : x;
}

static void of_matmul(void *attrs)
{
    axle_matmul_attrs *a = attrs;
    a->alpha = magnitude(a->alpha);
    a->activation = 0;
}

static void of_conv(void *attrs)
{
    ((axle_conv_attrs *)attrs)->activation = 0;
}

static void of_binary(void *attrs)
{
    axle_binary_attrs *a = attrs;
    a->alpha = a->kind == AXLE_BINARY_ADD ? magnitude(a->alpha) : 1.0;
    a->kind = AXLE_BINARY_ADD;
}

void axle__call_of_magnitudes(const axle__call *call, void *attrs, axle__call *out)
{
    static void (*const change[AXLE_OP_LIMIT])(void *) = {
        [AXLE_OP_MATMUL] = of_matmul,           [AXLE_OP_CONV] = of_conv,
        [AXLE_OP_CONV_BACKWARD_DATA] = of_conv, [AXLE_OP_CONV_BACKWARD_WEIGHT] = of_conv,
        [AXLE_OP_BINARY] = of_binary,
    };
    *out = *call;
    if (!call->attrs)
        return;
    memcpy(attrs, call->attrs, call->attrs_size);
    if (change[call->op])
        change[call->op](attrs);
    out->attrs = attrs;
}
