/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A convolution of 1 to 3 spatial dims, seen as one of 3 (leading dims of size 1 are added).
 * x is what the window slides over and y what it produces, whichever of them is given.
 */
#ifndef AXLE_OPENBLAS_CONV_SHAPE_H
#define AXLE_OPENBLAS_CONV_SHAPE_H

#include "blas.h"

enum { CONV_AXES = AXLE_MAX_SPATIAL };

typedef struct conv_axis {
    int64_t in, out, kernel, stride, pad, dilation;
    int64_t x, y, w; /* strides of the operands, in elements */
} conv_axis;

typedef struct conv_shape {
    uint32_t dtype, work; /* of the operands, of the sums */
    int64_t samples, groups;
    int64_t inputs, outputs; /* channels of a group */
    int64_t taps;            /* elements of a kernel */
    int64_t terms;           /* inputs * taps: rows of a group's column matrix */
    int64_t positions;       /* elements of a plane of y */
    int64_t plane;           /* elements of a plane of x */
    int64_t x_sample, x_channel, y_sample, y_channel, w_output, w_input;
    int64_t y_step; /* from one position of y to the next, 0 where there is no such number */
    conv_axis axis[CONV_AXES];
} conv_shape;

/* 0 where the operands are not served. Any of x, w, y may stand anywhere in the call. */
int conv_shape_read(conv_shape *shape, const axle_conv_attrs *attrs, const axle_view *x,
                    const axle_view *w, const axle_view *y);

/* Multiplications in all. */
double conv_products(const conv_shape *shape);

/* Positions of y are numbered through all samples. The run that begins at `q` and ends at the end
 * of what lies evenly in memory, or at `end`: how long it is, and where it begins, in elements. */
int64_t conv_run(const conv_shape *shape, int64_t q, int64_t end, int64_t *at);
/* From one element of a run to the next. */
int64_t conv_run_step(const conv_shape *shape);

#endif
