/* SPDX-License-Identifier: Apache-2.0 */
/* A product as its matrices and the dims that repeat it. */
#ifndef AXLE_OPENBLAS_MATMUL_SHAPE_H
#define AXLE_OPENBLAS_MATMUL_SHAPE_H

#include "blas.h"

enum { MATMUL_A, MATMUL_B, MATMUL_BIAS, MATMUL_Y, MATMUL_OPERANDS };

typedef struct matmul_operand {
    int64_t batch[AXLE_MAX_RANK], row, column; /* strides in elements */
} matmul_operand;

/* a (batch..., m, k), b (batch..., k, n), bias and y (batch..., m, n). */
typedef struct matmul_shape {
    uint32_t n_batch;
    int64_t batch[AXLE_MAX_RANK], batches, m, n, k;
    int transposed; /* y is stored by columns: its transpose is computed, a and b change places */
    matmul_operand operand[MATMUL_OPERANDS];
} matmul_shape;

/* Batch dims over which b repeats become rows of a where memory allows it. */
void matmul_shape_read(matmul_shape *shape, const axle_op_desc *desc);

/* Where matrix number `index` of an operand begins, in elements. */
int64_t matmul_batch_at(const matmul_shape *shape, int operand, int64_t index);

#endif
