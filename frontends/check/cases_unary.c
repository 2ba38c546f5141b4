/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one operand, and their derivatives. */
#include "case.h"

/* X(KIND, name, domain, alpha, beta, type of the result) */
#define FORWARD(X)                                                                                 \
    X(NEG, "neg", "any", 0, 0, "x")                                                                \
    X(NEG, "neg of NaN and infinity", "special", 0, 0, "x")                                        \
    X(ABS, "abs", "any", 0, 0, "x")                                                                \
    X(ABS, "abs of NaN and infinity", "special", 0, 0, "x")                                        \
    X(SIGN, "sign", "small", 0, 0, "x")                                                            \
    X(SQUARE, "square", "any", 0, 0, "x")                                                          \
    X(SQRT, "sqrt", "pos", 0, 0, "x")                                                              \
    X(RSQRT, "rsqrt", "pos", 0, 0, "x")                                                            \
    X(RECIPROCAL, "reciprocal", "pos", 0, 0, "x")                                                  \
    X(EXP, "exp", "any", 0, 0, "x")                                                                \
    X(EXP, "exp of NaN and infinity", "special", 0, 0, "x")                                        \
    X(EXPM1, "expm1", "any", 0, 0, "x")                                                            \
    X(LOG, "log", "pos", 0, 0, "x")                                                                \
    X(LOG1P, "log1p", "prob", 0, 0, "x")                                                           \
    X(LOG2, "log2", "pos", 0, 0, "x")                                                              \
    X(LOG10, "log10", "pos", 0, 0, "x")                                                            \
    X(SIN, "sin", "far", 0, 0, "x")                                                                \
    X(COS, "cos", "far", 0, 0, "x")                                                                \
    X(TAN, "tan", "unit", 0, 0, "x")                                                               \
    X(ASIN, "asin", "unit", 0, 0, "x")                                                             \
    X(ACOS, "acos", "unit", 0, 0, "x")                                                             \
    X(ATAN, "atan", "far", 0, 0, "x")                                                              \
    X(SINH, "sinh", "any", 0, 0, "x")                                                              \
    X(COSH, "cosh", "any", 0, 0, "x")                                                              \
    X(TANH, "tanh", "any", 0, 0, "x")                                                              \
    X(TANH, "tanh of NaN and infinity", "special", 0, 0, "x")                                      \
    X(ERF, "erf", "any", 0, 0, "x")                                                                \
    X(SIGMOID, "sigmoid", "far", 0, 0, "x")                                                        \
    X(SIGMOID, "sigmoid of NaN and infinity", "special", 0, 0, "x")                                \
    X(LOG_SIGMOID, "log_sigmoid", "far", 0, 0, "x")                                                \
    X(RELU, "relu", "any", 0, 0, "x")                                                              \
    X(RELU, "relu of NaN and infinity", "special", 0, 0, "x")                                      \
    X(LEAKY_RELU, "leaky_relu", "any", 0.125, 0, "x")                                              \
    X(ELU, "elu", "any", 1.25, 0, "x")                                                             \
    X(GELU, "gelu", "any", 0, 0, "x")                                                              \
    X(GELU_TANH, "gelu_tanh", "any", 0, 0, "x")                                                    \
    X(SILU, "silu", "far", 0, 0, "x")                                                              \
    X(MISH, "mish", "far", 0, 0, "x")                                                              \
    X(SOFTPLUS, "softplus", "far", 2.0, 20.0, "x")                                                 \
    X(HARD_SIGMOID, "hard_sigmoid", "far", 0, 0, "x")                                              \
    X(HARD_SWISH, "hard_swish", "far", 0, 0, "x")                                                  \
    X(CLIP, "clip", "any", -0.75, 0.5, "x")                                                        \
    X(AFFINE, "affine", "any", -1.75, 0.25, "x")                                                   \
    X(POW_SCALAR, "pow_scalar of 2.5", "pos", 2.5, 0, "x")                                         \
    X(POW_SCALAR, "pow_scalar of 3", "any", 3.0, 0, "x")                                           \
    X(FLOOR, "floor", "halves", 0, 0, "x")                                                         \
    X(CEIL, "ceil", "halves", 0, 0, "x")                                                           \
    X(ROUND, "round", "halves", 0, 0, "x")                                                         \
    X(TRUNC, "trunc", "halves", 0, 0, "x")                                                         \
    X(LOGICAL_NOT, "logical_not", "special", 0, 0, "bool")                                         \
    X(IS_NAN, "is_nan", "special", 0, 0, "bool")                                                   \
    X(IS_INF, "is_inf", "special", 0, 0, "bool")                                                   \
    X(IS_FINITE, "is_finite", "special", 0, 0, "bool")

/* X(KIND, name, saved operand, alpha, beta): the saved one is the input or the output, by kind. */
#define BACKWARD(X)                                                                                \
    X(NEG, "neg", "-", 0, 0)                                                                       \
    X(ABS, "abs", "x:small(*)", 0, 0)                                                              \
    X(SQUARE, "square", "x:any(*)", 0, 0)                                                          \
    X(SQRT, "sqrt", "x:pos(*)", 0, 0)                                                              \
    X(RSQRT, "rsqrt", "x:pos(*)", 0, 0)                                                            \
    X(RECIPROCAL, "reciprocal", "x:pos(*)", 0, 0)                                                  \
    X(EXP, "exp", "x:pos(*)", 0, 0)                                                                \
    X(EXPM1, "expm1", "x:pos(*)", 0, 0)                                                            \
    X(LOG, "log", "x:pos(*)", 0, 0)                                                                \
    X(LOG1P, "log1p", "x:prob(*)", 0, 0)                                                           \
    X(LOG2, "log2", "x:pos(*)", 0, 0)                                                              \
    X(LOG10, "log10", "x:pos(*)", 0, 0)                                                            \
    X(SIN, "sin", "x:any(*)", 0, 0)                                                                \
    X(COS, "cos", "x:any(*)", 0, 0)                                                                \
    X(TAN, "tan", "x:any(*)", 0, 0)                                                                \
    X(ASIN, "asin", "x:unit(*)", 0, 0)                                                             \
    X(ACOS, "acos", "x:unit(*)", 0, 0)                                                             \
    X(ATAN, "atan", "x:far(*)", 0, 0)                                                              \
    X(SINH, "sinh", "x:any(*)", 0, 0)                                                              \
    X(COSH, "cosh", "x:any(*)", 0, 0)                                                              \
    X(TANH, "tanh", "x:unit(*)", 0, 0)                                                             \
    X(ERF, "erf", "x:any(*)", 0, 0)                                                                \
    X(SIGMOID, "sigmoid", "x:prob(*)", 0, 0)                                                       \
    X(LOG_SIGMOID, "log_sigmoid", "x:far(*)", 0, 0)                                                \
    X(RELU, "relu", "x:small(*)", 0, 0)                                                            \
    X(LEAKY_RELU, "leaky_relu", "x:any(*)", 0.125, 0)                                              \
    X(ELU, "elu", "x:any(*)", 1.25, 0)                                                             \
    X(GELU, "gelu", "x:any(*)", 0, 0)                                                              \
    X(GELU_TANH, "gelu_tanh", "x:any(*)", 0, 0)                                                    \
    X(SILU, "silu", "x:far(*)", 0, 0)                                                              \
    X(MISH, "mish", "x:far(*)", 0, 0)                                                              \
    X(SOFTPLUS, "softplus", "x:far(*)", 2.0, 20.0)                                                 \
    X(HARD_SIGMOID, "hard_sigmoid", "x:far(*)", 0, 0)                                              \
    X(HARD_SWISH, "hard_swish", "x:far(*)", 0, 0)                                                  \
    X(CLIP, "clip", "x:halves(*)", -1.0, 1.5)                                                      \
    X(AFFINE, "affine", "-", -1.75, 0.25)                                                          \
    X(POW_SCALAR, "pow_scalar of 2.5", "x:pos(*)", 2.5, 0)                                         \
    X(POW_SCALAR, "pow_scalar of 3", "x:any(*)", 3.0, 0)

const op_case cases_unary[] = {
#define UNARY(KIND, label, domain, a, b, result)                                                   \
    {.op = AXLE_OP_UNARY,                                                                          \
     .name = label,                                                                                \
     .in = "x:" domain "(*)",                                                                      \
     .out = result "(*)",                                                                          \
     .shapes = elementwise_shapes,                                                                 \
     .attrs = ATTRS(axle_unary_attrs, .kind = AXLE_UNARY_##KIND, .alpha = (a), .beta = (b)),       \
     .flags = CASE_IN_PLACE},
    FORWARD(UNARY)
#define UNARY_BACKWARD(KIND, label, saved, a, b)                                                   \
    {.op = AXLE_OP_UNARY_BACKWARD,                                                                 \
     .name = label,                                                                                \
     .in = "x:any(*) " saved,                                                                      \
     .out = "x(*)",                                                                                \
     .shapes = elementwise_shapes,                                                                 \
     .attrs = ATTRS(axle_unary_attrs, .kind = AXLE_UNARY_##KIND, .alpha = (a), .beta = (b)),       \
     .flags = CASE_IN_PLACE},
        BACKWARD(UNARY_BACKWARD){0}};
