/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation of groups of channels of (N, C, ...): C/G channels of one sample form a set. */
#include "moments.h"
#include "operand.h"

typedef struct group_job {
    const axle_group_norm_attrs *attrs;
    const axle_view *x, *y, *mean, *rstd;
    const axle_view *dy, *dx, *dgamma, *dbeta;
    int64_t samples, groups, channels; /* N, G, C/G */
    int64_t plane, n;                  /* elements of a plane, of a set */
    double *gamma, *beta;              /* (C) */
    double *scratch;                   /* (workers, 2, n) */
} group_job;

/* Load set i = (sample, group). */
static void load_set(const group_job *job, const axle_view *view, int64_t i, double *out)
{
    int64_t at = i / job->groups * view->stride[0];
    int64_t first = i % job->groups * job->channels;
    for (int64_t c = 0; c < job->channels; c++)
        ref_box_load(view, 2, at + (first + c) * view->stride[1], out + c * job->plane);
}

static void store_set(const group_job *job, const axle_view *view, int64_t i, const double *in)
{
    int64_t at = i / job->groups * view->stride[0];
    int64_t first = i % job->groups * job->channels;
    for (int64_t c = 0; c < job->channels; c++)
        ref_box_store(view, 2, at + (first + c) * view->stride[1], in + c * job->plane);
}

static void group_sets(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const group_job *job = arg;
    double *x = job->scratch + 2 * worker * job->n;
    for (int64_t s = begin; s < end; s++) {
        int64_t first = s % job->groups * job->channels;
        load_set(job, job->x, s, x);
        ref_moments m = ref_moments_layer(x, job->n, job->attrs->eps);
        ref_normalize(&m, x, job->n);
        for (int64_t i = 0; i < job->n; i++)
            x[i] = x[i] * job->gamma[first + i / job->plane] + job->beta[first + i / job->plane];
        store_set(job, job->y, s, x);
        if (job->mean)
            ref_element_set(job->mean, ref_view_at(job->mean, 0, 2, s), m.mean);
        if (job->rstd)
            ref_element_set(job->rstd, ref_view_at(job->rstd, 0, 2, s), m.rstd);
    }
}

static ref_moments saved_moments(const group_job *job, int64_t s)
{
    return (ref_moments){ref_element_get(job->mean, ref_view_at(job->mean, 0, 2, s)),
                         ref_element_get(job->rstd, ref_view_at(job->rstd, 0, 2, s))};
}

static void group_sets_backward(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const group_job *job = arg;
    double *x = job->scratch + 2 * worker * job->n, *g = x + job->n;
    for (int64_t s = begin; s < end; s++) {
        int64_t first = s % job->groups * job->channels;
        ref_moments m = saved_moments(job, s);
        load_set(job, job->x, s, x);
        load_set(job, job->dy, s, g);
        ref_normalize(&m, x, job->n);
        for (int64_t i = 0; i < job->n; i++)
            g[i] *= job->gamma[first + i / job->plane];
        ref_normalize_backward(m.rstd, 1, x, g, job->n);
        store_set(job, job->dx, s, g);
    }
}

/* dgamma and dbeta of channels [begin, end): sums over samples and space, in their order. */
static void group_channels(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const group_job *job = arg;
    double *x = job->scratch + 2 * worker * job->n, *dy = x + job->plane;
    for (int64_t c = begin; c < end; c++) {
        double dgamma = 0, dbeta = 0;
        for (int64_t i = 0; i < job->samples; i++) {
            ref_moments m = saved_moments(job, i * job->groups + c / job->channels);
            ref_box_load(job->x, 2, i * job->x->stride[0] + c * job->x->stride[1], x);
            ref_box_load(job->dy, 2, i * job->dy->stride[0] + c * job->dy->stride[1], dy);
            ref_normalize(&m, x, job->plane);
            for (int64_t p = 0; p < job->plane; p++) {
                dgamma += dy[p] * x[p];
                dbeta += dy[p];
            }
        }
        if (job->dgamma)
            ref_element_set(job->dgamma, c * job->dgamma->stride[0], dgamma);
        if (job->dbeta)
            ref_element_set(job->dbeta, c * job->dbeta->stride[0], dbeta);
    }
}

static axle_status job_begin(const ref_call *call, group_job *job, const axle_view *gamma,
                             const axle_view *beta)
{
    int64_t all = job->x->dim[1];
    job->attrs = call->attrs;
    job->samples = job->x->dim[0];
    job->groups = job->attrs->groups;
    job->channels = all / job->groups;
    job->plane = ref_box_count(job->x, 2);
    job->n = job->channels * job->plane;
    job->gamma = ref_reals(call, all);
    job->beta = ref_reals(call, all);
    job->scratch = ref_reals(call, ref_count_times(2 * ref_worker_count(call), job->n));
    if (!job->gamma || !job->beta || !job->scratch)
        return AXLE_ERR_NOMEM;
    ref_vector_load(gamma, all, 1, job->gamma);
    ref_vector_load(beta, all, 0, job->beta);
    return AXLE_OK;
}

static void job_end(const ref_call *call, group_job *job)
{
    ref_scratch_free(call, job->scratch);
    ref_scratch_free(call, job->beta);
    ref_scratch_free(call, job->gamma);
}

static axle_status group_norm(const ref_call *call)
{
    group_job job = {.x = ref_operand_in(call, 0),
                     .y = ref_operand_out(call, 0),
                     .mean = ref_operand_out(call, 1),
                     .rstd = ref_operand_out(call, 2)};
    axle_status status = job_begin(call, &job, ref_operand_in(call, 1), ref_operand_in(call, 2));
    if (status == AXLE_OK)
        ref_parallel(call, job.samples * job.groups, 1, group_sets, &job);
    job_end(call, &job);
    return status;
}

static axle_status group_norm_backward(const ref_call *call)
{
    group_job job = {.dy = ref_operand_in(call, 0),
                     .x = ref_operand_in(call, 1),
                     .mean = ref_operand_in(call, 3),
                     .rstd = ref_operand_in(call, 4),
                     .dx = ref_operand_out(call, 0),
                     .dgamma = ref_operand_out(call, 1),
                     .dbeta = ref_operand_out(call, 2)};
    axle_status status = job_begin(call, &job, ref_operand_in(call, 2), NULL);
    if (status == AXLE_OK && job.dx)
        ref_parallel(call, job.samples * job.groups, 1, group_sets_backward, &job);
    if (status == AXLE_OK && (job.dgamma || job.dbeta))
        ref_parallel(call, job.groups * job.channels, 1, group_channels, &job);
    job_end(call, &job);
    return status;
}

static int groups_fit(const axle_op_desc *desc)
{
    const axle_group_norm_attrs *attrs = desc->attrs;
    return attrs && attrs->groups > 0 && desc->in[0]->rank >= 2 &&
           desc->in[0]->dim[1] % attrs->groups == 0;
}

static int accepts_forward(const axle_op_desc *desc)
{
    return ref_signature_fits(desc, "fr?r?", "fs?s?") && groups_fit(desc);
}

static int accepts_backward(const axle_op_desc *desc)
{
    return ref_signature_fits(desc, "ffr?ss", "f?r?r?") && groups_fit(desc);
}

const ref_entry ref_entries_group_norm[] = {
    {AXLE_OP_GROUP_NORM, group_norm, accepts_forward},
    {AXLE_OP_GROUP_NORM_BACKWARD, group_norm_backward, accepts_backward},
    {0},
};
