/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation of the channels of (N, C, ...): all numbers of a channel form a set. */
#include "moments.h"
#include "operand.h"

#include <math.h>

typedef struct batch_job {
    const axle_batch_norm_attrs *attrs;
    const axle_view *x, *gamma, *beta, *running_mean, *running_var;
    const axle_view *y, *mean, *rstd;
    const axle_view *new_mean, *new_var; /* the running statistics as outputs */
    const axle_view *dy, *dx, *dgamma, *dbeta;
    int64_t samples, channels, plane, n; /* N, C, elements of a plane, of a channel */
    double *scratch;                     /* (workers, 2, n) */
} batch_job;

static double channel_get(const axle_view *vector, int64_t c, double absent)
{
    return vector ? ref_element_get(vector, c * vector->stride[0]) : absent;
}

static void channel_set(const axle_view *vector, int64_t c, double value)
{
    if (vector)
        ref_element_set(vector, c * vector->stride[0], value);
}

static void load_channel(const batch_job *job, const axle_view *view, int64_t c, double *out)
{
    for (int64_t i = 0; i < job->samples; i++)
        ref_box_load(view, 2, i * view->stride[0] + c * view->stride[1], out + i * job->plane);
}

static void store_channel(const batch_job *job, const axle_view *view, int64_t c, const double *in)
{
    for (int64_t i = 0; i < job->samples; i++)
        ref_box_store(view, 2, i * view->stride[0] + c * view->stride[1], in + i * job->plane);
}

/* Move one running statistic toward that of the batch. */
static void update_running(const axle_view *running, int64_t c, double momentum, double batch)
{
    if (running)
        channel_set(running, c, (1 - momentum) * channel_get(running, c, 0) + momentum * batch);
}

static ref_moments channel_moments(const batch_job *job, int64_t c, const double *x)
{
    double mean, variance, n = (double)job->n;
    if (!job->attrs->training) {
        mean = channel_get(job->running_mean, c, 0);
        variance = channel_get(job->running_var, c, 1);
    } else {
        ref_mean_variance(x, job->n, &mean, &variance);
        /* An empty batch says nothing and leaves the running statistics alone. */
        if (job->n > 0) {
            update_running(job->new_mean, c, job->attrs->momentum, mean);
            update_running(job->new_var, c, job->attrs->momentum, variance * n / (n - 1));
        }
    }
    return (ref_moments){mean, 1 / sqrt(variance + job->attrs->eps)};
}

static void batch_channels(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const batch_job *job = arg;
    double *x = job->scratch + 2 * worker * job->n;
    for (int64_t c = begin; c < end; c++) {
        double gamma = channel_get(job->gamma, c, 1), beta = channel_get(job->beta, c, 0);
        load_channel(job, job->x, c, x);
        ref_moments m = channel_moments(job, c, x);
        ref_normalize(&m, x, job->n);
        for (int64_t i = 0; i < job->n; i++)
            x[i] = x[i] * gamma + beta;
        store_channel(job, job->y, c, x);
        channel_set(job->mean, c, m.mean);
        channel_set(job->rstd, c, m.rstd);
    }
}

static void batch_channels_backward(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const batch_job *job = arg;
    double *x = job->scratch + 2 * worker * job->n, *g = x + job->n;
    for (int64_t c = begin; c < end; c++) {
        ref_moments m = {channel_get(job->mean, c, 0), channel_get(job->rstd, c, 1)};
        double gamma = channel_get(job->gamma, c, 1), dgamma = 0, dbeta = 0;
        load_channel(job, job->x, c, x);
        load_channel(job, job->dy, c, g);
        ref_normalize(&m, x, job->n);
        for (int64_t i = 0; i < job->n; i++) {
            dgamma += g[i] * x[i];
            dbeta += g[i];
            g[i] *= gamma;
        }
        channel_set(job->dgamma, c, dgamma);
        channel_set(job->dbeta, c, dbeta);
        if (!job->dx)
            continue;
        if (job->attrs->training)
            ref_normalize_backward(m.rstd, 1, x, g, job->n);
        else
            for (int64_t i = 0; i < job->n; i++)
                g[i] *= m.rstd;
        store_channel(job, job->dx, c, g);
    }
}

static axle_status run_channels(const ref_call *call, batch_job *job, axle_body body)
{
    job->attrs = call->attrs;
    job->samples = job->x->dim[0];
    job->channels = job->x->dim[1];
    job->plane = ref_box_count(job->x, 2);
    job->n = job->samples * job->plane;
    job->scratch = ref_reals(call, ref_count_times(2 * ref_worker_count(call), job->n));
    if (!job->scratch)
        return AXLE_ERR_NOMEM;
    ref_parallel(call, job->channels, 1, body, job);
    ref_scratch_free(call, job->scratch);
    return AXLE_OK;
}

static axle_status batch_norm(const ref_call *call)
{
    batch_job job = {.x = ref_operand_in(call, 0),
                     .gamma = ref_operand_in(call, 1),
                     .beta = ref_operand_in(call, 2),
                     .running_mean = ref_operand_in(call, 3),
                     .running_var = ref_operand_in(call, 4),
                     .y = ref_operand_out(call, 0),
                     .mean = ref_operand_out(call, 1),
                     .rstd = ref_operand_out(call, 2),
                     .new_mean = ref_operand_out(call, 3),
                     .new_var = ref_operand_out(call, 4)};
    return run_channels(call, &job, batch_channels);
}

static axle_status batch_norm_backward(const ref_call *call)
{
    batch_job job = {.dy = ref_operand_in(call, 0),
                     .x = ref_operand_in(call, 1),
                     .gamma = ref_operand_in(call, 2),
                     .mean = ref_operand_in(call, 3),
                     .rstd = ref_operand_in(call, 4),
                     .dx = ref_operand_out(call, 0),
                     .dgamma = ref_operand_out(call, 1),
                     .dbeta = ref_operand_out(call, 2)};
    return run_channels(call, &job, batch_channels_backward);
}

static int accepts_forward(const axle_op_desc *desc)
{
    const axle_batch_norm_attrs *attrs = desc->attrs;
    return attrs && ref_signature_fits(desc, "fr?r?r?r?", "fs?s?r?r?") && desc->in[0]->rank >= 2 &&
           (attrs->training || (desc->n_in > 4 && desc->in[3] && desc->in[4]));
}

static int accepts_backward(const axle_op_desc *desc)
{
    return desc->attrs && ref_signature_fits(desc, "ffr?ss", "f?r?r?") && desc->in[0]->rank >= 2;
}

const ref_entry ref_entries_batch_norm[] = {
    {AXLE_OP_BATCH_NORM, batch_norm, accepts_forward},
    {AXLE_OP_BATCH_NORM_BACKWARD, batch_norm_backward, accepts_backward},
    {0},
};
