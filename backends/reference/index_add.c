/* SPDX-License-Identifier: Apache-2.0 */
/* Adding elements to the places that indices select. */
#include "index.h"
#include "element.h"
#include "operand.h"

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
                   .y_step = ref_axis_step(y, axis),
                   .src_step = ref_axis_step(src, axis),
                   .add = adds[y->dtype]};
    const axle_view indices = ref_index_view(src, vector, axis);

    if (ref_count(src) == 0)
        return AXLE_OK;
    job.y = ref_data(y);
    job.src = ref_data(src);
    job.index_step = ref_axis_step(&indices, axis);
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
