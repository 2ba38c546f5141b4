/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands of indices. They are checked before anything is read or written through them, so that an
 * index out of range changes no output.
 */
#ifndef AXLE_ONEDNN_INDEX_H
#define AXLE_ONEDNN_INDEX_H

#include "kernel.h"

/* How a tensor of indices lies. */
typedef struct index_operand {
    uint32_t dtype;
    int64_t count;
    int32_t rank;
    int64_t dim[AXLE_MAX_RANK], stride[AXLE_MAX_RANK];
} index_operand;

index_operand cpu_index_operand(const axle_view *view);

/* Bytes of a dense list of the indices. */
static inline size_t cpu_index_list_size(const axle_view *view)
{
    return (size_t)cpu_count(view) * sizeof(int64_t);
}

/* Write all indices, in row-major order, to `list`. AXLE_ERR_INDEX for the first one that is
 * neither in [0, limit) nor *except (which may be absent). */
axle_status cpu_index_load(const index_operand *operand, const void *data, const char *name,
                           int64_t limit, const int64_t *except, int64_t *list, axle_error *error);

/*
 * How elements move through indices. Along every dim there is a step in the operand that is walked
 * (`own`), in the one that the index selects from (`other`, 0 along the axis) and in the list of
 * indices. The order of the dims is kept.
 */
typedef struct index_walk {
    int32_t rank;
    int64_t dim[AXLE_MAX_RANK], own[AXLE_MAX_RANK], other[AXLE_MAX_RANK], list[AXLE_MAX_RANK];
    int64_t along; /* step of one index in `other` */
    int64_t rows;  /* all dims but the last */
    int64_t count;
} index_walk;

/* The list has the dims of `own`, or one place an element of the axis if `vector`. */
void cpu_index_walk_init(index_walk *walk, const axle_view *own, const axle_view *other,
                         uint32_t axis, int vector);

#endif
