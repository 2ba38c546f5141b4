/* SPDX-License-Identifier: Apache-2.0 */
/* GROUP_NORM of (N, C, ...) and its backward pass. */
#include "norm.h"

#include <math.h>
#include <string.h>

enum { COEFFICIENTS = 4 };

typedef struct group_op {
    axle_be_op base;
    double eps;
    int64_t samples, channels, groups; /* N, C, G */
    int64_t n;                         /* elements of a group */
    reduce_plan statistics;
    elem_plan apply;
    norm_vector gamma, beta, mean, rstd, dgamma, dbeta;
    /* Layout of the workspace: two arrays (N, C) of f64; coefficients (N, C), gamma, beta (C) and
     * the reciprocal deviations (N, G) in f32; the reduction's own. */
    size_t sums[2], coefficient[COEFFICIENTS], gamma_at, beta_at, rstd_at, reduction;
} group_op;

static size_t lay_out(group_op *op)
{
    const size_t planes = (size_t)(op->samples * op->channels), c = (size_t)op->channels;
    size_t total = 0;
    for (int k = 0; k < 2; k++)
        op->sums[k] = cpu_reserve(&total, planes * sizeof(double));
    for (int k = 0; k < COEFFICIENTS; k++)
        op->coefficient[k] = cpu_reserve(&total, planes * sizeof(float));
    op->gamma_at = cpu_reserve(&total, c * sizeof(float));
    op->beta_at = cpu_reserve(&total, c * sizeof(float));
    op->rstd_at = cpu_reserve(&total, planes * sizeof(float));
    op->reduction = cpu_reserve(&total, reduce_plan_workspace(&op->statistics));
    return total;
}

static void take_shape(group_op *op, const axle_op_desc *desc, const axle_view *x)
{
    const axle_group_norm_attrs *attrs = desc->attrs;
    op->eps = attrs->eps;
    op->samples = x->dim[0];
    op->channels = x->dim[1];
    op->groups = attrs->groups;
    op->n = op->samples > 0 ? cpu_count(x) / (op->samples * op->groups) : 0;
}

static int groups_fit(const axle_op_desc *desc, const axle_view *x)
{
    const axle_group_norm_attrs *attrs = desc->attrs;
    return x->rank >= 2 && attrs->groups > 0 && x->dim[1] % attrs->groups == 0;
}

typedef struct group_run {
    const group_op *op;
    unsigned char *workspace;
    double *sums[2];
    float *coefficient[COEFFICIENTS], *gamma, *beta, *rstd;
} group_run;

static group_run run_begin(const group_op *op, const axle_op_args *args)
{
    group_run run = {.op = op, .workspace = cpu_workspace(args)};
    for (int k = 0; k < 2; k++)
        run.sums[k] = (double *)(run.workspace + op->sums[k]);
    for (int k = 0; k < COEFFICIENTS; k++)
        run.coefficient[k] = (float *)(run.workspace + op->coefficient[k]);
    run.gamma = (float *)(run.workspace + op->gamma_at);
    run.beta = (float *)(run.workspace + op->beta_at);
    run.rstd = (float *)(run.workspace + op->rstd_at);
    return run;
}

/* Statistics (N, G) from or to an operand, a sample at a time. */
static void load_statistics(const group_op *op, const norm_vector *vector, const void *data,
                            float *out)
{
    for (int64_t i = 0; i < op->samples; i++)
        vector->load((const unsigned char *)data + i * vector->stride[0] * vector->size,
                     vector->stride[1], out + i * op->groups, op->groups);
}

static void store_statistics(const group_op *op, const norm_vector *vector, void *data,
                             const float *values)
{
    for (int64_t i = 0; vector->size > 0 && data && i < op->samples; i++)
        vector->store(values + i * op->groups,
                      (unsigned char *)data + i * vector->stride[0] * vector->size,
                      vector->stride[1], op->groups);
}

/* ------------------------------------------------------------------ forward */

static int forward_accepts(const axle_op_desc *desc)
{
    const axle_view *x = desc->in[0];
    return cpu_is_f32_like(x->dtype) && desc->out[0]->dtype == x->dtype && groups_fit(desc, x) &&
           cpu_norm_is_param(cpu_in(desc, 1)) && cpu_norm_is_param(cpu_in(desc, 2)) &&
           cpu_norm_is_stat(cpu_out(desc, 1)) && cpu_norm_is_stat(cpu_out(desc, 2));
}

/* Planes (N, C) are what both passes sum over and have coefficients for: unlike groups they lie
 * well in memory in every layout. */
static void plan_forward(group_op *op, const cpu_loops *loops, const axle_op_desc *desc)
{
    const axle_view *x = desc->in[0];
    take_shape(op, desc, x);
    const int64_t of_plane[2] = {op->channels, 1}, of_channel[2] = {0, 1};
    const axle_view plane = cpu_norm_coefficients(x, of_plane, 2);
    const axle_view channel = cpu_norm_coefficients(x, of_channel, 2);
    const axle_view *in[4] = {x, &plane, &plane, &channel};
    reduce_plan_init(&op->statistics, loops, REDUCE_MOMENTS, AXLE_REDUCE_VAR, 0,
                     cpu_norm_axes(x->rank, 2), x, NULL, NULL);
    elem_plan_init(&op->apply, loops, loops->norm->channel, 4, in, desc->out[0], ELEM_CONVERT);
    op->gamma = cpu_norm_vector(loops, cpu_in(desc, 1));
    op->beta = cpu_norm_vector(loops, cpu_in(desc, 2));
    op->mean = cpu_norm_vector(loops, cpu_out(desc, 1));
    op->rstd = cpu_norm_vector(loops, cpu_out(desc, 2));
}

static axle_status forward_query(const axle_op_desc *desc, axle_op_info *info)
{
    group_op op;
    if (!forward_accepts(desc))
        return AXLE_OK;
    memset(&op, 0, sizeof(op));
    plan_forward(&op, &cpu_loops_generic, desc);
    return cpu_op_support(info, "group_norm", cpu_workspace_size(lay_out(&op)));
}

static axle_status forward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                   axle_be_op **out, axle_error *error)
{
    group_op *op = cpu_op_create(device, &cpu_kernel_group_norm, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    plan_forward(op, cpu_loops_choose(device->host), desc);
    lay_out(op);
    *out = &op->base;
    return AXLE_OK;
}

/* Moments of the planes of a group make those of the group. */
static void group_moments(const group_run *run, int64_t group, double *mean, double *variance)
{
    const group_op *op = run->op;
    const int64_t each = op->channels / op->groups;
    const double *means = run->sums[0] + group * each, *spreads = run->sums[1] + group * each;
    double sum = 0, spread = 0;
    for (int64_t k = 0; k < each; k++)
        sum += means[k];
    *mean = sum / (double)each;
    for (int64_t k = 0; k < each; k++)
        spread += spreads[k] + (means[k] - *mean) * (means[k] - *mean) * (double)(op->n / each);
    *variance = op->n > 0 ? spread / (double)op->n : (double)NAN;
}

static axle_status forward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const group_op *op = (const group_op *)base;
    const group_run run = run_begin(op, args);
    const int64_t each = op->channels / op->groups;
    float *mean = run.coefficient[0], *factor = run.coefficient[1], *of_group = run.coefficient[2];
    const reduce_arrays arrays = {
        .x = cpu_in_data(args, 0), .out = run.sums[0], .second = run.sums[1]};
    (void)error;
    reduce_plan_run(&op->statistics, &arrays, run.workspace + op->reduction);
    cpu_norm_load(&op->gamma, cpu_in_data(args, 1), op->channels, 1.0f, run.gamma);
    cpu_norm_load(&op->beta, cpu_in_data(args, 2), op->channels, 0.0f, run.beta);
    for (int64_t group = 0; group < op->samples * op->groups; group++) {
        double m, variance;
        group_moments(&run, group, &m, &variance);
        of_group[group] = op->n > 0 ? (float)m : NAN;
        run.rstd[group] = (float)(1.0 / sqrt(variance + op->eps));
        for (int64_t k = group * each; k < (group + 1) * each; k++) {
            mean[k] = of_group[group];
            factor[k] = run.rstd[group] * run.gamma[k % op->channels];
        }
    }
    store_statistics(op, &op->mean, cpu_out_data(args, 1), of_group);
    store_statistics(op, &op->rstd, cpu_out_data(args, 2), run.rstd);
    const void *in[4] = {cpu_in_data(args, 0), mean, factor, run.beta};
    elem_plan_run(&op->apply, in, cpu_out_data(args, 0));
    return AXLE_OK;
}

/* ------------------------------------------------------------------ backward */

static int backward_accepts(const axle_op_desc *desc)
{
    const axle_view *dy = desc->in[0], *x = desc->in[1], *dx = cpu_out(desc, 0);
    return cpu_is_f32_like(x->dtype) && dy->dtype == x->dtype && groups_fit(desc, x) &&
           (!dx || dx->dtype == x->dtype) && cpu_in(desc, 3) && cpu_in(desc, 4) &&
           cpu_norm_is_param(desc->in[2]) && cpu_norm_is_stat(desc->in[3]) &&
           cpu_norm_is_stat(desc->in[4]) && cpu_norm_is_param(cpu_out(desc, 1)) &&
           cpu_norm_is_param(cpu_out(desc, 2));
}

static void plan_backward(group_op *op, const cpu_loops *loops, const axle_op_desc *desc)
{
    const axle_view *dy = desc->in[0], *x = desc->in[1], *dx = cpu_out(desc, 0);
    take_shape(op, desc, x);
    const int64_t of_plane[2] = {op->channels, 1};
    const axle_view plane = cpu_norm_coefficients(x, of_plane, 2);
    const axle_view *in[6] = {dy, x, &plane, &plane, &plane, &plane};
    reduce_plan_init(&op->statistics, loops, REDUCE_PAIRS, AXLE_REDUCE_SUM, 0,
                     cpu_norm_axes(x->rank, 2), x, dy, NULL);
    if (dx)
        elem_plan_init(&op->apply, loops, loops->norm->channel_backward, 6, in, dx, ELEM_CONVERT);
    op->gamma = cpu_norm_vector(loops, desc->in[2]);
    op->mean = cpu_norm_vector(loops, desc->in[3]);
    op->rstd = cpu_norm_vector(loops, desc->in[4]);
    op->dgamma = cpu_norm_vector(loops, cpu_out(desc, 1));
    op->dbeta = cpu_norm_vector(loops, cpu_out(desc, 2));
}

static axle_status backward_query(const axle_op_desc *desc, axle_op_info *info)
{
    group_op op;
    if (!backward_accepts(desc))
        return AXLE_OK;
    memset(&op, 0, sizeof(op));
    plan_backward(&op, &cpu_loops_generic, desc);
    return cpu_op_support(info, "group_norm_backward", cpu_workspace_size(lay_out(&op)));
}

static axle_status backward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                    axle_be_op **out, axle_error *error)
{
    group_op *op = cpu_op_create(device, &cpu_kernel_group_norm_backward, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    plan_backward(op, cpu_loops_choose(device->host), desc);
    lay_out(op);
    *out = &op->base;
    return AXLE_OK;
}

/* The mean of every plane's group, beside the plane: coefficient 0, and in f64 for the sums. */
static void spread_means(const group_run *run, const void *mean)
{
    const group_op *op = run->op;
    const int64_t each = op->channels / op->groups;
    float *of_group = run->coefficient[1], *of_plane = run->coefficient[0];
    load_statistics(op, &op->mean, mean, of_group);
    for (int64_t k = 0; k < op->samples * op->channels; k++) {
        of_plane[k] = of_group[k / each];
        run->sums[1][k] = (double)of_plane[k];
    }
}

/* dx = a * dy + b * (x - mean) + c, for the channels of one group of one sample. */
static void group_coefficients(const group_run *run, int64_t group)
{
    const group_op *op = run->op;
    const int64_t each = op->channels / op->groups, first = group * each;
    const float *gamma = run->gamma + first % op->channels;
    const double r = (double)run->rstd[group];
    double sum = 0, product = 0;
    for (int64_t k = 0; k < each; k++) {
        sum += (double)gamma[k] * run->sums[0][first + k];
        product += (double)gamma[k] * run->sums[1][first + k];
    }
    for (int64_t k = 0; k < each; k++) {
        run->coefficient[1][first + k] = (float)(r * (double)gamma[k]);
        run->coefficient[2][first + k] = (float)(-r * r * r * product / (double)op->n);
        run->coefficient[3][first + k] = (float)(-r * sum / (double)op->n);
    }
}

static void parameter_gradients(const group_run *run, void *dgamma, void *dbeta)
{
    const group_op *op = run->op;
    const int64_t each = op->channels / op->groups;
    float *dg = run->gamma, *db = run->beta;
    for (int64_t c = 0; c < op->channels; c++) {
        double gamma_sum = 0, beta_sum = 0;
        for (int64_t i = 0; i < op->samples; i++) {
            const double r = (double)run->rstd[i * op->groups + c / each];
            gamma_sum += op->n > 0 ? run->sums[1][i * op->channels + c] * r : 0;
            beta_sum += run->sums[0][i * op->channels + c];
        }
        dg[c] = (float)gamma_sum;
        db[c] = (float)beta_sum;
    }
    cpu_norm_store(&op->dgamma, dgamma, op->channels, dg);
    cpu_norm_store(&op->dbeta, dbeta, op->channels, db);
}

static axle_status backward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const group_op *op = (const group_op *)base;
    const group_run run = run_begin(op, args);
    const void *dy = cpu_in_data(args, 0), *x = cpu_in_data(args, 1);
    void *dx = cpu_out_data(args, 0);
    const reduce_arrays arrays = {
        .x = x, .dy = dy, .mean = run.sums[1], .out = run.sums[0], .second = run.sums[1]};
    (void)error;
    spread_means(&run, cpu_in_data(args, 3));
    load_statistics(op, &op->rstd, cpu_in_data(args, 4), run.rstd);
    cpu_norm_load(&op->gamma, cpu_in_data(args, 2), op->channels, 1.0f, run.gamma);
    reduce_plan_run(&op->statistics, &arrays, run.workspace + op->reduction);
    for (int64_t group = 0; group < op->samples * op->groups; group++)
        group_coefficients(&run, group);
    const void *in[6] = {
        dy, x, run.coefficient[0], run.coefficient[1], run.coefficient[2], run.coefficient[3]};
    if (dx)
        elem_plan_run(&op->apply, in, dx);
    parameter_gradients(&run, cpu_out_data(args, 1), cpu_out_data(args, 2));
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_group_norm = {
    .op = AXLE_OP_GROUP_NORM,
    .query = forward_query,
    .prepare = forward_prepare,
    .run = forward_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_group_norm_backward = {
    .op = AXLE_OP_GROUP_NORM_BACKWARD,
    .query = backward_query,
    .prepare = backward_prepare,
    .run = backward_run,
    .release = cpu_op_release,
};
