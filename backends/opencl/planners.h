/* SPDX-License-Identifier: Apache-2.0 */
/* The planners of all operators: X(NAME, attributes' struct or none, needs f64 of an f64 operand).
 */
#ifndef AXLE_OPENCL_PLANNERS_H
#define AXLE_OPENCL_PLANNERS_H

#include "plan.h"

typedef struct ocl_no_attrs {
    uint32_t struct_size;
} ocl_no_attrs;

/* Operators that only move bits do so on devices without f64, too. */
enum { OCL_MOVES = 0, OCL_COMPUTES = 1 };

#define OCL_PLANNERS(X)                                                                            \
    X(COPY, copy, ocl_no_attrs, MOVES)                                                             \
    X(FILL, fill, axle_fill_attrs, MOVES)                                                          \
    X(ARANGE, arange, axle_arange_attrs, COMPUTES)                                                 \
    X(RANDOM, random, axle_random_attrs, COMPUTES)                                                 \
    X(UNARY, unary, axle_unary_attrs, COMPUTES)                                                    \
    X(UNARY_BACKWARD, unary_backward, axle_unary_attrs, COMPUTES)                                  \
    X(BINARY, binary, axle_binary_attrs, COMPUTES)                                                 \
    X(WHERE, where, ocl_no_attrs, MOVES)                                                           \
    X(REDUCE, reduce, axle_reduce_attrs, COMPUTES)                                                 \
    X(ARG_REDUCE, arg_reduce, axle_arg_reduce_attrs, COMPUTES)                                     \
    X(MATMUL, matmul, axle_matmul_attrs, COMPUTES)                                                 \
    X(CONV, conv, axle_conv_attrs, COMPUTES)                                                       \
    X(CONV_BACKWARD_DATA, conv_backward_data, axle_conv_attrs, COMPUTES)                           \
    X(CONV_BACKWARD_WEIGHT, conv_backward_weight, axle_conv_attrs, COMPUTES)                       \
    X(POOL, pool, axle_pool_attrs, COMPUTES)                                                       \
    X(POOL_BACKWARD, pool_backward, axle_pool_attrs, COMPUTES)                                     \
    X(INTERPOLATE, interpolate, ocl_no_attrs, COMPUTES)                                            \
    X(INTERPOLATE_BACKWARD, interpolate_backward, ocl_no_attrs, COMPUTES)                          \
    X(SOFTMAX, softmax, axle_softmax_attrs, COMPUTES)                                              \
    X(SOFTMAX_BACKWARD, softmax_backward, axle_softmax_attrs, COMPUTES)                            \
    X(CROSS_ENTROPY, cross_entropy, axle_cross_entropy_attrs, COMPUTES)                            \
    X(CROSS_ENTROPY_BACKWARD, cross_entropy_backward, axle_cross_entropy_attrs, COMPUTES)          \
    X(LAYER_NORM, layer_norm, axle_layer_norm_attrs, COMPUTES)                                     \
    X(LAYER_NORM_BACKWARD, layer_norm_backward, axle_layer_norm_attrs, COMPUTES)                   \
    X(BATCH_NORM, batch_norm, axle_batch_norm_attrs, COMPUTES)                                     \
    X(BATCH_NORM_BACKWARD, batch_norm_backward, axle_batch_norm_attrs, COMPUTES)                   \
    X(GROUP_NORM, group_norm, axle_group_norm_attrs, COMPUTES)                                     \
    X(GROUP_NORM_BACKWARD, group_norm_backward, axle_group_norm_attrs, COMPUTES)                   \
    X(DROPOUT, dropout, axle_dropout_attrs, COMPUTES)                                              \
    X(EMBEDDING, embedding, axle_embedding_attrs, MOVES)                                           \
    X(EMBEDDING_BACKWARD, embedding_backward, axle_embedding_attrs, COMPUTES)                      \
    X(GATHER, gather, axle_index_attrs, MOVES)                                                     \
    X(SCATTER, scatter, axle_index_attrs, COMPUTES)                                                \
    X(INDEX_SELECT, index_select, axle_index_attrs, MOVES)                                         \
    X(INDEX_ADD, index_add, axle_index_attrs, COMPUTES)                                            \
    X(ONE_HOT, one_hot, ocl_no_attrs, MOVES)                                                       \
    X(ATTENTION, attention, axle_attention_attrs, COMPUTES)                                        \
    X(ATTENTION_BACKWARD, attention_backward, axle_attention_attrs, COMPUTES)                      \
    X(SGD, sgd, axle_sgd_attrs, COMPUTES)                                                          \
    X(ADAM, adam, axle_adam_attrs, COMPUTES)                                                       \
    X(RMSPROP, rmsprop, axle_rmsprop_attrs, COMPUTES)

#define OCL_DECLARE(NAME, name, attrs, f64) int ocl_plan_##name(ocl_plan *plan);
OCL_PLANNERS(OCL_DECLARE)
#undef OCL_DECLARE

#endif
