/* SPDX-License-Identifier: Apache-2.0 */
#include "contraction.h"
#include "operand.h"

#include <string.h>

/* Columns of a block, rows of a panel of b, and products added at a time. The sizes are constants
 * so that compilers unroll and vectorise the inner loop, and a panel stays in the first-level
 * cache. */
enum { WIDTH = REF_CONTRACTION_WIDTH, DEPTH = 64, STEP = 4 };

typedef struct contract_job {
    const ref_contraction *what;
    const int64_t *b_inner, *b_column, *out_column;
    double *packed; /* (G, M, depth): a, rows filled up with zeros */
    double *sums;   /* (workers, M, WIDTH) */
    const int64_t *a_inner;
    int64_t inner, depth, columns, blocks;
} contract_job;

int64_t ref_lattice_size(const ref_lattice *lattice)
{
    int64_t size = 1;
    for (int d = 0; d < REF_LATTICE_RANK; d++)
        size *= lattice->count[d];
    return size;
}

static void lattice_write(const ref_lattice *l, int64_t *out)
{
    for (int64_t i = 0; i < l->count[0]; i++)
        for (int64_t j = 0; j < l->count[1]; j++)
            for (int64_t k = 0; k < l->count[2]; k++)
                for (int64_t m = 0; m < l->count[3]; m++)
                    *out++ =
                        l->base + i * l->step[0] + j * l->step[1] + k * l->step[2] + m * l->step[3];
}

/* Rows [begin, end) of a, over all groups, so that the products read them in order. */
static void pack_rows(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const contract_job *job = arg;
    const ref_contraction *c = job->what;
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        const double *from = c->a + r / c->rows * c->a_group + r % c->rows * c->a_row;
        double *to = job->packed + r * job->depth;
        for (int64_t k = 0; k < job->inner; k++)
            to[k] = from[job->a_inner[k]];
        for (int64_t k = job->inner; k < job->depth; k++)
            to[k] = 0;
    }
}

/* sums (WIDTH) += a (STEP) . panel (STEP, WIDTH) */
static void add_products(double *restrict sums, const double *restrict a,
                         const double *restrict panel)
{
    double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    for (int j = 0; j < WIDTH; j++)
        sums[j] += (a0 * panel[j] + a1 * panel[WIDTH + j]) +
                   (a2 * panel[2 * WIDTH + j] + a3 * panel[3 * WIDTH + j]);
}

/* Rows [begin, end) of b for the columns of one block; rows past the last one are zeros. */
static void fill_panel(const contract_job *job, const double *b, const int64_t *column,
                       int64_t begin, int64_t end, double *panel)
{
    for (int64_t k = begin; k < end; k++, panel += WIDTH) {
        if (k >= job->inner) {
            memset(panel, 0, WIDTH * sizeof(double));
            continue;
        }
        const double *row = b + job->b_inner[k];
        for (int j = 0; j < WIDTH; j++)
            panel[j] = row[column[j]];
    }
}

/* One block of columns of one group, over the pieces [begin, end) of k. */
static void contract_block(const contract_job *job, int64_t group, int64_t first, int64_t begin,
                           int64_t end, double *sums, double *out)
{
    const ref_contraction *c = job->what;
    int64_t used = job->columns - first < WIDTH ? job->columns - first : WIDTH;
    int64_t column[WIDTH];
    double panel[DEPTH * WIDTH];

    /* A block that is not full repeats its last column, whose sums are not stored. */
    for (int64_t j = 0; j < WIDTH; j++)
        column[j] = job->b_column[first + (j < used ? j : used - 1)];
    memset(sums, 0, (size_t)(c->rows * WIDTH) * sizeof(double));
    for (int64_t k = begin; k < end; k += DEPTH) {
        int64_t stop = end - k < DEPTH ? end : k + DEPTH;
        fill_panel(job, c->b + group * c->b_group, column, k, stop, panel);
        for (int64_t m = 0; m < c->rows; m++) {
            const double *a = job->packed + (group * c->rows + m) * job->depth;
            for (int64_t s = k; s < stop; s += STEP)
                add_products(sums + m * WIDTH, a + s, panel + (s - k) * WIDTH);
        }
    }
    for (int64_t m = 0; m < c->rows; m++)
        for (int64_t j = 0; j < used; j++)
            out[group * c->out_group + m * c->out_row + job->out_column[first + j]] =
                sums[m * WIDTH + j];
}

/* Items are (part, group, block of columns). */
static void contract_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const contract_job *job = arg;
    const ref_contraction *c = job->what;
    int64_t steps = job->depth / STEP;
    for (int64_t t = begin; t < end; t++) {
        int64_t part = t / (job->blocks * c->groups);
        int64_t from = steps * part / c->parts * STEP, to = steps * (part + 1) / c->parts * STEP;
        contract_block(job, t / job->blocks % c->groups, t % job->blocks * WIDTH, from, to,
                       job->sums + worker * c->rows * WIDTH, c->out + part * c->out_part);
    }
}

axle_status ref_contract(const ref_call *call, const ref_contraction *c)
{
    contract_job job = {.what = c,
                        .inner = ref_lattice_size(&c->a_inner),
                        .columns = ref_lattice_size(&c->b_column)};
    job.depth = (job.inner + STEP - 1) / STEP * STEP;
    job.blocks = (job.columns + WIDTH - 1) / WIDTH;
    if (c->groups * c->rows * job.columns == 0)
        return AXLE_OK;

    axle_status status = AXLE_ERR_NOMEM;
    int64_t *offset = ref_integers(call, 2 * (job.inner + job.columns));
    job.packed = ref_reals(call, ref_count_times(c->groups * c->rows, job.depth));
    job.sums = ref_reals(call, ref_count_times(ref_worker_count(call) * c->rows, WIDTH));
    if (offset && job.packed && job.sums) {
        lattice_write(&c->a_inner, offset);
        lattice_write(&c->b_inner, offset + job.inner);
        lattice_write(&c->b_column, offset + 2 * job.inner);
        lattice_write(&c->out_column, offset + 2 * job.inner + job.columns);
        job.a_inner = offset;
        job.b_inner = offset + job.inner;
        job.b_column = offset + 2 * job.inner;
        job.out_column = job.b_column + job.columns;
        ref_parallel(call, c->groups * c->rows, 16, pack_rows, &job);
        ref_parallel(call, c->parts * c->groups * job.blocks, 1, contract_items, &job);
        status = AXLE_OK;
    }
    ref_scratch_free(call, job.sums);
    ref_scratch_free(call, job.packed);
    ref_scratch_free(call, offset);
    return status;
}
