/* SPDX-License-Identifier: Apache-2.0 */
/* Where the windows of a pooling lie; shared by both passes. */
#ifndef AXLE_ONEDNN_POOL_H
#define AXLE_ONEDNN_POOL_H

#include "stage.h"

enum { POOL_DIMS = AXLE_MAX_SPATIAL };

/* One spatial dim; missing leading ones have size 1. Strides are in elements of f32. */
typedef struct pool_axis {
    int64_t in, out, kernel, stride, pad, dilation;
    int64_t x_stride, y_stride, index_stride;
    int64_t place; /* what a step means in the row-major input plane */
} pool_axis;

typedef struct pool_geometry {
    uint32_t kind;
    int adaptive;
    int64_t samples, channels;
    int64_t x_sample, x_channel, y_sample, y_channel, index_sample, index_channel;
    pool_axis axis[POOL_DIMS];
    int64_t in_plane;
    int64_t x_extent; /* elements from the first to behind the last one of x */
} pool_geometry;

/* Taps of window i along an axis: the first one inside the input, how many are inside, and how many
 * are inside the padded input. */
typedef struct pool_range {
    int64_t first, count, padded;
} pool_range;

/* x is the input (or its gradient), y the output, index like y or NULL. */
void cpu_pool_geometry(pool_geometry *g, const axle_pool_attrs *attrs, const axle_view *x,
                       const axle_view *y, const axle_view *index);
pool_range cpu_pool_range(const pool_geometry *g, int d, int64_t i);

/* What a mean divides by: the taps of the padded input or of the input, by kind. */
int64_t cpu_pool_divisor(const pool_geometry *g, const pool_range *a, const pool_range *b,
                         const pool_range *c);

/* The windows along the last axis that have all their taps inside: [*begin, *end). */
void cpu_pool_interior(const pool_geometry *g, int64_t *begin, int64_t *end);

/* Whether attributes and operands are such as POOL and its backward pass take. */
int cpu_pool_accepts(const axle_op_desc *desc, const axle_view *x, const axle_view *y,
                     const axle_view *index);

#endif
