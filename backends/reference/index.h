/* SPDX-License-Identifier: Apache-2.0 */
/* What the operators with index operands share: checked indices, picking and adding slices. */
#ifndef AXLE_REFERENCE_INDEX_H
#define AXLE_REFERENCE_INDEX_H

#include "reference.h"

/* The indices as i64 in row-major order, for ref_free; each is checked to lie in [0, limit). `name`
 * is the operator's, for the message. */
axle_status ref_index_load(const ref_call *call, const char *name, const axle_view *index,
                           int64_t limit, int64_t **out);

/* The list of indices as an operand beside elements of `shape`. */
axle_view ref_index_view(const axle_view *shape, int vector, uint32_t axis);

/* Bytes from a place along the axis to the next. */
static inline int64_t ref_axis_step(const axle_view *view, uint32_t axis)
{
    return view->stride[axis] * (int64_t)ref_dtype_size(view->dtype);
}

/* y[.., i, ..] = x[.., index, ..] along `axis`. The indices belong to the elements of y, or, where
 * `vector` is set, to its places along the axis. */
void ref_index_pick(const ref_call *call, const axle_view *x, const int64_t *index, int vector,
                    uint32_t axis, const axle_view *y);

/* y[.., index, ..] = src[.., i, ..] along `axis`, an index an element of src, in the order of the
 * elements, so that the last of those that meet stays. */
void ref_index_place(const axle_view *src, const int64_t *index, uint32_t axis, const axle_view *y);

/* y[.., index, ..] += src[.., i, ..] along `axis`, in the order of i; sums round once. Negative
 * indices are left out. */
axle_status ref_index_add(const ref_call *call, const axle_view *src, const int64_t *index,
                          int vector, uint32_t axis, const axle_view *y);

#endif
