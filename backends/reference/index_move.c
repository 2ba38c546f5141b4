/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and checking indices, and moving the elements that they select. */
#include "index.h"
#include "element.h"

#include <string.h>

#define DEFINE_LOAD(I, i_, T)                                                                      \
    static void load_##i_(const ref_span *span)                                                    \
    {                                                                                              \
        for (int64_t i = 0; i < span->n; i++)                                                      \
            *(int64_t *)(span->p[0] + (span->first + i) * (int64_t)sizeof(int64_t)) =              \
                *(const T *)(span->p[1] + i * span->step[1]);                                      \
    }
DEFINE_LOAD(I32, i32, int32_t)
DEFINE_LOAD(I64, i64, int64_t)

axle_status ref_index_load(const ref_call *call, const char *name, const axle_view *index,
                           int64_t limit, int64_t **out)
{
    const int64_t n = ref_count(index);
    int64_t *list = ref_alloc(call->host, (uint64_t)(n + 1) * sizeof(int64_t));
    ref_map map;

    if (!list)
        return ref_fail(call->error, AXLE_ERR_NOMEM, "%s: no memory for %lld indices", name,
                        (long long)n);
    const ref_span start = {.p = {(unsigned char *)list, ref_data(index)}};
    ref_map_init(&map, index);
    ref_map_add(&map, NULL);
    ref_map_add(&map, index);
    ref_map_merge(&map);
    ref_map_run(&map, NULL, 0, index->dtype == AXLE_DTYPE_I32 ? load_i32 : load_i64, &start);
    for (int64_t i = 0; i < n; i++) {
        if (list[i] >= 0 && list[i] < limit)
            continue;
        ref_fail(call->error, AXLE_ERR_INDEX,
                 "%s: index %lld at position %lld is outside [0, %lld)", name, (long long)list[i],
                 (long long)i, (long long)limit);
        ref_free(call->host, list);
        return AXLE_ERR_INDEX;
    }
    *out = list;
    return AXLE_OK;
}

axle_view ref_index_view(const axle_view *shape, int vector, uint32_t axis)
{
    axle_view view = *shape;
    int64_t stride = 1;
    view.dtype = AXLE_DTYPE_I64;
    for (uint32_t d = shape->rank; d-- > 0;) {
        view.stride[d] = vector ? d == axis : stride;
        stride *= shape->dim[d];
    }
    return view;
}

/* The dims of `shape`; operands are `moving`, which stays at place 0 of the axis, and the others.
 */
static void index_map(ref_map *map, const axle_view *shape, const axle_view *first,
                      const axle_view *second, const axle_view *moving, int vector, uint32_t axis)
{
    const axle_view index = ref_index_view(shape, vector, axis),
                    *operands[] = {first, second, &index};
    ref_map_init(map, shape);
    for (int k = 0; k < 3; k++) {
        axle_view view = *operands[k];
        if (operands[k] == moving)
            view.stride[axis] = 0;
        ref_map_add(map, &view);
    }
    ref_map_merge(map);
}

/* Spans hold y, x and the indices; attrs is the step of an index in the operand that it selects. */
#define DEFINE_MOVES(bytes, T)                                                                     \
    static void pick_##bytes(const ref_span *span)                                                 \
    {                                                                                              \
        const int64_t along = *(const int64_t *)span->attrs;                                       \
        if (span->step[2] == 0 && span->step[0] == bytes && span->step[1] == bytes) {              \
            memcpy(span->p[0], span->p[1] + *(const int64_t *)span->p[2] * along,                  \
                   (size_t)span->n * bytes);                                                       \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < span->n; i++) {                                                    \
            const int64_t at = *(const int64_t *)(span->p[2] + i * span->step[2]) * along;         \
            *(T *)(span->p[0] + i * span->step[0]) =                                               \
                *(const T *)(span->p[1] + i * span->step[1] + at);                                 \
        }                                                                                          \
    }                                                                                              \
    static void place_##bytes(const ref_span *span)                                                \
    {                                                                                              \
        const int64_t along = *(const int64_t *)span->attrs;                                       \
        for (int64_t i = 0; i < span->n; i++) {                                                    \
            const int64_t at = *(const int64_t *)(span->p[2] + i * span->step[2]) * along;         \
            *(T *)(span->p[0] + i * span->step[0] + at) =                                          \
                *(const T *)(span->p[1] + i * span->step[1]);                                      \
        }                                                                                          \
    }
REF_SIZES(DEFINE_MOVES)

#define PICK_ENTRY(bytes, T) [bytes] = pick_##bytes,
static const ref_loop picks[9] = {REF_SIZES(PICK_ENTRY)};
#define PLACE_ENTRY(bytes, T) [bytes] = place_##bytes,
static const ref_loop places[9] = {REF_SIZES(PLACE_ENTRY)};

void ref_index_pick(const ref_call *call, const axle_view *x, const int64_t *index, int vector,
                    uint32_t axis, const axle_view *y)
{
    const int64_t along = ref_axis_step(x, axis);
    const ref_span start = {.p = {ref_data(y), ref_data(x), (unsigned char *)index},
                            .attrs = &along};
    ref_map map;

    index_map(&map, y, y, x, x, vector, axis);
    ref_map_run(&map, call->host, REF_GRAIN, picks[ref_dtype_size(y->dtype)], &start);
}

void ref_index_place(const axle_view *src, const int64_t *index, uint32_t axis, const axle_view *y)
{
    const int64_t along = ref_axis_step(y, axis);
    const ref_span start = {.p = {ref_data(y), ref_data(src), (unsigned char *)index},
                            .attrs = &along};
    ref_map map;

    index_map(&map, src, y, src, y, 0, axis);
    ref_map_run(&map, NULL, 0, places[ref_dtype_size(y->dtype)], &start);
}
