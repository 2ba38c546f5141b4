/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH_NORM of (N, C, ...) and its backward pass. */
#include "norm.h"

#include <math.h>
#include <string.h>

enum { COEFFICIENTS = 5 };

typedef struct batch_op {
    axle_be_op base;
    int training;
    double eps, momentum;
    int64_t channels, n; /* C, elements of a channel */
    reduce_plan statistics;
    elem_plan apply;
    norm_vector gamma, beta, mean, rstd, running_mean, running_var, dgamma, dbeta;
    /* Layout of the workspace: two vectors of f64, coefficients in f32, the reduction's own. */
    size_t sums[2], coefficient[COEFFICIENTS], gamma_at, reduction;
} batch_op;

static size_t lay_out(batch_op *op)
{
    const size_t c = (size_t)op->channels;
    size_t total = 0;
    for (int k = 0; k < 2; k++)
        op->sums[k] = cpu_reserve(&total, c * sizeof(double));
    for (int k = 0; k < COEFFICIENTS; k++)
        op->coefficient[k] = cpu_reserve(&total, c * sizeof(float));
    op->gamma_at = cpu_reserve(&total, c * sizeof(float));
    op->reduction = cpu_reserve(&total, reduce_plan_workspace(&op->statistics));
    return total;
}

static void take_shape(batch_op *op, const axle_op_desc *desc, const axle_view *x)
{
    const axle_batch_norm_attrs *attrs = desc->attrs;
    op->training = attrs->training != 0;
    op->eps = attrs->eps;
    op->momentum = attrs->momentum;
    op->channels = x->dim[1];
    op->n = op->channels > 0 ? cpu_count(x) / op->channels : 0;
}

/* Every channel has its coefficient. */
static axle_view coefficient_view(const axle_view *x)
{
    const int64_t stride[2] = {0, 1};
    return cpu_norm_coefficients(x, stride, 2);
}

typedef struct batch_run {
    const batch_op *op;
    unsigned char *workspace;
    double *sums[2];
    float *coefficient[COEFFICIENTS], *gamma;
} batch_run;

static batch_run run_begin(const batch_op *op, const axle_op_args *args)
{
    batch_run run = {.op = op, .workspace = cpu_workspace(args)};
    for (int k = 0; k < 2; k++)
        run.sums[k] = (double *)(run.workspace + op->sums[k]);
    for (int k = 0; k < COEFFICIENTS; k++)
        run.coefficient[k] = (float *)(run.workspace + op->coefficient[k]);
    run.gamma = (float *)(run.workspace + op->gamma_at);
    return run;
}

/* ------------------------------------------------------------------ forward */

static int forward_accepts(const axle_op_desc *desc)
{
    const axle_batch_norm_attrs *attrs = desc->attrs;
    const axle_view *x = desc->in[0];
    if (!cpu_is_f32_like(x->dtype) || desc->out[0]->dtype != x->dtype || x->rank < 2)
        return 0;
    for (uint32_t k = 1; k < 5; k++)
        if (!cpu_norm_is_param(cpu_in(desc, k)))
            return 0;
    return cpu_norm_is_stat(cpu_out(desc, 1)) && cpu_norm_is_stat(cpu_out(desc, 2)) &&
           cpu_norm_is_param(cpu_out(desc, 3)) && cpu_norm_is_param(cpu_out(desc, 4)) &&
           (attrs->training || (cpu_in(desc, 3) && cpu_in(desc, 4)));
}

static void plan_forward(batch_op *op, const cpu_loops *loops, const axle_op_desc *desc)
{
    const axle_view *x = desc->in[0];
    const axle_view vector = coefficient_view(x);
    const axle_view *in[4] = {x, &vector, &vector, &vector};
    take_shape(op, desc, x);
    reduce_plan_init(&op->statistics, loops, REDUCE_MOMENTS, AXLE_REDUCE_VAR, 0,
                     cpu_norm_axes(x->rank, 2) | 1u, x, NULL, NULL);
    elem_plan_init(&op->apply, loops, loops->norm->channel, 4, in, desc->out[0], ELEM_CONVERT);
    op->gamma = cpu_norm_vector(loops, cpu_in(desc, 1));
    op->beta = cpu_norm_vector(loops, cpu_in(desc, 2));
    op->running_mean = cpu_norm_vector(loops, op->training ? cpu_out(desc, 3) : cpu_in(desc, 3));
    op->running_var = cpu_norm_vector(loops, op->training ? cpu_out(desc, 4) : cpu_in(desc, 4));
    op->mean = cpu_norm_vector(loops, cpu_out(desc, 1));
    op->rstd = cpu_norm_vector(loops, cpu_out(desc, 2));
}

static axle_status forward_query(const axle_op_desc *desc, axle_op_info *info)
{
    batch_op op;
    if (!forward_accepts(desc))
        return AXLE_OK;
    memset(&op, 0, sizeof(op));
    plan_forward(&op, &cpu_loops_generic, desc);
    return cpu_op_support(info, "batch_norm", cpu_workspace_size(lay_out(&op)));
}

static axle_status forward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                   axle_be_op **out, axle_error *error)
{
    batch_op *op = cpu_op_create(device, &cpu_kernel_batch_norm, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    plan_forward(op, cpu_loops_choose(device->host), desc);
    lay_out(op);
    *out = &op->base;
    return AXLE_OK;
}

/* Move a running statistic toward the batch's. An empty batch says nothing. */
static void update_running(const batch_op *op, const norm_vector *vector, void *data,
                           const float *batch)
{
    float value;
    if (vector->size == 0 || !data || op->n == 0)
        return;
    for (int64_t c = 0; c < op->channels; c++) {
        unsigned char *at = (unsigned char *)data + c * vector->stride[0] * vector->size;
        vector->load(at, 1, &value, 1);
        value = (float)((1 - op->momentum) * (double)value + op->momentum * (double)batch[c]);
        vector->store(&value, at, 1, 1);
    }
}

/* Means go to coefficient 0, reciprocal deviations to 1. */
static void batch_statistics(const batch_run *run, const void *x, void *running_mean,
                             void *running_var)
{
    const batch_op *op = run->op;
    const double n = (double)op->n;
    float *mean = run->coefficient[0], *rstd = run->coefficient[1], *unbiased = run->coefficient[3];
    const reduce_arrays arrays = {.x = x, .out = run->sums[0], .second = run->sums[1]};
    reduce_plan_run(&op->statistics, &arrays, run->workspace + op->reduction);
    for (int64_t c = 0; c < op->channels; c++) {
        const double variance = run->sums[1][c] / n;
        mean[c] = op->n > 0 ? (float)run->sums[0][c] : NAN;
        rstd[c] = (float)(1.0 / sqrt(variance + op->eps));
        unbiased[c] = (float)(run->sums[1][c] / (n - 1));
    }
    update_running(op, &op->running_mean, running_mean, mean);
    update_running(op, &op->running_var, running_var, unbiased);
}

static void given_statistics(const batch_run *run, const void *running_mean,
                             const void *running_var)
{
    const batch_op *op = run->op;
    float *mean = run->coefficient[0], *rstd = run->coefficient[1];
    cpu_norm_load(&op->running_mean, running_mean, op->channels, 0.0f, mean);
    cpu_norm_load(&op->running_var, running_var, op->channels, 1.0f, rstd);
    for (int64_t c = 0; c < op->channels; c++)
        rstd[c] = (float)(1.0 / sqrt((double)rstd[c] + op->eps));
}

static axle_status forward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const batch_op *op = (const batch_op *)base;
    const batch_run run = run_begin(op, args);
    float *mean = run.coefficient[0], *rstd = run.coefficient[1], *factor = run.coefficient[2];
    float *shift = run.coefficient[3];
    (void)error;
    if (op->training)
        batch_statistics(&run, cpu_in_data(args, 0), cpu_out_data(args, 3), cpu_out_data(args, 4));
    else
        given_statistics(&run, cpu_in_data(args, 3), cpu_in_data(args, 4));
    cpu_norm_store(&op->mean, cpu_out_data(args, 1), op->channels, mean);
    cpu_norm_store(&op->rstd, cpu_out_data(args, 2), op->channels, rstd);
    cpu_norm_load(&op->gamma, cpu_in_data(args, 1), op->channels, 1.0f, run.gamma);
    cpu_norm_load(&op->beta, cpu_in_data(args, 2), op->channels, 0.0f, shift);
    for (int64_t c = 0; c < op->channels; c++)
        factor[c] = rstd[c] * run.gamma[c];
    const void *in[4] = {cpu_in_data(args, 0), mean, factor, shift};
    elem_plan_run(&op->apply, in, cpu_out_data(args, 0));
    return AXLE_OK;
}

/* ------------------------------------------------------------------ backward */

static int backward_accepts(const axle_op_desc *desc)
{
    const axle_view *dy = desc->in[0], *x = desc->in[1], *dx = cpu_out(desc, 0);
    return cpu_is_f32_like(x->dtype) && dy->dtype == x->dtype && x->rank >= 2 &&
           (!dx || dx->dtype == x->dtype) && cpu_in(desc, 3) && cpu_in(desc, 4) &&
           cpu_norm_is_param(desc->in[2]) && cpu_norm_is_stat(desc->in[3]) &&
           cpu_norm_is_stat(desc->in[4]) && cpu_norm_is_param(cpu_out(desc, 1)) &&
           cpu_norm_is_param(cpu_out(desc, 2));
}

/* With given statistics dx is a product of dy and a coefficient: x is not looked at. */
static void plan_backward(batch_op *op, const cpu_loops *loops, const axle_op_desc *desc)
{
    const axle_view *dy = desc->in[0], *x = desc->in[1], *dx = cpu_out(desc, 0);
    const axle_view vector = coefficient_view(x);
    const axle_view *all[6] = {dy, x, &vector, &vector, &vector, &vector};
    const axle_view *product[2] = {dy, &vector};
    take_shape(op, desc, x);
    reduce_plan_init(&op->statistics, loops, REDUCE_PAIRS, AXLE_REDUCE_SUM, 0,
                     cpu_norm_axes(x->rank, 2) | 1u, x, dy, NULL);
    if (dx && op->training)
        elem_plan_init(&op->apply, loops, loops->norm->channel_backward, 6, all, dx, ELEM_CONVERT);
    else if (dx)
        elem_plan_init(&op->apply, loops, loops->binary->forward[DOMAIN_F32][AXLE_BINARY_MUL], 2,
                       product, dx, ELEM_CONVERT);
    op->gamma = cpu_norm_vector(loops, desc->in[2]);
    op->mean = cpu_norm_vector(loops, desc->in[3]);
    op->rstd = cpu_norm_vector(loops, desc->in[4]);
    op->dgamma = cpu_norm_vector(loops, cpu_out(desc, 1));
    op->dbeta = cpu_norm_vector(loops, cpu_out(desc, 2));
}

static axle_status backward_query(const axle_op_desc *desc, axle_op_info *info)
{
    batch_op op;
    if (!backward_accepts(desc))
        return AXLE_OK;
    memset(&op, 0, sizeof(op));
    plan_backward(&op, &cpu_loops_generic, desc);
    return cpu_op_support(info, "batch_norm_backward", cpu_workspace_size(lay_out(&op)));
}

static axle_status backward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                    axle_be_op **out, axle_error *error)
{
    batch_op *op = cpu_op_create(device, &cpu_kernel_batch_norm_backward, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    plan_backward(op, cpu_loops_choose(device->host), desc);
    lay_out(op);
    *out = &op->base;
    return AXLE_OK;
}

/* Sums of dy and of dy * (x - mean) over every channel. */
static void gradient_sums(const batch_run *run, const axle_op_args *args)
{
    const batch_op *op = run->op;
    double *mean = run->sums[1];
    const reduce_arrays arrays = {
        .x = cpu_in_data(args, 1),
        .dy = cpu_in_data(args, 0),
        .mean = mean,
        .out = run->sums[0],
        .second = run->sums[1],
    };
    for (int64_t c = 0; c < op->channels; c++)
        mean[c] = (double)run->coefficient[0][c];
    reduce_plan_run(&op->statistics, &arrays, run->workspace + op->reduction);
}

/* dx = a * dy + b * (x - mean) + c */
static void gradient_coefficients(const batch_run *run, const float *rstd)
{
    const batch_op *op = run->op;
    const double n = (double)op->n;
    float *a = run->coefficient[2], *b = run->coefficient[3], *c = run->coefficient[4];
    for (int64_t k = 0; k < op->channels; k++) {
        const double r = (double)rstd[k], factor = r * (double)run->gamma[k];
        a[k] = (float)factor;
        b[k] = (float)(-factor * r * r * run->sums[1][k] / n);
        c[k] = (float)(-factor * run->sums[0][k] / n);
    }
}

static void parameter_gradients(const batch_run *run, const float *rstd, void *dgamma, void *dbeta)
{
    const batch_op *op = run->op;
    float *values = run->gamma;
    for (int64_t k = 0; k < op->channels; k++)
        values[k] = op->n > 0 ? (float)(run->sums[1][k] * (double)rstd[k]) : 0.0f;
    cpu_norm_store(&op->dgamma, dgamma, op->channels, values);
    for (int64_t k = 0; k < op->channels; k++)
        values[k] = (float)run->sums[0][k];
    cpu_norm_store(&op->dbeta, dbeta, op->channels, values);
}

static axle_status backward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const batch_op *op = (const batch_op *)base;
    const batch_run run = run_begin(op, args);
    float *mean = run.coefficient[0], *rstd = run.coefficient[1];
    void *dx = cpu_out_data(args, 0);
    void *dgamma = cpu_out_data(args, 1), *dbeta = cpu_out_data(args, 2);
    (void)error;
    cpu_norm_load(&op->mean, cpu_in_data(args, 3), op->channels, 0.0f, mean);
    cpu_norm_load(&op->rstd, cpu_in_data(args, 4), op->channels, 1.0f, rstd);
    cpu_norm_load(&op->gamma, cpu_in_data(args, 2), op->channels, 1.0f, run.gamma);
    if (dgamma || dbeta || (dx && op->training))
        gradient_sums(&run, args);
    gradient_coefficients(&run, rstd);
    parameter_gradients(&run, rstd, dgamma, dbeta);
    const void *all[6] = {cpu_in_data(args, 0), cpu_in_data(args, 1), mean,
                          run.coefficient[2],   run.coefficient[3],   run.coefficient[4]};
    const void *product[2] = {cpu_in_data(args, 0), run.coefficient[2]};
    if (dx)
        elem_plan_run(&op->apply, op->training ? all : product, dx);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_batch_norm = {
    .op = AXLE_OP_BATCH_NORM,
    .query = forward_query,
    .prepare = forward_prepare,
    .run = forward_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_batch_norm_backward = {
    .op = AXLE_OP_BATCH_NORM_BACKWARD,
    .query = backward_query,
    .prepare = backward_prepare,
    .run = backward_run,
    .release = cpu_op_release,
};
