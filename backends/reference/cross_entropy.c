/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cross-entropy of logits (N, C, S) with targets (N, S), position by position. Losses are kept in
 * double until they have been added in order, so the mean does not depend on the number of workers.
 */
#include "masking.h"
#include "operand.h"

typedef struct entropy_job {
    const axle_cross_entropy_attrs *attrs;
    const axle_view *logits, *target, *lse, *dloss, *dlogits;
    int64_t samples, classes, space; /* N, C, S */
    double *weight;                  /* (C): ones where the operand is absent */
    double weight_sum;
    double *row;  /* (workers, C) */
    double *loss; /* (N, S) */
    double total; /* of the weights of the valid targets */
} entropy_job;

/* Position of (n, s) in a view (N, S). */
static int64_t place(const axle_view *view, const entropy_job *job, int64_t i)
{
    return i / job->space * view->stride[0] + i % job->space * view->stride[1];
}

static int64_t target_of(const entropy_job *job, int64_t i)
{
    return ref_element_index(job->target, place(job->target, job, i));
}

static int64_t logits_at(const axle_view *view, const entropy_job *job, int64_t i)
{
    return i / job->space * view->stride[0] + i % job->space * view->stride[2];
}

static axle_status check_targets(const ref_call *call, const entropy_job *job)
{
    for (int64_t i = 0; i < job->samples * job->space; i++) {
        int64_t t = target_of(job, i);
        if (t != job->attrs->ignore_index && (t < 0 || t >= job->classes))
            return ref_fail(call->error, AXLE_ERR_INDEX,
                            "cross_entropy: target %lld is outside [0, %lld)", (long long)t,
                            (long long)job->classes);
    }
    return AXLE_OK;
}

/* What both passes begin with. The caller releases. */
static axle_status job_begin(const ref_call *call, entropy_job *job, const axle_view *weight)
{
    job->attrs = call->attrs;
    job->samples = job->logits->dim[0];
    job->classes = job->logits->dim[1];
    job->space = job->logits->dim[2];
    axle_status status = check_targets(call, job);
    if (status != AXLE_OK)
        return status;
    job->weight = ref_reals(call, job->classes);
    job->row = ref_reals(call, ref_count_times(ref_worker_count(call), job->classes));
    job->loss = ref_reals(call, job->samples * job->space);
    if (!job->weight || !job->row || !job->loss)
        return AXLE_ERR_NOMEM;
    ref_vector_load(weight, job->classes, 1, job->weight);
    for (int64_t c = 0; c < job->classes; c++)
        job->weight_sum += job->weight[c];
    return AXLE_OK;
}

static void job_end(const ref_call *call, entropy_job *job)
{
    ref_scratch_free(call, job->loss);
    ref_scratch_free(call, job->row);
    ref_scratch_free(call, job->weight);
}

static double log_sum_exp(const double *x, int64_t n)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < n; c++)
        if (x[c] > largest || isnan(x[c]))
            largest = x[c];
    for (int64_t c = 0; c < n; c++)
        sum += exp(x[c] - largest);
    return isinf(largest) ? largest : largest + log(sum);
}

/* (1-s) * w[t] * (lse - x[t]) + s/C * sum over c of w[c] * (lse - x[c]) */
static double position_loss(const entropy_job *job, const double *x, double lse, int64_t t)
{
    double smoothing = job->attrs->label_smoothing, sum = 0;
    double loss = (1 - smoothing) * job->weight[t] * (lse - x[t]);
    if (smoothing == 0)
        return loss;
    for (int64_t c = 0; c < job->classes; c++)
        sum += job->weight[c] * (lse - x[c]);
    return loss + smoothing / (double)job->classes * sum;
}

static void losses(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const entropy_job *job = arg;
    double *x = job->row + worker * job->classes;
    for (int64_t i = begin; i < end; i++) {
        int64_t t = target_of(job, i);
        ref_run_load(job->logits, logits_at(job->logits, job, i), job->classes,
                     job->logits->stride[1], x);
        double lse = log_sum_exp(x, job->classes);
        job->loss[i] = t == job->attrs->ignore_index ? 0 : position_loss(job, x, lse, t);
        if (job->lse)
            ref_element_set(job->lse, place(job->lse, job, i), lse);
    }
}

static void write_loss(const entropy_job *job, const axle_view *loss)
{
    int64_t count = job->samples * job->space;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += job->loss[i];
        if (job->attrs->reduction == AXLE_REDUCTION_NONE)
            ref_element_set(loss, place(loss, job, i), job->loss[i]);
    }
    if (job->attrs->reduction == AXLE_REDUCTION_MEAN)
        sum = job->total != 0 ? sum / job->total : 0;
    if (job->attrs->reduction != AXLE_REDUCTION_NONE)
        ref_element_set(loss, 0, sum);
}

static axle_status cross_entropy(const ref_call *call)
{
    entropy_job job = {.logits = ref_operand_in(call, 0),
                       .target = ref_operand_in(call, 1),
                       .lse = ref_operand_out(call, 1)};
    const axle_view *total = ref_operand_out(call, 2);
    axle_status status = job_begin(call, &job, ref_operand_in(call, 2));
    if (status == AXLE_OK) {
        int64_t count = job.samples * job.space;
        ref_parallel(call, count, 16, losses, &job);
        for (int64_t i = 0; i < count; i++) {
            int64_t t = target_of(&job, i);
            job.total += t == job.attrs->ignore_index ? 0 : job.weight[t];
        }
        write_loss(&job, ref_operand_out(call, 0));
        if (total)
            ref_element_set(total, 0, job.total);
    }
    job_end(call, &job);
    return status;
}

/* The gradient with respect to a position's loss. */
static double position_gradient(const entropy_job *job, int64_t i)
{
    if (job->attrs->reduction == AXLE_REDUCTION_NONE)
        return ref_element_get(job->dloss, place(job->dloss, job, i));
    double g = ref_element_get(job->dloss, 0);
    if (job->attrs->reduction == AXLE_REDUCTION_SUM)
        return g;
    return job->total != 0 ? g / job->total : 0;
}

/*
 * g * (a * p[c] - (1-s) * w[t] * [c == t] - s/C * w[c]), where a is the sum of the factors of lse.
 * The softmax p is computed anew: lse is a rounded number, and off by more than a probability can
 * bear where logits are large.
 */
static void position_backward(const entropy_job *job, double g, int64_t t, double *x)
{
    double smoothing = job->attrs->label_smoothing;
    double each = smoothing / (double)job->classes, own = (1 - smoothing) * job->weight[t];
    double a = own + each * job->weight_sum;
    ref_masking all = {.keep = job->classes};
    ref_masked_softmax(&all, x, job->classes);
    for (int64_t c = 0; c < job->classes; c++)
        x[c] = g * (a * x[c] - (c == t ? own : 0) - each * job->weight[c]);
}

static void gradients(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const entropy_job *job = arg;
    double *x = job->row + worker * job->classes;
    int none_valid = job->attrs->reduction == AXLE_REDUCTION_MEAN && job->total == 0;
    for (int64_t i = begin; i < end; i++) {
        int64_t t = target_of(job, i);
        if (t == job->attrs->ignore_index || none_valid) {
            for (int64_t c = 0; c < job->classes; c++)
                x[c] = 0;
        } else {
            ref_run_load(job->logits, logits_at(job->logits, job, i), job->classes,
                         job->logits->stride[1], x);
            position_backward(job, position_gradient(job, i), t, x);
        }
        ref_run_store(job->dlogits, logits_at(job->dlogits, job, i), job->classes,
                      job->dlogits->stride[1], x);
    }
}

static axle_status cross_entropy_backward(const ref_call *call)
{
    entropy_job job = {.dloss = ref_operand_in(call, 0),
                       .logits = ref_operand_in(call, 1),
                       .target = ref_operand_in(call, 2),
                       .dlogits = ref_operand_out(call, 0)};
    axle_status status = job_begin(call, &job, ref_operand_in(call, 3));
    if (status == AXLE_OK) {
        job.total = ref_element_get(ref_operand_in(call, 5), 0);
        ref_parallel(call, job.samples * job.space, 16, gradients, &job);
    }
    job_end(call, &job);
    return status;
}

static int ranks_fit(const axle_op_desc *desc, const axle_view *logits, const axle_view *target,
                     const axle_view *loss)
{
    const axle_cross_entropy_attrs *attrs = desc->attrs;
    return attrs && attrs->reduction <= AXLE_REDUCTION_SUM && logits->rank == 3 &&
           target->rank == 2 && loss->rank == 2;
}

static int accepts_forward(const axle_op_desc *desc)
{
    return ref_signature_fits(desc, "fir?", "rs?s?") &&
           ranks_fit(desc, desc->in[0], desc->in[1], desc->out[0]);
}

static int accepts_backward(const axle_op_desc *desc)
{
    return ref_signature_fits(desc, "rrir?r?r", "r") &&
           ranks_fit(desc, desc->in[1], desc->in[2], desc->in[0]);
}

const ref_entry ref_entries_cross_entropy[] = {
    {AXLE_OP_CROSS_ENTROPY, cross_entropy, accepts_forward},
    {AXLE_OP_CROSS_ENTROPY_BACKWARD, cross_entropy_backward, accepts_backward},
    {0},
};
