/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER_NORM (mean and variance, or root mean square) of the rows of (R, D), and its backward pass.
 */
#include "rows.h"

#include <math.h>
#include <string.h>

/* Partial sums of dgamma and dbeta: rows of a block, blocks at most, rows summed in f32 in between.
 */
enum { BLOCK_ROWS = 32, BLOCKS = 32, FLUSH_ROWS = 16 };

typedef struct norm_op {
    axle_be_op base;
    const cpu_loops *loops;
    uint32_t kind;
    double eps;
    int64_t rows, width; /* R, D */
    row_operand x, y, gamma, beta, dy, dx, dgamma, dbeta;
    int64_t x_step, y_step, dy_step, dx_step; /* bytes from row to row */
    int64_t mean_stride, rstd_stride;
    int64_t block_rows, blocks;
    /* Layout of the workspace. */
    size_t row_size;                 /* a row of f32 */
    size_t params, stages, partials; /* (2, D), (workers, 4, D), (blocks, 2, D) in f64 */
} norm_op;

enum { STAGES = 4 };

static int64_t row_step(const axle_view *view)
{
    return view ? view->stride[0] * cpu_dtype_size(view->dtype) : 0;
}

static int is_param(const axle_view *view)
{
    return !view || cpu_is_f32_like(view->dtype);
}

static int is_stat(const axle_view *view)
{
    return !view || view->dtype == AXLE_DTYPE_F32;
}

/* Lay the workspace out; returns its size. */
static size_t lay_out(norm_op *op, int backward)
{
    size_t total = 0;
    op->row_size = cpu_round_up((size_t)op->width * sizeof(float), CPU_LINE);
    op->params = cpu_reserve(&total, 2 * op->row_size);
    op->stages = cpu_reserve(&total, STAGES * op->row_size * (size_t)cpu_workers());
    if (backward)
        op->partials = cpu_reserve(&total, 4 * op->row_size * (size_t)op->blocks);
    return total;
}

static void take_shape(norm_op *op, const cpu_loops *loops, const axle_op_desc *desc,
                       const axle_view *x)
{
    const axle_layer_norm_attrs *attrs = desc->attrs;
    op->loops = loops;
    op->kind = attrs->kind;
    op->eps = attrs->eps;
    op->rows = x->dim[0];
    op->width = x->dim[1];
    op->block_rows = cpu_max(BLOCK_ROWS, cpu_ceil_div(op->rows, BLOCKS));
    op->blocks = cpu_ceil_div(op->rows, op->block_rows);
}

/* ------------------------------------------------------------------ forward */

static axle_status forward_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_view *x = desc->in[0], *y = desc->out[0];
    norm_op op = {.loops = NULL};
    if (!cpu_is_f32_like(x->dtype) || y->dtype != x->dtype || x->rank != 2 ||
        !is_param(cpu_in(desc, 1)) || !is_param(cpu_in(desc, 2)) || !is_stat(cpu_out(desc, 1)) ||
        !is_stat(cpu_out(desc, 2)))
        return AXLE_OK;
    take_shape(&op, NULL, desc, x);
    return cpu_op_support(info, "layer_norm", cpu_workspace_size(lay_out(&op, 0)));
}

static axle_status forward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                   axle_be_op **out, axle_error *error)
{
    norm_op *op = cpu_op_create(device, &cpu_kernel_layer_norm, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const cpu_loops *loops = cpu_loops_choose(device->host);
    const axle_view *mean = cpu_out(desc, 1), *rstd = cpu_out(desc, 2);
    take_shape(op, loops, desc, desc->in[0]);
    lay_out(op, 0);
    op->x = cpu_row_operand(loops, desc->in[0], 1);
    op->gamma = cpu_row_operand(loops, cpu_in(desc, 1), 0);
    op->beta = cpu_row_operand(loops, cpu_in(desc, 2), 0);
    op->y = cpu_row_operand(loops, desc->out[0], 1);
    op->x_step = row_step(desc->in[0]);
    op->y_step = row_step(desc->out[0]);
    op->mean_stride = mean ? mean->stride[0] : 0;
    op->rstd_stride = rstd ? rstd->stride[0] : 0;
    *out = &op->base;
    return AXLE_OK;
}

typedef struct norm_call {
    const norm_op *op;
    const unsigned char *x, *dy;
    unsigned char *y, *dx, *workspace;
    const float *gamma, *beta; /* dense */
    float *mean, *rstd;
    int params_wanted;
} norm_call;

static float *stage_of(const norm_call *call, int32_t worker, int which)
{
    const norm_op *op = call->op;
    return (float *)(call->workspace + op->stages +
                     (size_t)(worker * STAGES + which) * op->row_size);
}

/* Mean and reciprocal deviation of a row; the mean of a root mean square is 0. */
static void row_moments(const norm_op *op, const float *x, double *mean, float *rstd)
{
    const struct norm_loops *loops = op->loops->norm;
    const double n = (double)op->width;
    double m = 0, spread;
    if (op->kind == AXLE_NORM_RMS)
        spread = loops->sum_squares(x, op->width);
    else
        loops->moments(x, op->width, &m, &spread);
    *mean = m;
    *rstd = (float)(1.0 / sqrt(spread / n + op->eps));
}

static void forward_rows(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const norm_call *call = arg;
    const norm_op *op = call->op;
    for (int64_t r = begin; r < end; r++) {
        unsigned char *to = call->y + r * op->y_step;
        const float *x =
            cpu_row_read(&op->x, call->x + r * op->x_step, op->width, stage_of(call, worker, 0));
        float *y = cpu_row_target(&op->y, to, stage_of(call, worker, 1));
        double mean;
        float rstd;
        row_moments(op, x, &mean, &rstd);
        op->loops->norm->apply(x, mean, rstd, call->gamma, call->beta, y, op->width);
        cpu_row_write(&op->y, to, op->width, y);
        if (call->mean)
            call->mean[r * op->mean_stride] = (float)mean;
        if (call->rstd)
            call->rstd[r * op->rstd_stride] = rstd;
    }
}

static axle_status forward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const norm_op *op = (const norm_op *)base;
    unsigned char *workspace = cpu_workspace(args);
    float *params = (float *)(workspace + op->params);
    norm_call call = {
        .op = op,
        .x = cpu_in_data(args, 0),
        .y = cpu_out_data(args, 0),
        .workspace = workspace,
        .mean = cpu_out_data(args, 1),
        .rstd = cpu_out_data(args, 2),
    };
    (void)error;
    call.gamma = cpu_row_vector(&op->gamma, cpu_in_data(args, 1), op->width, params);
    call.beta = cpu_row_vector(&op->beta, cpu_in_data(args, 2), op->width,
                               params + op->row_size / sizeof(float));
    cpu_parallel(op->rows, op->rows * op->width * 2, forward_rows, &call);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ backward */

static axle_status backward_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_layer_norm_attrs *attrs = desc->attrs;
    const axle_view *dy = desc->in[0], *x = desc->in[1], *dx = cpu_out(desc, 0);
    norm_op op = {.loops = NULL};
    if (!cpu_is_f32_like(x->dtype) || dy->dtype != x->dtype || (dx && dx->dtype != x->dtype) ||
        x->rank != 2 || !cpu_in(desc, 4) || (!cpu_in(desc, 3) && attrs->kind != AXLE_NORM_RMS))
        return AXLE_OK;
    if (!is_param(cpu_in(desc, 2)) || !is_param(cpu_out(desc, 1)) || !is_param(cpu_out(desc, 2)) ||
        !is_stat(cpu_in(desc, 3)) || !is_stat(cpu_in(desc, 4)))
        return AXLE_OK;
    take_shape(&op, NULL, desc, x);
    return cpu_op_support(info, "layer_norm_backward", cpu_workspace_size(lay_out(&op, 1)));
}

static axle_status backward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                    axle_be_op **out, axle_error *error)
{
    norm_op *op = cpu_op_create(device, &cpu_kernel_layer_norm_backward, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const cpu_loops *loops = cpu_loops_choose(device->host);
    take_shape(op, loops, desc, desc->in[1]);
    lay_out(op, 1);
    op->dy = cpu_row_operand(loops, desc->in[0], 1);
    op->x = cpu_row_operand(loops, desc->in[1], 1);
    op->gamma = cpu_row_operand(loops, desc->in[2], 0);
    op->dx = cpu_row_operand(loops, cpu_out(desc, 0), 1);
    op->dgamma = cpu_row_operand(loops, cpu_out(desc, 1), 0);
    op->dbeta = cpu_row_operand(loops, cpu_out(desc, 2), 0);
    op->dy_step = row_step(desc->in[0]);
    op->x_step = row_step(desc->in[1]);
    op->dx_step = row_step(cpu_out(desc, 0));
    op->mean_stride = desc->in[3] ? desc->in[3]->stride[0] : 0;
    op->rstd_stride = desc->in[4]->stride[0];
    *out = &op->base;
    return AXLE_OK;
}

static void backward_row(const norm_call *call, int64_t r, int32_t worker)
{
    const norm_op *op = call->op;
    const struct norm_loops *loops = op->loops->norm;
    const float *dy =
        cpu_row_read(&op->dy, call->dy + r * op->dy_step, op->width, stage_of(call, worker, 0));
    const float *x =
        cpu_row_read(&op->x, call->x + r * op->x_step, op->width, stage_of(call, worker, 1));
    const float rstd = call->rstd[r * op->rstd_stride];
    const float mean = op->kind == AXLE_NORM_RMS ? 0.0f : call->mean[r * op->mean_stride];
    if (call->params_wanted)
        loops->backward_params(dy, x, mean, rstd, stage_of(call, worker, 2),
                               stage_of(call, worker, 3), op->width);
    if (!call->dx)
        return;
    /* A row of dx may be staged where dy was: each element is read before it is written. */
    unsigned char *to = call->dx + r * op->dx_step;
    float *dx = cpu_row_target(&op->dx, to, stage_of(call, worker, 0));
    double sums[2];
    loops->backward_sums(dy, x, call->gamma, mean, rstd, op->width, sums);
    const float s1 = op->kind == AXLE_NORM_RMS ? 0.0f : (float)(sums[0] / (double)op->width);
    const float s2 = (float)(sums[1] / (double)op->width);
    loops->backward_dx(dy, x, call->gamma, mean, rstd, s1, s2, dx, op->width);
    cpu_row_write(&op->dx, to, op->width, dx);
}

static double *partial_of(const norm_call *call, int64_t block, int which)
{
    const norm_op *op = call->op;
    return (double *)(call->workspace + op->partials +
                      (size_t)(2 * block + which) * 2 * op->row_size);
}

static void backward_blocks(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const norm_call *call = arg;
    const norm_op *op = call->op;
    float *dgamma = stage_of(call, worker, 2), *dbeta = stage_of(call, worker, 3);
    memset(dgamma, 0, op->row_size);
    memset(dbeta, 0, op->row_size);
    for (int64_t block = begin; block < end; block++) {
        const int64_t first = block * op->block_rows;
        const int64_t last = cpu_min(first + op->block_rows, op->rows);
        double *sums[2] = {partial_of(call, block, 0), partial_of(call, block, 1)};
        memset(sums[0], 0, 2 * op->row_size);
        memset(sums[1], 0, 2 * op->row_size);
        for (int64_t r = first; r < last; r++) {
            backward_row(call, r, worker);
            if (call->params_wanted &&
                ((r - first) % FLUSH_ROWS == FLUSH_ROWS - 1 || r == last - 1)) {
                op->loops->norm->flush(dgamma, sums[0], op->width);
                op->loops->norm->flush(dbeta, sums[1], op->width);
            }
        }
    }
}

/* The blocks' sums, added in their order, as an operand of any type. */
static void combine(const norm_call *call, int which, const row_operand *operand, void *out)
{
    const norm_op *op = call->op;
    double *total = partial_of(call, 0, which);
    float *row = stage_of(call, 0, 0);
    if (!out)
        return;
    if (op->blocks == 0)
        memset(row, 0, op->row_size);
    for (int64_t block = 1; block < op->blocks; block++) {
        const double *part = partial_of(call, block, which);
        for (int64_t i = 0; i < op->width; i++)
            total[i] += part[i];
    }
    for (int64_t i = 0; op->blocks > 0 && i < op->width; i++)
        row[i] = (float)total[i];
    operand->store(row, out, operand->stride, op->width);
}

static axle_status backward_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const norm_op *op = (const norm_op *)base;
    unsigned char *workspace = cpu_workspace(args);
    norm_call call = {
        .op = op,
        .dy = cpu_in_data(args, 0),
        .x = cpu_in_data(args, 1),
        .mean = cpu_in_data(args, 3),
        .rstd = cpu_in_data(args, 4),
        .dx = cpu_out_data(args, 0),
        .workspace = workspace,
    };
    void *dgamma = cpu_out_data(args, 1), *dbeta = cpu_out_data(args, 2);
    (void)error;
    call.gamma = cpu_row_vector(&op->gamma, cpu_in_data(args, 2), op->width,
                                (float *)(workspace + op->params));
    call.params_wanted = dgamma || dbeta;
    cpu_parallel(op->blocks, op->rows * op->width * 2, backward_blocks, &call);
    combine(&call, 0, &op->dgamma, dgamma);
    combine(&call, 1, &op->dbeta, dbeta);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_layer_norm = {
    .op = AXLE_OP_LAYER_NORM,
    .query = forward_query,
    .prepare = forward_prepare,
    .run = forward_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_layer_norm_backward = {
    .op = AXLE_OP_LAYER_NORM_BACKWARD,
    .query = backward_query,
    .prepare = backward_prepare,
    .run = backward_run,
    .release = cpu_op_release,
};
