/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions as products. The column matrix of a group has a row for each of its (channel, tap)
 * pairs and a column for each position of y, numbered through all samples; element (r, q) is the
 * element of x that tap r meets at position q, or 0 in the padding. Only blocks of it exist.
 */
#ifndef AXLE_OPENBLAS_LOWERING_H
#define AXLE_OPENBLAS_LOWERING_H

#include "conv_shape.h"

/* Rows [row, row + rows) of positions [first, first + count); dense, rows first. */
typedef struct conv_block {
    int64_t row, rows, first, count;
} conv_block;

/* Copy a block out of x, which begins at the group's first channel. */
void conv_columns_load(const conv_shape *shape, const conv_block *block, const void *x,
                       void *columns);

/* Add a block to planes (samples, inputs, plane...) of the work type. `planes` begins at sample
 * `sample` and channel `channel` and has `channels` of them. */
typedef struct conv_planes {
    void *data;
    int64_t sample, channel, channels;
} conv_planes;

void conv_columns_add(const conv_shape *shape, const conv_block *block, const void *columns,
                      const conv_planes *planes);

/* Copy channels of a group of y, which begins at the group's first one: (outputs, count). */
void conv_outputs_load(const conv_shape *shape, int64_t first, int64_t count, const void *y,
                       void *out);

/* Weights as (groups * outputs, terms), dense, of the work type; and back. */
void conv_weights_load(const conv_shape *shape, const void *w, void *out);
void conv_weights_store(const conv_shape *shape, const void *sums, void *w);
/* Whether w already is what conv_weights_load makes of it. */
int conv_weights_are_dense(const conv_shape *shape);

#endif
