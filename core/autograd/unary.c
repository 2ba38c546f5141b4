/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise functions of one tensor. */
#include "axle/ops.h"

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "tensor/elementwise.h"

typedef struct unary_attrs {
    uint32_t kind;
    double alpha, beta;
} unary_attrs;

static int unary_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const unary_attrs *attrs = node->attrs;
    if (axle__unary_saves(attrs->kind) == 'Z')
        return AXLE_OK;
    dx[0] =
        axle__unary_backward(attrs->kind, attrs->alpha, attrs->beta, dy[0], axle__saved(node, 0));
    return axle__given(dx[0]);
}

/* One rule a kind, so that messages name the operator. */
static const axle__rule rules[AXLE_UNARY_LIMIT] = {
#define RULE(number, id, text, saved) [number] = {text, unary_backward, NULL},
    AXLE_UNARY_LIST(RULE)
#undef RULE
};

/* Whether a kind has that element type: all have floats, some integers, few booleans. */
static int check_type(uint32_t kind, const axle_tensor *x)
{
    if (axle_dtype_is_float((int)axle__dtype(x)) || axle__unary_saves(kind) == 'B')
        return AXLE_OK;
    switch (kind) {
    case AXLE_UNARY_NEG:
    case AXLE_UNARY_ABS:
    case AXLE_UNARY_SIGN:
    case AXLE_UNARY_SQUARE:
    case AXLE_UNARY_RELU:
    case AXLE_UNARY_CLIP:
    case AXLE_UNARY_AFFINE:
    case AXLE_UNARY_FLOOR:
    case AXLE_UNARY_CEIL:
    case AXLE_UNARY_ROUND:
    case AXLE_UNARY_TRUNC:
        return axle__check_number(axle__unary_name(kind), x);
    default:
        return axle__check_float(axle__unary_name(kind), x);
    }
}

static const uint8_t autocast_policy[AXLE_UNARY_LIMIT] = {
#define POLICY(id) [AXLE_UNARY_##id] = AXLE__CAST_FULL,
    AXLE__AUTOCAST_UNARY_LIST(POLICY)
#undef POLICY
};

static axle_tensor *unary(uint32_t kind, double alpha, double beta, axle_tensor *x)
{
    if (!axle__autocast(autocast_policy[kind], (axle_tensor * *const[]){&x, NULL}) || !x ||
        check_type(kind, x))
        return NULL;
    axle_tensor *y = axle__unary(kind, alpha, beta, x);
    char saves = axle__unary_saves(kind);
    if (!y || saves == 'B')
        return y;
    axle_tensor *kept = saves == 'X' ? x : saves == 'Y' ? y : NULL;
    unary_attrs attrs = {kind, alpha, beta};
    return axle__record(&rules[kind], y, &x, 1, &kept, 1, &attrs, sizeof(attrs));
}

/* The functions without parameters. */
#define PLAIN_LIST(X)                                                                              \
    X(NEG, neg)                                                                                    \
    X(ABS, abs)                                                                                    \
    X(SIGN, sign)                                                                                  \
    X(SQUARE, square)                                                                              \
    X(SQRT, sqrt)                                                                                  \
    X(RSQRT, rsqrt)                                                                                \
    X(RECIPROCAL, reciprocal)                                                                      \
    X(EXP, exp)                                                                                    \
    X(EXPM1, expm1)                                                                                \
    X(LOG, log)                                                                                    \
    X(LOG1P, log1p)                                                                                \
    X(LOG2, log2)                                                                                  \
    X(LOG10, log10)                                                                                \
    X(SIN, sin)                                                                                    \
    X(COS, cos)                                                                                    \
    X(TAN, tan)                                                                                    \
    X(ASIN, asin)                                                                                  \
    X(ACOS, acos)                                                                                  \
    X(ATAN, atan)                                                                                  \
    X(SINH, sinh)                                                                                  \
    X(COSH, cosh)                                                                                  \
    X(TANH, tanh)                                                                                  \
    X(ERF, erf)                                                                                    \
    X(SIGMOID, sigmoid)                                                                            \
    X(LOG_SIGMOID, log_sigmoid)                                                                    \
    X(RELU, relu)                                                                                  \
    X(GELU, gelu)                                                                                  \
    X(GELU_TANH, gelu_tanh)                                                                        \
    X(SILU, silu)                                                                                  \
    X(MISH, mish)                                                                                  \
    X(HARD_SIGMOID, hard_sigmoid)                                                                  \
    X(HARD_SWISH, hard_swish)                                                                      \
    X(FLOOR, floor)                                                                                \
    X(CEIL, ceil)                                                                                  \
    X(ROUND, round)                                                                                \
    X(TRUNC, trunc)                                                                                \
    X(LOGICAL_NOT, logical_not)                                                                    \
    X(IS_NAN, is_nan)                                                                              \
    X(IS_INF, is_inf)                                                                              \
    X(IS_FINITE, is_finite)

#define PLAIN(id, name)                                                                            \
    axle_tensor *axle_##name(axle_tensor *x)                                                       \
    {                                                                                              \
        return unary(AXLE_UNARY_##id, 0.0, 0.0, x);                                                \
    }
PLAIN_LIST(PLAIN)

axle_tensor *axle_leaky_relu(axle_tensor *x, double slope)
{
    return unary(AXLE_UNARY_LEAKY_RELU, slope, 0.0, x);
}

axle_tensor *axle_elu(axle_tensor *x, double alpha)
{
    return unary(AXLE_UNARY_ELU, alpha, 0.0, x);
}

axle_tensor *axle_softplus(axle_tensor *x, double beta, double threshold)
{
    return unary(AXLE_UNARY_SOFTPLUS, beta, threshold, x);
}

axle_tensor *axle_clip(axle_tensor *x, double low, double high)
{
    return unary(AXLE_UNARY_CLIP, low, high, x);
}

axle_tensor *axle_affine(axle_tensor *x, double scale, double shift)
{
    return unary(AXLE_UNARY_AFFINE, scale, shift, x);
}

axle_tensor *axle_add_scalar(axle_tensor *x, double value)
{
    return unary(AXLE_UNARY_AFFINE, 1.0, value, x);
}

axle_tensor *axle_mul_scalar(axle_tensor *x, double value)
{
    return unary(AXLE_UNARY_AFFINE, value, 0.0, x);
}

axle_tensor *axle_pow_scalar(axle_tensor *x, double exponent)
{
    return unary(AXLE_UNARY_POW_SCALAR, exponent, 0.0, x);
}
