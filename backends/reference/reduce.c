/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REDUCE: x (...) -> y (...), dims of `axes` become 1.
 *
 * Every output is folded from its own elements in a fixed order: long folds are cut into chunks of
 * fixed length that are joined in turn, so results do not depend on the number of workers.
 */
#include "element.h"
#include "fold.h"
#include "operand.h"

#include <math.h>

/* Elements of a chunk; neighbouring outputs that are folded together where this reads memory in
 * order; how many elements of each in turn; elements worth a piece of their own. */
enum { CHUNK = 1 << 15, TILE = 16, TURN = 128, GRAIN = 1 << 14 };

typedef struct reduce_job {
    const axle_reduce_attrs *attrs;
    uint32_t dtype, what;
    ref_map kept;   /* operands y, x */
    ref_map folded; /* operand x */
    const unsigned char *x;
    unsigned char *y;
    uint32_t y_dtype;
    int64_t tile;      /* 1 or TILE: outputs along the last kept dim */
    int64_t tiles;     /* a row of outputs */
    int64_t chunks;    /* an output */
    ref_state *pieces; /* (outputs, chunks), where there are several */
    double *centers;   /* (outputs), while deviations are folded */
} reduce_job;

/* What the elements of each kind fold to before `finish` makes the result of it. */
static const uint8_t folds_of[AXLE_REDUCE_LIMIT] = {
    [AXLE_REDUCE_SUM] = REF_FOLD_SUM,
    [AXLE_REDUCE_MEAN] = REF_FOLD_SUM,
    [AXLE_REDUCE_PROD] = REF_FOLD_PROD,
    [AXLE_REDUCE_MAX] = REF_FOLD_MAX,
    [AXLE_REDUCE_MIN] = REF_FOLD_MIN,
    [AXLE_REDUCE_VAR] = REF_FOLD_SUM,
    [AXLE_REDUCE_NORM1] = REF_FOLD_ABS,
    [AXLE_REDUCE_NORM2] = REF_FOLD_SQUARE,
    [AXLE_REDUCE_SUM_SQUARES] = REF_FOLD_SQUARE,
    [AXLE_REDUCE_ANY] = REF_FOLD_ANY,
    [AXLE_REDUCE_ALL] = REF_FOLD_ALL,
};

static double finish(const reduce_job *job, const ref_state *s)
{
    const double value = ref_fold_value(s), n = (double)job->folded.count;
    switch (job->attrs->kind) {
    case AXLE_REDUCE_MEAN:
        return value / n;
    case AXLE_REDUCE_VAR:
        return value / fmax(0, n - job->attrs->parameter);
    case AXLE_REDUCE_NORM2:
        return sqrt(value);
    default:
        return value;
    }
}

#define WRITE_FLOAT(F, f, T, C, ...)                                                               \
    static void write_##f(unsigned char *y, double value, int64_t integer)                         \
    {                                                                                              \
        (void)integer;                                                                             \
        *(T *)y = ref_put_##f(value);                                                              \
    }
#define WRITE_INTEGER(I, i_, T, C, ...)                                                            \
    static void write_##i_(unsigned char *y, double value, int64_t integer)                        \
    {                                                                                              \
        (void)value;                                                                               \
        *(T *)y = ref_put_##i_(integer);                                                           \
    }
REF_FLOATS(WRITE_FLOAT, )
REF_INTEGERS(WRITE_INTEGER, )
REF_BOOLEANS(WRITE_INTEGER, )

#define WRITE_ENTRY(F, f, ...) [AXLE_DTYPE_##F] = write_##f,
static void (*const writes[REF_DTYPE_LIMIT])(unsigned char *, double,
                                             int64_t) = {REF_TYPES(WRITE_ENTRY, )};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Neighbouring outputs, `step` bytes apart in x. */
typedef struct fold_tile {
    ref_fold fold;
    int64_t first, count, step;
    const double *centers;
    ref_state states[TILE];
} fold_tile;

static void fold_run(const ref_span *span)
{
    fold_tile *t = (fold_tile *)span->attrs;
    for (int64_t done = 0; done < span->n; done += TURN) {
        const int64_t n = smaller(TURN, span->n - done);
        for (int64_t c = 0; c < t->count; c++)
            t->fold(&t->states[c], span->p[0] + c * t->step + done * span->step[0], n,
                    span->step[0], t->centers ? t->centers[c] : 0);
    }
}

/* Fold items [begin, end) of a tile's outputs into its states. */
static void fold_tile_range(const reduce_job *job, fold_tile *t, uint32_t what, int64_t begin,
                            int64_t end)
{
    const ref_span start = {.p = {(unsigned char *)job->x + ref_map_at(&job->kept, 1, t->first)},
                            .attrs = t};
    t->fold = ref_fold_of(what, job->dtype);
    for (int64_t c = 0; c < t->count; c++)
        t->states[c] = ref_fold_start(what, job->dtype);
    if (begin < end)
        ref_map_walk(&job->folded, fold_run, &start, begin, end);
}

static void write_output(const reduce_job *job, int64_t output, const ref_state *s)
{
    writes[job->y_dtype](job->y + ref_map_at(&job->kept, 0, output), finish(job, s), s->integer);
}

/* Tile `index`: rows of outputs are cut into tiles. */
static fold_tile tile_at(const reduce_job *job, int64_t index)
{
    const uint32_t last = job->kept.rank - 1;
    const int64_t row = job->kept.dim[last], column = index % job->tiles * job->tile;
    fold_tile t = {.first = index / job->tiles * row + column,
                   .count = smaller(job->tile, row - column),
                   .step = job->kept.step[1][last]};
    return t;
}

/* Items are tiles; each is done from start to end. */
static void whole_body(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const reduce_job *job = arg;
    double centers[TILE];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        fold_tile t = tile_at(job, i);
        fold_tile_range(job, &t, job->what, 0, job->folded.count);
        if (job->attrs->kind == AXLE_REDUCE_VAR) {
            for (int64_t c = 0; c < t.count; c++)
                centers[c] = ref_fold_value(&t.states[c]) / (double)job->folded.count;
            t.centers = centers;
            fold_tile_range(job, &t, REF_FOLD_DEVIATION, 0, job->folded.count);
        }
        for (int64_t c = 0; c < t.count; c++)
            write_output(job, t.first + c, &t.states[c]);
    }
}

/* Items are (tile, chunk); their states are left in `pieces`. */
static void chunk_body(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const reduce_job *job = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t chunk = i % job->chunks, from = chunk * CHUNK;
        fold_tile t = tile_at(job, i / job->chunks);
        if (job->centers)
            t.centers = job->centers + t.first;
        fold_tile_range(job, &t, job->what, from, smaller(from + CHUNK, job->folded.count));
        for (int64_t c = 0; c < t.count; c++)
            job->pieces[(t.first + c) * job->chunks + chunk] = t.states[c];
    }
}

static void fold_chunks(const ref_call *call, reduce_job *job, int64_t tiles)
{
    ref_parallel(call, tiles * job->chunks, 1, chunk_body, job);
    for (int64_t i = 0; i < job->kept.count; i++)
        job->pieces[i * job->chunks] =
            ref_fold_join(job->what, job->dtype, job->pieces + i * job->chunks, job->chunks);
}

static axle_status reduce_in_chunks(const ref_call *call, reduce_job *job, int64_t tiles)
{
    const int64_t outputs = job->kept.count;
    job->pieces = ref_alloc(call->host, (uint64_t)(outputs * job->chunks) * sizeof(ref_state));
    double *centers = ref_alloc(call->host, (uint64_t)outputs * sizeof(double));
    const int ready = job->pieces && centers;
    if (ready) {
        fold_chunks(call, job, tiles);
        if (job->attrs->kind == AXLE_REDUCE_VAR) {
            for (int64_t i = 0; i < outputs; i++)
                centers[i] =
                    ref_fold_value(&job->pieces[i * job->chunks]) / (double)job->folded.count;
            job->centers = centers;
            job->what = REF_FOLD_DEVIATION;
            fold_chunks(call, job, tiles);
        }
        for (int64_t i = 0; i < outputs; i++)
            write_output(job, i, &job->pieces[i * job->chunks]);
    }
    ref_free(call->host, centers);
    ref_free(call->host, job->pieces);
    return ready
               ? AXLE_OK
               : ref_fail(call->error, AXLE_ERR_NOMEM, "reduce: no memory for %lld partial results",
                          (long long)(outputs * job->chunks));
}

/* Split the dims of x into those that are kept and those that are folded. */
static void split_dims(reduce_job *job, const axle_view *x, const axle_view *y)
{
    ref_map_init(&job->kept, y);
    ref_map_add(&job->kept, y);
    ref_map_add(&job->kept, x);
    ref_map_merge(&job->kept);

    axle_view folded = *x;
    for (uint32_t d = 0; d < x->rank; d++)
        if (!(job->attrs->axes >> d & 1))
            folded.dim[d] = 1;
    ref_map_init(&job->folded, &folded);
    ref_map_add(&job->folded, x);
    ref_map_merge(&job->folded);
}

/* Outputs are taken together where they lie closer to each other than the elements of one. */
static void plan_tiles(reduce_job *job)
{
    const uint32_t last = job->kept.rank - 1;
    const int64_t step = job->kept.step[1][last], along = job->folded.step[0][job->folded.rank - 1];
    const int together = step > 0 && (job->folded.count == 1 || step < along);
    job->tile = together ? TILE : 1;
    job->tiles = (job->kept.dim[last] + job->tile - 1) / job->tile;
    job->chunks = (job->folded.count + CHUNK - 1) / CHUNK;
}

static axle_status reduce(const ref_call *call)
{
    const axle_view *x = call->args->in[0], *y = call->args->out[0];
    reduce_job job = {.attrs = call->attrs, .dtype = x->dtype, .y_dtype = y->dtype};
    job.what = folds_of[job.attrs->kind];
    job.x = ref_data(x);
    job.y = ref_data(y);
    split_dims(&job, x, y);
    if (job.kept.count == 0)
        return AXLE_OK;
    plan_tiles(&job);
    const int64_t tiles = job.kept.count / job.kept.dim[job.kept.rank - 1] * job.tiles;
    if (job.chunks > 1)
        return reduce_in_chunks(call, &job, tiles);
    ref_parallel(call, tiles, 1 + GRAIN / (job.tile * (job.folded.count + 1)), whole_body, &job);
    return AXLE_OK;
}

static int accepts_reduce(const axle_op_desc *desc)
{
    const axle_reduce_attrs *attrs = desc->attrs;
    const axle_view *x = desc->in[0], *y = desc->out[0];
    if (!ref_is(x, REF_ANY_MASK) || !y || y->rank != x->rank)
        return 0;
    if (attrs->kind == 0 || attrs->kind >= AXLE_REDUCE_LIMIT)
        return 0;
    for (uint32_t d = 0; d < x->rank; d++)
        if (y->dim[d] != (attrs->axes >> d & 1 ? 1 : x->dim[d]))
            return 0;
    const int truth = attrs->kind == AXLE_REDUCE_ANY || attrs->kind == AXLE_REDUCE_ALL;
    const int floats = attrs->kind == AXLE_REDUCE_MEAN || attrs->kind == AXLE_REDUCE_VAR;
    if (y->dtype != (truth ? (uint32_t)AXLE_DTYPE_BOOL : x->dtype))
        return 0;
    return ref_fold_of(folds_of[attrs->kind], x->dtype) && (!floats || ref_is(x, REF_FLOAT_MASK));
}

const ref_entry ref_entries_reduce[] = {{AXLE_OP_REDUCE, reduce, accepts_reduce}, {0, NULL, NULL}};
