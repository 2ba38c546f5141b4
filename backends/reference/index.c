/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GATHER: x, index -> y; SCATTER: index, src -> y; INDEX_SELECT: x, index (n) -> y;
 * INDEX_ADD: index (n), src -> y. All indices are checked before the first element is written.
 */
#include "index.h"
#include "element.h"

#include <string.h>

static axle_status pick(const ref_call *call, const char *name, int vector)
{
    const axle_index_attrs *attrs = call->attrs;
    const axle_view *x = call->args->in[0], *y = call->args->out[0];
    int64_t *index;
    const axle_status status =
        ref_index_load(call, name, call->args->in[1], x->dim[attrs->axis], &index);
    if (status != AXLE_OK)
        return status;
    ref_index_pick(call, x, index, vector, attrs->axis, y);
    ref_free(call->host, index);
    return AXLE_OK;
}

static axle_status gather(const ref_call *call)
{
    return pick(call, "gather", 0);
}

static axle_status index_select(const ref_call *call)
{
    return pick(call, "index_select", 1);
}

static axle_status put(const ref_call *call, const char *name, int vector, int add)
{
    const axle_index_attrs *attrs = call->attrs;
    const axle_view *src = call->args->in[1], *y = call->args->out[0];
    int64_t *index;
    axle_status status = ref_index_load(call, name, call->args->in[0], y->dim[attrs->axis], &index);
    if (status != AXLE_OK)
        return status;
    if (add)
        status = ref_index_add(call, src, index, vector, attrs->axis, y);
    else
        ref_index_place(src, index, attrs->axis, y);
    ref_free(call->host, index);
    return status;
}

static axle_status scatter(const ref_call *call)
{
    const axle_index_attrs *attrs = call->attrs;
    return put(call, "scatter", 0, attrs->accumulate != 0);
}

static axle_status index_add(const ref_call *call)
{
    return put(call, "index_add", 1, 1);
}

/* Whether `part` has the dims of `whole`, at most where `smaller` is set, the axis left out. */
static int dims_fit(const axle_view *part, const axle_view *whole, uint32_t axis, int smaller)
{
    if (part->rank != whole->rank || axis >= whole->rank)
        return 0;
    for (uint32_t d = 0; d < whole->rank; d++)
        if (d != axis && (smaller ? part->dim[d] > whole->dim[d] : part->dim[d] != whole->dim[d]))
            return 0;
    return 1;
}

static int same_dims(const axle_view *a, const axle_view *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0;
}

static int accepts_gather(const axle_op_desc *desc)
{
    const axle_view *x = desc->in[0], *index = desc->in[1], *y = desc->out[0];
    const axle_index_attrs *attrs = desc->attrs;
    return ref_is(x, REF_ANY_MASK) && ref_same(x, y) && ref_is(index, REF_INDEX_MASK) &&
           same_dims(index, y) && dims_fit(y, x, attrs->axis, 1);
}

static int accepts_scatter(const axle_op_desc *desc)
{
    const axle_view *index = desc->in[0], *src = desc->in[1], *y = desc->out[0];
    const axle_index_attrs *attrs = desc->attrs;
    return ref_is(src, attrs->accumulate ? REF_NUMBER_MASK : REF_ANY_MASK) && ref_same(src, y) &&
           ref_is(index, REF_INDEX_MASK) && same_dims(index, src) &&
           dims_fit(src, y, attrs->axis, 1);
}

static int accepts_index_select(const axle_op_desc *desc)
{
    const axle_view *x = desc->in[0], *index = desc->in[1], *y = desc->out[0];
    const axle_index_attrs *attrs = desc->attrs;
    return ref_is(x, REF_ANY_MASK) && ref_same(x, y) && ref_is(index, REF_INDEX_MASK) &&
           dims_fit(y, x, attrs->axis, 0) && index->rank == 1 &&
           index->dim[0] == y->dim[attrs->axis];
}

static int accepts_index_add(const axle_op_desc *desc)
{
    const axle_view *index = desc->in[0], *src = desc->in[1], *y = desc->out[0];
    const axle_index_attrs *attrs = desc->attrs;
    return ref_is(src, REF_NUMBER_MASK) && ref_same(src, y) && ref_is(index, REF_INDEX_MASK) &&
           dims_fit(src, y, attrs->axis, 0) && index->rank == 1 &&
           index->dim[0] == src->dim[attrs->axis];
}

const ref_entry ref_entries_index[] = {
    {AXLE_OP_GATHER, gather, accepts_gather},
    {AXLE_OP_SCATTER, scatter, accepts_scatter},
    {AXLE_OP_INDEX_SELECT, index_select, accepts_index_select},
    {AXLE_OP_INDEX_ADD, index_add, accepts_index_add},
    {0, NULL, NULL},
};
