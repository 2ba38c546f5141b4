/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GATHER: x, index -> y; SCATTER: index, src -> y; INDEX_SELECT: x, index (n) -> y;
 * INDEX_ADD: index (n), src -> y. All indices are checked before the first element is written.
 */
#include "index.h"
#include "element.h"
#include "operand.h"

#include <string.h>

/* ------------------------------------------------------------------ indices */

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

/* The list of indices as a third operand beside elements of `shape`. */
static axle_view index_view(const axle_view *shape, int vector, uint32_t axis)
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
    const axle_view index = index_view(shape, vector, axis), *operands[] = {first, second, &index};
    ref_map_init(map, shape);
    for (int k = 0; k < 3; k++) {
        axle_view view = *operands[k];
        if (operands[k] == moving)
            view.stride[axis] = 0;
        ref_map_add(map, &view);
    }
    ref_map_merge(map);
}

static int64_t axis_step(const axle_view *view, uint32_t axis)
{
    return view->stride[axis] * (int64_t)ref_dtype_size(view->dtype);
}

/* ------------------------------------------------------------------ moving elements */

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
    const int64_t along = axis_step(x, axis);
    const ref_span start = {.p = {ref_data(y), ref_data(x), (unsigned char *)index},
                            .attrs = &along};
    ref_map map;

    index_map(&map, y, y, x, x, vector, axis);
    ref_map_run(&map, call->host, REF_GRAIN, picks[ref_dtype_size(y->dtype)], &start);
}

/* In the order of the elements, so that the last of those that meet stays. */
static void place(const axle_view *src, const int64_t *index, uint32_t axis, const axle_view *y)
{
    const int64_t along = axis_step(y, axis);
    const ref_span start = {.p = {ref_data(y), ref_data(src), (unsigned char *)index},
                            .attrs = &along};
    ref_map map;

    index_map(&map, src, y, src, y, 0, axis);
    ref_map_run(&map, NULL, 0, places[ref_dtype_size(y->dtype)], &start);
}

/* ------------------------------------------------------------------ adding elements */

/* Neighbouring lines, which run along the axis, that are added together. */
enum { LINES = 16 };

typedef struct add_job {
    ref_map lines; /* operands y, src, indices, over all dims but the axis */
    unsigned char *y;
    const unsigned char *src;
    const int64_t *index;
    int64_t n;                            /* along the axis of src */
    int64_t y_step, src_step, index_step; /* along the axis, in bytes */
    int64_t row_tiles;                    /* groups of lines along the last dim */
    double *sums;                         /* (workers, y's axis, LINES) */
    int64_t sums_size;
    void (*add)(const struct add_job *, int64_t count, unsigned char *y, const unsigned char *src,
                const unsigned char *index, void *sums);
} add_job;

/* Bring in what y holds, add, write back; only places that an index names are touched. */
#define EACH_INDEX                                                                                 \
    for (int64_t j = 0; j < job->n; j++)                                                           \
        for (int64_t c = 0; c < count; c++)                                                        \
            if ((at = *(const int64_t *)(index + j * job->index_step + c * index_line)) >= 0)
#define DEFINE_ADD(F, f, T, C, Sum, plus)                                                          \
    static void add_##f(const add_job *job, int64_t count, unsigned char *y,                       \
                        const unsigned char *src, const unsigned char *index, void *scratch)       \
    {                                                                                              \
        const uint32_t last = job->lines.rank - 1;                                                 \
        const int64_t y_line = job->lines.step[0][last], src_line = job->lines.step[1][last];      \
        const int64_t index_line = job->lines.step[2][last];                                       \
        Sum *sums = scratch;                                                                       \
        int64_t at;                                                                                \
        EACH_INDEX sums[at * LINES + c] = ref_get_##f(*(T *)(y + at * job->y_step + c * y_line));  \
        EACH_INDEX sums[at * LINES + c] =                                                          \
            plus(sums[at * LINES + c],                                                             \
                 ref_get_##f(*(const T *)(src + j * job->src_step + c * src_line)));               \
        EACH_INDEX *(T *)(y + at * job->y_step + c * y_line) = ref_put_##f(sums[at * LINES + c]);  \
    }
#define PLUS(a, b) ((a) + (b))
REF_FLOATS(DEFINE_ADD, double, PLUS)
REF_INTEGERS(DEFINE_ADD, int64_t, ref_wrap_add)

static void add_body(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const add_job *job = arg;
    const int64_t row = job->lines.dim[job->lines.rank - 1];
    for (int64_t i = begin; i < end; i++) {
        const int64_t column = i % job->row_tiles * LINES,
                      first = i / job->row_tiles * row + column;
        job->add(job, row - column < LINES ? row - column : LINES,
                 job->y + ref_map_at(&job->lines, 0, first),
                 job->src + ref_map_at(&job->lines, 1, first),
                 (const unsigned char *)job->index + ref_map_at(&job->lines, 2, first),
                 job->sums + worker * job->sums_size);
    }
}

axle_status ref_index_add(const ref_call *call, const axle_view *src, const int64_t *index,
                          int vector, uint32_t axis, const axle_view *y)
{
#define ADD_ENTRY(F, f, ...) [AXLE_DTYPE_##F] = add_##f,
    static void (*const adds[REF_DTYPE_LIMIT])(const add_job *, int64_t, unsigned char *,
                                               const unsigned char *, const unsigned char *,
                                               void *) = {REF_NUMBERS(ADD_ENTRY, )};
#undef ADD_ENTRY
    axle_view shape = *src;
    add_job job = {.index = index,
                   .n = src->dim[axis],
                   .y_step = axis_step(y, axis),
                   .src_step = axis_step(src, axis),
                   .add = adds[y->dtype]};
    const axle_view indices = index_view(src, vector, axis);

    if (ref_count(src) == 0)
        return AXLE_OK;
    job.y = ref_data(y);
    job.src = ref_data(src);
    job.index_step = axis_step(&indices, axis);
    shape.dim[axis] = 1;
    ref_map_init(&job.lines, &shape);
    ref_map_add(&job.lines, y);
    ref_map_add(&job.lines, src);
    ref_map_add(&job.lines, &indices);
    ref_map_merge(&job.lines);

    const int64_t row = job.lines.dim[job.lines.rank - 1];
    job.row_tiles = (row + LINES - 1) / LINES;
    job.sums_size = y->dim[axis] * LINES;
    job.sums = ref_reals(call, ref_count_times(ref_worker_count(call), job.sums_size));
    if (!job.sums)
        return AXLE_ERR_NOMEM;
    ref_parallel(call, job.lines.count / row * job.row_tiles, 1 + REF_GRAIN / (job.n * LINES),
                 add_body, &job);
    ref_free(call->host, job.sums);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ operators */

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
        place(src, index, attrs->axis, y);
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
