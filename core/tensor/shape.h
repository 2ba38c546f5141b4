/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of dims and strides. */
#ifndef AXLE_TENSOR_SHAPE_H
#define AXLE_TENSOR_SHAPE_H

#include <stdbool.h>

#include "axle/backend.h"

/* Number of elements; -1 and an error where rank or a dim is out of range or the bytes overflow. */
int64_t axle__dims_count(const char *who, int rank, const int64_t *dims);
bool axle__dims_equal(int rank_a, const int64_t *a, int rank_b, const int64_t *b);
void axle__row_major_strides(int rank, const int64_t *dims, int64_t *strides);
/* Strides of (N, C, spatial...) stored as N, spatial..., C. */
void axle__channels_last_strides(int rank, const int64_t *dims, int64_t *strides);
/* Whether some order of the dims makes it row-major. */
bool axle__view_is_dense(const axle_view *view);
int64_t axle__view_count(const axle_view *view);

/* NumPy's broadcasting; false (no error) where the dims do not fit. */
bool axle__broadcast(int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank,
                     int64_t *dims);
/* Repeat a view to larger dims, by stride 0; it must fit. */
void axle__view_expand(axle_view *view, int rank, const int64_t *dims);
/* Merge what all views allow, the order of elements kept; `reorder` lets dims be sorted by the
 * first view's strides, for operators to which the order of elements means nothing. */
void axle__views_merge(axle_view *const *views, int n, bool reorder);
/* Dim k, counted from the end where negative; -1 and an error where out of range. */
int axle__dim_index(const char *who, int rank, int k);
/* Reduced dims as a bit mask; all where n is 0. False and an error on a bad or repeated dim. */
bool axle__dims_mask(const char *who, int rank, int n, const int *dims, uint32_t *mask);

#endif
