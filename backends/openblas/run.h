/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of elements on their way into a product and out of it. A product works in the type of its
 * operands, or in f64 where they are f32; that is its work type.
 */
#ifndef AXLE_OPENBLAS_RUN_H
#define AXLE_OPENBLAS_RUN_H

#include "blas.h"

/* Address of element `at` of an array. */
static inline void *blas_at(const void *data, uint32_t dtype, int64_t at)
{
    return (char *)data + at * (int64_t)blas_size(dtype);
}

/* to[i] = from[i * step], i < count; `to` is dense and of the work type. */
typedef void (*blas_load_fn)(const void *from, int64_t step, int64_t count, void *to);
blas_load_fn blas_load(uint32_t dtype, uint32_t work);

/* What happens to sums of products before they are stored. */
typedef struct blas_finish {
    uint32_t dtype, work;
    double scale;
    int accumulate;                                    /* add to what is there */
    void (*activation)(double *values, int64_t count); /* NULL: none */
} blas_finish;

/* The function of an AXLE_UNARY_*; NULL where products have no such activation. */
typedef void (*blas_activation_fn)(double *values, int64_t count);
blas_activation_fn blas_activation(uint32_t kind);

/* y[i * step] = activation(scale * sums[i] + bias[i * bias_step]) or y += that, computed in f64.
 * `bias` may be NULL; `sums`, of the work type, may be y itself where step is 1. */
void blas_finish_run(const blas_finish *f, const void *sums, const void *bias, int64_t bias_step,
                     void *y, int64_t step, int64_t count);

#endif
