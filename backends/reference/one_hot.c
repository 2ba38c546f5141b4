/* SPDX-License-Identifier: Apache-2.0 */
/* ONE_HOT: ids (...) -> y (..., C): 1 at the id, 0 elsewhere. */
#include "index.h"
#include "element.h"

/* The last dim of y, and the bits of a 1 of its type. */
typedef struct class_dim {
    int64_t n, step;
    uint64_t one;
} class_dim;

#define DEFINE_SPREAD(bytes, T)                                                                    \
    static void spread_##bytes(const ref_span *span)                                               \
    {                                                                                              \
        const class_dim *dim = span->attrs;                                                        \
        for (int64_t i = 0; i < span->n; i++) {                                                    \
            const int64_t id = *(const int64_t *)(span->p[1] + i * span->step[1]);                 \
            unsigned char *y = span->p[0] + i * span->step[0];                                     \
            for (int64_t c = 0; c < dim->n; c++)                                                   \
                *(T *)(y + c * dim->step) = c == id ? (T)dim->one : 0;                             \
        }                                                                                          \
    }
REF_SIZES(DEFINE_SPREAD)

#define SPREAD_ENTRY(bytes, T) [bytes] = spread_##bytes,
static const ref_loop spreads[9] = {REF_SIZES(SPREAD_ENTRY)};

static const uint64_t ones[REF_DTYPE_LIMIT] = {
    [AXLE_DTYPE_F32] = 0x3f800000, [AXLE_DTYPE_F64] = 0x3ff0000000000000,
    [AXLE_DTYPE_F16] = 0x3c00,     [AXLE_DTYPE_BF16] = 0x3f80,
    [AXLE_DTYPE_U8] = 1,           [AXLE_DTYPE_I32] = 1,
    [AXLE_DTYPE_I64] = 1,          [AXLE_DTYPE_BOOL] = 1,
};

static axle_status one_hot(const ref_call *call)
{
    const axle_view *ids = call->args->in[0], *y = call->args->out[0];
    const uint32_t size = ref_dtype_size(y->dtype), last = y->rank - 1;
    const class_dim dim = {y->dim[last], y->stride[last] * size, ones[y->dtype]};
    int64_t *index;
    const axle_status status = ref_index_load(call, "one_hot", ids, dim.n, &index);
    if (status != AXLE_OK)
        return status;

    const ref_span start = {.p = {ref_data(y), (unsigned char *)index}, .attrs = &dim};
    axle_view list = *ids;
    int64_t stride = 1;
    list.dtype = AXLE_DTYPE_I64;
    for (uint32_t d = ids->rank; d-- > 0; stride *= ids->dim[d])
        list.stride[d] = stride;
    ref_map map;
    ref_map_init(&map, ids);
    ref_map_add(&map, y);
    ref_map_add(&map, &list);
    ref_map_merge(&map);
    ref_map_run(&map, call->host, 1 + REF_GRAIN / (dim.n + 1), spreads[size], &start);
    ref_free(call->host, index);
    return AXLE_OK;
}

static int accepts_one_hot(const axle_op_desc *desc)
{
    const axle_view *ids = desc->in[0], *y = desc->out[0];
    if (!ref_is(ids, REF_INDEX_MASK) || !ref_is(y, REF_ANY_MASK) || y->rank != ids->rank + 1)
        return 0;
    for (uint32_t d = 0; d < ids->rank; d++)
        if (ids->dim[d] != y->dim[d])
            return 0;
    return 1;
}

const ref_entry ref_entries_one_hot[] = {{AXLE_OP_ONE_HOT, one_hot, accepts_one_hot},
                                         {0, NULL, NULL}};
