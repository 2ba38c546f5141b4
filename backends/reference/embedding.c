/* SPDX-License-Identifier: Apache-2.0 */
/* EMBEDDING: weight (V, D), ids (n) -> y (n, D), and its backward pass. */
#include "index.h"
#include "element.h"

#include <string.h>

static axle_status embedding(const ref_call *call)
{
    const axle_view *weight = call->args->in[0], *ids = call->args->in[1], *y = call->args->out[0];
    int64_t *index;
    const axle_status status = ref_index_load(call, "embedding", ids, weight->dim[0], &index);
    if (status != AXLE_OK)
        return status;
    ref_index_pick(call, weight, index, 1, 0, y);
    ref_free(call->host, index);
    return AXLE_OK;
}

/* Zero is all bits zero in every type; the size of an element is in attrs. */
static void clear(const ref_span *span)
{
    const uint32_t size = *(const uint32_t *)span->attrs;
    if (span->step[0] == size) {
        memset(span->p[0], 0, (size_t)span->n * size);
        return;
    }
    for (int64_t i = 0; i < span->n; i++)
        memset(span->p[0] + i * span->step[0], 0, size);
}

static void clear_view(const ref_call *call, const axle_view *y)
{
    const uint32_t size = ref_dtype_size(y->dtype);
    const ref_span start = {.p = {ref_data(y)}, .attrs = &size};
    ref_map map;
    ref_map_init(&map, y);
    ref_map_add(&map, y);
    ref_map_merge(&map);
    ref_map_run(&map, call->host, REF_GRAIN, clear, &start);
}

static axle_status embedding_backward(const ref_call *call)
{
    const axle_embedding_attrs *attrs = call->attrs;
    const axle_view *dy = call->args->in[0], *ids = call->args->in[1], *dw = call->args->out[0];
    int64_t *index;
    axle_status status = ref_index_load(call, "embedding_backward", ids, dw->dim[0], &index);
    if (status != AXLE_OK)
        return status;
    for (int64_t i = 0; i < ids->dim[0]; i++)
        if (index[i] == attrs->padding_idx)
            index[i] = -1;
    clear_view(call, dw);
    status = ref_index_add(call, dy, index, 1, 0, dw);
    ref_free(call->host, index);
    return status;
}

/* weight (V, D), ids (n) and y (n, D). */
static int dims_fit(const axle_view *weight, const axle_view *ids, const axle_view *y)
{
    return weight->rank == 2 && y->rank == 2 && ids->rank == 1 && ids->dim[0] == y->dim[0] &&
           weight->dim[1] == y->dim[1];
}

static int accepts_embedding(const axle_op_desc *desc)
{
    const axle_view *weight = desc->in[0], *ids = desc->in[1], *y = desc->out[0];
    return ref_is(weight, REF_ANY_MASK) && ref_same(weight, y) && ref_is(ids, REF_INDEX_MASK) &&
           dims_fit(weight, ids, y);
}

static int accepts_embedding_backward(const axle_op_desc *desc)
{
    const axle_view *dy = desc->in[0], *ids = desc->in[1], *dw = desc->out[0];
    return ref_is(dy, REF_FLOAT_MASK) && ref_same(dy, dw) && ref_is(ids, REF_INDEX_MASK) &&
           dims_fit(dw, ids, dy);
}

const ref_entry ref_entries_embedding[] = {
    {AXLE_OP_EMBEDDING, embedding, accepts_embedding},
    {AXLE_OP_EMBEDDING_BACKWARD, embedding_backward, accepts_embedding_backward},
    {0, NULL, NULL},
};
