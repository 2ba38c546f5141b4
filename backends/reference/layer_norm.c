/* SPDX-License-Identifier: Apache-2.0 */
/* Layer and root-mean-square normalisation of the rows of (R, D). */
#include "moments.h"
#include "operand.h"

/* Rows that are worth a piece of their own on another thread have about this many elements. */
enum { GRAIN = 4096 };

/* Columns whose parameter gradients are summed together. */
enum { COLUMNS = 64 };

typedef struct layer_job {
    const axle_layer_norm_attrs *attrs;
    const axle_view *x, *y, *mean, *rstd; /* forward */
    const axle_view *dy, *dx, *dgamma, *dbeta;
    int64_t rows, width;  /* R, D */
    double *gamma, *beta; /* (D) */
    double *scratch;      /* (workers, 2, D) */
} layer_job;

static void load_row(const axle_view *view, int64_t r, int64_t first, int64_t n, double *out)
{
    ref_run_load(view, r * view->stride[0] + first * view->stride[1], n, view->stride[1], out);
}

static void store_row(const axle_view *view, int64_t r, int64_t n, const double *in)
{
    ref_run_store(view, r * view->stride[0], n, view->stride[1], in);
}

static void layer_rows(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const layer_job *job = arg;
    int64_t n = job->width;
    double *x = job->scratch + 2 * worker * n;
    for (int64_t r = begin; r < end; r++) {
        load_row(job->x, r, 0, n, x);
        ref_moments m = job->attrs->kind == AXLE_NORM_RMS
                            ? ref_moments_rms(x, n, job->attrs->eps)
                            : ref_moments_layer(x, n, job->attrs->eps);
        ref_normalize(&m, x, n);
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] * job->gamma[i] + job->beta[i];
        store_row(job->y, r, n, x);
        if (job->mean)
            ref_element_set(job->mean, r * job->mean->stride[0], m.mean);
        if (job->rstd)
            ref_element_set(job->rstd, r * job->rstd->stride[0], m.rstd);
    }
}

/* The statistics of row r that the forward pass left. */
static ref_moments saved_moments(const layer_job *job, int64_t r)
{
    ref_moments m = {0, ref_element_get(job->rstd, r * job->rstd->stride[0])};
    if (job->attrs->kind == AXLE_NORM_LAYER)
        m.mean = ref_element_get(job->mean, r * job->mean->stride[0]);
    return m;
}

static void layer_rows_backward(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const layer_job *job = arg;
    int64_t n = job->width;
    double *x = job->scratch + 2 * worker * n, *g = x + n;
    for (int64_t r = begin; r < end; r++) {
        ref_moments m = saved_moments(job, r);
        load_row(job->x, r, 0, n, x);
        load_row(job->dy, r, 0, n, g);
        ref_normalize(&m, x, n);
        for (int64_t i = 0; i < n; i++)
            g[i] *= job->gamma[i];
        ref_normalize_backward(m.rstd, job->attrs->kind == AXLE_NORM_LAYER, x, g, n);
        store_row(job->dx, r, n, g);
    }
}

/* dgamma and dbeta of n <= COLUMNS columns from `first` on: sums over all rows, in their order. */
static void column_sums(const layer_job *job, int64_t first, int64_t n)
{
    double x[COLUMNS], dy[COLUMNS], dgamma[COLUMNS] = {0}, dbeta[COLUMNS] = {0};
    for (int64_t r = 0; r < job->rows; r++) {
        ref_moments m = saved_moments(job, r);
        load_row(job->x, r, first, n, x);
        load_row(job->dy, r, first, n, dy);
        ref_normalize(&m, x, n);
        for (int64_t i = 0; i < n; i++) {
            dgamma[i] += dy[i] * x[i];
            dbeta[i] += dy[i];
        }
    }
    if (job->dgamma)
        ref_run_store(job->dgamma, first * job->dgamma->stride[0], n, job->dgamma->stride[0],
                      dgamma);
    if (job->dbeta)
        ref_run_store(job->dbeta, first * job->dbeta->stride[0], n, job->dbeta->stride[0], dbeta);
}

static void layer_columns(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const layer_job *job = arg;
    (void)worker;
    for (int64_t c = begin; c < end; c += COLUMNS)
        column_sums(job, c, end - c < COLUMNS ? end - c : COLUMNS);
}

static axle_status job_begin(const ref_call *call, layer_job *job, const axle_view *gamma,
                             const axle_view *beta)
{
    job->attrs = call->attrs;
    job->rows = job->x->dim[0];
    job->width = job->x->dim[1];
    job->gamma = ref_reals(call, job->width);
    job->beta = ref_reals(call, job->width);
    job->scratch = ref_reals(call, ref_count_times(2 * ref_worker_count(call), job->width));
    if (!job->gamma || !job->beta || !job->scratch)
        return AXLE_ERR_NOMEM;
    ref_vector_load(gamma, job->width, 1, job->gamma);
    ref_vector_load(beta, job->width, 0, job->beta);
    return AXLE_OK;
}

static void job_end(const ref_call *call, layer_job *job)
{
    ref_scratch_free(call, job->scratch);
    ref_scratch_free(call, job->beta);
    ref_scratch_free(call, job->gamma);
}

static axle_status layer_norm(const ref_call *call)
{
    layer_job job = {.x = ref_operand_in(call, 0),
                     .y = ref_operand_out(call, 0),
                     .mean = ref_operand_out(call, 1),
                     .rstd = ref_operand_out(call, 2)};
    axle_status status = job_begin(call, &job, ref_operand_in(call, 1), ref_operand_in(call, 2));
    if (status == AXLE_OK)
        ref_parallel(call, job.rows, GRAIN / (job.width + 1) + 1, layer_rows, &job);
    job_end(call, &job);
    return status;
}

static axle_status layer_norm_backward(const ref_call *call)
{
    layer_job job = {.dy = ref_operand_in(call, 0),
                     .x = ref_operand_in(call, 1),
                     .mean = ref_operand_in(call, 3),
                     .rstd = ref_operand_in(call, 4),
                     .dx = ref_operand_out(call, 0),
                     .dgamma = ref_operand_out(call, 1),
                     .dbeta = ref_operand_out(call, 2)};
    axle_status status = job_begin(call, &job, ref_operand_in(call, 2), NULL);
    if (status == AXLE_OK && job.dx)
        ref_parallel(call, job.rows, GRAIN / (job.width + 1) + 1, layer_rows_backward, &job);
    if (status == AXLE_OK && (job.dgamma || job.dbeta))
        ref_parallel(call, job.width, COLUMNS, layer_columns, &job);
    job_end(call, &job);
    return status;
}

static int accepts_forward(const axle_op_desc *desc)
{
    return desc->attrs && ref_signature_fits(desc, "fr?r?", "fs?s?") && desc->in[0]->rank == 2;
}

static int accepts_backward(const axle_op_desc *desc)
{
    const axle_layer_norm_attrs *attrs = desc->attrs;
    return attrs && desc->n_in > 3 && (desc->in[3] || attrs->kind == AXLE_NORM_RMS) &&
           ref_signature_fits(desc, "ffr?s?s", "f?r?r?") && desc->in[0]->rank == 2;
}

const ref_entry ref_entries_layer_norm[] = {
    {AXLE_OP_LAYER_NORM, layer_norm, accepts_forward},
    {AXLE_OP_LAYER_NORM_BACKWARD, layer_norm_backward, accepts_backward},
    {0},
};
