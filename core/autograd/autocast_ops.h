/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operators run in which type inside an autocast region: X(name, policy). Operators that are
 * not listed run in the type of their operand. The lists follow the "Autocast Op Reference" of
 * PyTorch's documentation (CUDA lists), with three differences: mean and variance go with sum,
 * batch normalisation goes with the other norms, and two operands of different types meet in f32.
 */
#ifndef AXLE_AUTOGRAD_AUTOCAST_OPS_H
#define AXLE_AUTOGRAD_AUTOCAST_OPS_H

#define AXLE__AUTOCAST_LIST(X)                                                                     \
    X(matmul, LOW)                                                                                 \
    X(linear, LOW)                                                                                 \
    X(conv, LOW)                                                                                   \
    X(conv_transpose, LOW)                                                                         \
    X(attention, LOW)                                                                              \
    X(softmax, FULL)                                                                               \
    X(cross_entropy, FULL)                                                                         \
    X(bce_with_logits, FULL)                                                                       \
    X(mse_loss, FULL)                                                                              \
    X(l1_loss, FULL)                                                                               \
    X(layer_norm, FULL)                                                                            \
    X(batch_norm, FULL)                                                                            \
    X(group_norm, FULL)                                                                            \
    X(binary, WIDEST)                                                                              \
    X(pow, FULL)                                                                                   \
    X(where, WIDEST)                                                                               \
    X(join, WIDEST)                                                                                \
    X(scatter, WIDEST)

/* Kinds of UNARY and of REDUCE that run in f32. */
#define AXLE__AUTOCAST_UNARY_LIST(X)                                                               \
    X(RSQRT)                                                                                       \
    X(RECIPROCAL)                                                                                  \
    X(EXP)                                                                                         \
    X(EXPM1)                                                                                       \
    X(LOG)                                                                                         \
    X(LOG1P)                                                                                       \
    X(LOG2)                                                                                        \
    X(LOG10)                                                                                       \
    X(TAN)                                                                                         \
    X(ASIN)                                                                                        \
    X(ACOS)                                                                                        \
    X(SINH)                                                                                        \
    X(COSH)                                                                                        \
    X(SOFTPLUS)                                                                                    \
    X(POW_SCALAR)

#define AXLE__AUTOCAST_REDUCE_LIST(X)                                                              \
    X(SUM)                                                                                         \
    X(MEAN)                                                                                        \
    X(PROD)                                                                                        \
    X(VAR)                                                                                         \
    X(NORM1)                                                                                       \
    X(NORM2)

#endif
