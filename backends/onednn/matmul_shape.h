/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A product with its dims brought into the fewest and plainest: batch dims of one element dropped,
 * neighbours merged, and those over which the right operand repeats counted as rows of the left
 * one.
 */
#ifndef AXLE_ONEDNN_MATMUL_SHAPE_H
#define AXLE_ONEDNN_MATMUL_SHAPE_H

#include "cpu.h"

enum { MATMUL_A, MATMUL_B, MATMUL_BIAS, MATMUL_Y, MATMUL_OPERANDS };

/* Strides in elements; 0 along dims of one element. */
typedef struct matmul_operand {
    uint32_t dtype; /* 0: absent */
    uint32_t index; /* of the input; outputs have number 0 */
    int64_t batch[AXLE_MAX_RANK], row, column;
} matmul_operand;

/* a (batch..., m, k), b (batch..., k, n), bias and y (batch..., m, n). */
typedef struct matmul_shape {
    uint32_t n_batch;
    int64_t batch[AXLE_MAX_RANK], m, n, k;
    matmul_operand operand[MATMUL_OPERANDS];
} matmul_shape;

/* Where y is stored by columns, its transpose is computed: a and b change places. */
void matmul_shape_read(matmul_shape *shape, const axle_op_desc *desc);

/* Rows and columns of an operand's matrices. */
int64_t matmul_rows(const matmul_shape *shape, int operand);
int64_t matmul_columns(const matmul_shape *shape, int operand);
/* Whether an operand's matrices are stored by rows or, but for y and the bias, by columns. */
int matmul_is_plain(const matmul_shape *shape, int operand);

#endif
