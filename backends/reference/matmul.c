/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATMUL: a (..., M, K), b (..., K, N), bias? (..., M, N) -> y (..., M, N).
 *
 * Products of every type are summed in f64. Blocks of a and b are first copied into small dense
 * arrays, so the strides of the operands do not matter to the inner loop. The order in which an
 * element's products are added depends on K alone.
 */
#include "operand.h"
#include "element.h"

#include <string.h>

/* Columns of a strip, products added at a time, length of a block of the sum, strips of a tile,
 * rows of a tile. WIDTH and STEP are what compilers unroll and vectorise; a panel (DEPTH, WIDTH)
 * stays in the first-level cache. */
enum { WIDTH = 32, STEP = 4, DEPTH = 128, STRIPS = 4, ROWS = 64 };

/* Products that are worth a piece of their own on another thread. */
enum { GRAIN = 1 << 17 };

typedef struct matmul_job {
    const axle_matmul_attrs *attrs;
    ref_activation activation;
    const axle_view *a, *b, *bias, *y;
    int64_t m, n, k;
    int64_t row_blocks, column_blocks; /* tiles of a matrix */
    int64_t rows, columns;             /* of a full tile */
    double *scratch;
    int64_t scratch_size; /* of one worker */
} matmul_job;

/* The part of one worker's scratch for each purpose. */
typedef struct tile {
    int64_t batch, row, column; /* of its first element */
    int64_t rows, columns;
    double *panel; /* (DEPTH, WIDTH) */
    double *left;  /* (rows, DEPTH) */
    double *sums;  /* (strips, rows, WIDTH) */
} tile;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Offset of element (row, column) of matrix `batch`, in elements. */
static int64_t matrix_at(const axle_view *view, int64_t batch, int64_t row, int64_t column)
{
    const uint32_t rank = view->rank;
    return ref_view_at(view, 0, rank - 2, batch) + row * view->stride[rank - 2] +
           column * view->stride[rank - 1];
}

static int64_t row_stride(const axle_view *view)
{
    return view->stride[view->rank - 2];
}

static int64_t column_stride(const axle_view *view)
{
    return view->stride[view->rank - 1];
}

/* sums (WIDTH) += left (depth) . panel (depth, WIDTH) */
static void add_products(double *restrict sums, const double *restrict left,
                         const double *restrict panel, int64_t depth)
{
    for (int64_t k = 0; k < depth; k += STEP, panel += STEP * WIDTH) {
        const double a0 = left[k], a1 = left[k + 1], a2 = left[k + 2], a3 = left[k + 3];
        for (int j = 0; j < WIDTH; j++)
            sums[j] += (a0 * panel[j] + a1 * panel[WIDTH + j]) +
                       (a2 * panel[2 * WIDTH + j] + a3 * panel[3 * WIDTH + j]);
    }
}

/* Rows of a, items [k, k + depth) of the sum, filled up with zeros to a multiple of STEP. */
static void pack_left(const matmul_job *job, const tile *t, int64_t k, int64_t depth)
{
    for (int64_t i = 0; i < t->rows; i++) {
        double *to = t->left + i * DEPTH;
        ref_run_load(job->a, matrix_at(job->a, t->batch, t->row + i, k), depth,
                     column_stride(job->a), to);
        for (int64_t d = depth; d % STEP; d++)
            to[d] = 0;
    }
}

/* The same items of b, `used` columns from `column` on; what the panel has beyond is zero. Runs go
 * along whichever dim of b is the denser. */
static void pack_panel(const matmul_job *job, const tile *t, int64_t k, int64_t depth,
                       int64_t column, int64_t used)
{
    const axle_view *b = job->b;
    const int64_t padded = (depth + STEP - 1) / STEP * STEP;
    if (used < WIDTH || depth < padded)
        memset(t->panel, 0, sizeof(double) * (size_t)padded * WIDTH);
    if (column_stride(b) <= row_stride(b)) {
        for (int64_t d = 0; d < depth; d++)
            ref_run_load(b, matrix_at(b, t->batch, k + d, column), used, column_stride(b),
                         t->panel + d * WIDTH);
        return;
    }
    double run[DEPTH];
    for (int64_t j = 0; j < used; j++) {
        ref_run_load(b, matrix_at(b, t->batch, k, column + j), depth, row_stride(b), run);
        for (int64_t d = 0; d < depth; d++)
            t->panel[d * WIDTH + j] = run[d];
    }
}

/* Turn the sums of one row of a strip into elements of y. */
static void finish_row(const matmul_job *job, const tile *t, int64_t row, int64_t column,
                       int64_t used, double *sums)
{
    const axle_view *y = job->y, *bias = job->bias;
    const int64_t at = matrix_at(y, t->batch, row, column);
    double other[WIDTH];

    for (int64_t j = 0; j < used; j++)
        sums[j] *= job->attrs->alpha;
    if (bias) {
        ref_run_load(bias, matrix_at(bias, t->batch, row, column), used, column_stride(bias),
                     other);
        for (int64_t j = 0; j < used; j++)
            sums[j] += other[j];
    }
    if (job->attrs->accumulate) {
        ref_run_load(y, at, used, column_stride(y), other);
        for (int64_t j = 0; j < used; j++)
            sums[j] += other[j];
    } else if (job->activation) {
        for (int64_t j = 0; j < used; j++)
            sums[j] = job->activation(sums[j]);
    }
    ref_run_store(y, at, used, column_stride(y), sums);
}

static void multiply_tile(const matmul_job *job, const tile *t)
{
    const int64_t strips = (t->columns + WIDTH - 1) / WIDTH;
    memset(t->sums, 0, sizeof(double) * (size_t)(strips * t->rows * WIDTH));
    for (int64_t k = 0; k < job->k; k += DEPTH) {
        const int64_t depth = smaller(DEPTH, job->k - k);
        pack_left(job, t, k, depth);
        for (int64_t s = 0; s < strips; s++) {
            const int64_t done = s * WIDTH, used = smaller(WIDTH, t->columns - done);
            pack_panel(job, t, k, depth, t->column + done, used);
            for (int64_t i = 0; i < t->rows; i++)
                add_products(t->sums + (s * t->rows + i) * WIDTH, t->left + i * DEPTH, t->panel,
                             depth);
        }
    }
    for (int64_t s = 0; s < strips; s++)
        for (int64_t i = 0; i < t->rows; i++)
            finish_row(job, t, t->row + i, t->column + s * WIDTH,
                       smaller(WIDTH, t->columns - s * WIDTH), t->sums + (s * t->rows + i) * WIDTH);
}

static void matmul_body(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const matmul_job *job = arg;
    double *scratch = job->scratch + worker * job->scratch_size;
    for (int64_t i = begin; i < end; i++) {
        const int64_t column = i % job->column_blocks * job->columns;
        const int64_t row = i / job->column_blocks % job->row_blocks * job->rows;
        tile t = {.batch = i / job->column_blocks / job->row_blocks,
                  .row = row,
                  .column = column,
                  .rows = smaller(job->rows, job->m - row),
                  .columns = smaller(job->columns, job->n - column)};
        t.panel = scratch;
        t.left = t.panel + DEPTH * WIDTH;
        t.sums = t.left + job->rows * DEPTH;
        multiply_tile(job, &t);
    }
}

/* Choose the tiles: large ones read a and b less often, small ones keep all workers busy. */
static int64_t plan_tiles(matmul_job *job, int64_t batches, int64_t workers)
{
    const int64_t columns = smaller(job->n, STRIPS * WIDTH);
    job->columns = (columns + WIDTH - 1) / WIDTH * WIDTH;
    job->column_blocks = (job->n + job->columns - 1) / job->columns;
    job->rows = smaller(job->m, ROWS);
    for (;;) {
        job->row_blocks = (job->m + job->rows - 1) / job->rows;
        if (job->rows <= 16 || batches * job->row_blocks * job->column_blocks >= 2 * workers)
            break;
        job->rows = (job->rows + 1) / 2;
    }
    job->scratch_size = DEPTH * WIDTH + job->rows * (DEPTH + job->columns);
    return batches * job->row_blocks * job->column_blocks;
}

static axle_status matmul(const ref_call *call)
{
    const axle_view *y = ref_operand_out(call, 0), *a = ref_operand_in(call, 0);
    matmul_job job = {.attrs = call->attrs,
                      .a = a,
                      .b = ref_operand_in(call, 1),
                      .bias = ref_operand_in(call, 2),
                      .y = y,
                      .m = y->dim[y->rank - 2],
                      .n = y->dim[y->rank - 1],
                      .k = a->dim[a->rank - 1]};
    const int64_t count = ref_count(y);
    if (count == 0)
        return AXLE_OK;
    job.activation = ref_activation_of(job.attrs->activation);

    const int64_t products = ref_count_times(count, job.k);
    const int64_t workers = products >= 2 * GRAIN ? ref_worker_count(call) : 1;
    const int64_t tiles = plan_tiles(&job, count / (job.m * job.n), workers);
    job.scratch = ref_reals(call, workers * job.scratch_size);
    if (!job.scratch)
        return AXLE_ERR_NOMEM;
    if (workers == 1)
        matmul_body(&job, 0, tiles, 0);
    else
        ref_parallel(call, tiles, 1 + GRAIN * tiles / products, matmul_body, &job);
    ref_scratch_free(call, job.scratch);
    return AXLE_OK;
}

/* Dims as the header has them: equal rank and leading dims, inner ones that fit. */
static int fits(const axle_view *view, const axle_view *y, int64_t rows, int64_t columns)
{
    if (!view)
        return 1;
    if (view->rank != y->rank || view->dim[y->rank - 2] != rows ||
        view->dim[y->rank - 1] != columns)
        return 0;
    return memcmp(view->dim, y->dim, (y->rank - 2) * sizeof(y->dim[0])) == 0;
}

static int accepts_matmul(const axle_op_desc *desc)
{
    const axle_matmul_attrs *attrs = desc->attrs;
    if (!ref_signature_fits(desc, "fff?", "f"))
        return 0;
    if (attrs->activation && (attrs->accumulate || !ref_activation_of(attrs->activation)))
        return 0;
    const axle_view *a = desc->in[0], *b = desc->in[1], *y = desc->out[0];
    if (y->rank < 2 || a->rank != y->rank)
        return 0;
    const int64_t m = y->dim[y->rank - 2], n = y->dim[y->rank - 1], k = a->dim[a->rank - 1];
    return fits(a, y, m, k) && fits(b, y, k, n) &&
           fits(ref_operand(desc->in, desc->n_in, 2), y, m, n);
}

const ref_entry ref_entries_matmul[] = {{AXLE_OP_MATMUL, matmul, accepts_matmul}, {0, NULL, NULL}};
