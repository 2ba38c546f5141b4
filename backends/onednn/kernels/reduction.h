/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over any set of dims, for operands of any strides and element types.
 *
 * The dims of x are sorted by stride. If the innermost one is reduced, each output folds rows; if
 * it is kept, up to REDUCE_TILE neighbouring outputs fold together, a row of x at a time. Where
 * there are few outputs, their elements are cut into parts of fixed size that are combined in
 * order.
 *
 * Besides REDUCE itself this serves the norms: moments, and sums of a gradient against them.
 */
#ifndef AXLE_ONEDNN_REDUCTION_H
#define AXLE_ONEDNN_REDUCTION_H

#include "kernel.h"

enum { REDUCE_TILE = 256 };

/* What is reduced to what. */
enum {
    REDUCE_VALUES,  /* x -> y, as REDUCE says */
    REDUCE_MOMENTS, /* x -> mean and sum of squares about it, f64 */
    REDUCE_PAIRS    /* x, dy, mean -> sum(dy) and sum(dy * (x - mean)), f64 */
};

typedef struct reduce_dim {
    int64_t size, x, dy, y; /* strides in elements */
} reduce_dim;

typedef struct reduce_plan {
    const cpu_loops *loops;
    int form;
    uint32_t kind, y_dtype;
    double parameter;
    int32_t domain;
    int64_t x_size, dy_size;
    load_loop load_x, load_dy; /* to dense elements of the domain */
    int x_native, dy_native;
    int columns; /* whether the innermost dim is kept */
    reduce_dim kept[AXLE_MAX_RANK], reduced[AXLE_MAX_RANK];
    int32_t n_kept, n_reduced;
    reduce_dim inner; /* the innermost dim, in neither list */
    int64_t rows;     /* combinations of `reduced` */
    int64_t outer;    /* combinations of `kept` */
    int64_t tile, tiles, parts, items;
    int64_t reduced_count; /* elements that an output folds */
    int64_t work;
} reduce_plan;

/* y is NULL in the forms other than REDUCE_VALUES: their results are dense, in the order of the
 * kept dims of x. dy is used by REDUCE_PAIRS alone. */
void reduce_plan_init(reduce_plan *plan, const cpu_loops *loops, int form, uint32_t kind,
                      double parameter, uint32_t axes, const axle_view *x, const axle_view *dy,
                      const axle_view *y);

size_t reduce_plan_workspace(const reduce_plan *plan);

/* Operands of a run. `mean` is read by pairs; `out` is y, mean or sum(dy); `second` is the sum of
 * squares or sum(dy * (x - mean)). */
typedef struct reduce_arrays {
    const void *x, *dy;
    const double *mean;
    void *out;
    double *second;
} reduce_arrays;

void reduce_plan_run(const reduce_plan *plan, const reduce_arrays *arrays, void *workspace);

#endif
