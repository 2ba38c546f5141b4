/* SPDX-License-Identifier: Apache-2.0 */
/* One product of matrices, on the calling thread. */
#ifndef AXLE_OPENBLAS_GEMM_H
#define AXLE_OPENBLAS_GEMM_H

#include "library.h"

/* A matrix in memory; strides in elements. */
typedef struct blas_matrix {
    const void *data;
    int64_t row, column;
} blas_matrix;

/* Whether a matrix is stored by rows, or by columns, in a way that CBLAS can be told of. */
int blas_is_by_rows(int64_t rows, int64_t columns, int64_t row, int64_t column);
int blas_is_plain(int64_t rows, int64_t columns, int64_t row, int64_t column);

typedef struct blas_product {
    uint32_t dtype;
    int64_t m, n, k; /* each at most INT_MAX */
    double alpha, beta;
    blas_matrix a, b; /* (m, k) and (k, n), both plain */
    void *c;          /* (m, n), stored by rows */
    int64_t ldc;
} blas_product;

/* c = alpha * a . b + beta * c; what c held has no influence where beta is 0. */
void blas_gemm(const blas_library *library, const blas_product *p);

#endif
