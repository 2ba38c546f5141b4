/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV_BACKWARD_DATA: dy (N, O, out...), w, bias? (C) -> dx (N, C, in...).
 *
 * For some samples and channels at a time, dx is gathered in planes of the work type:
 *
 *     columns (terms, positions) = w^T (terms, outputs) . dy (outputs, positions)
 *
 * are added where their taps came from, and the planes stored when nothing more comes.
 */
#include "conv_blocks.h"
#include "gemm.h"
#include "run.h"

#include <string.h>

/* Numbers of the planes of an item, rows of its columns, and samples in it; one channel may take
 * more. */
enum { PLANES = 1 << 16, MOST_TERMS = 4096, MOST_SAMPLES = 16 };

typedef struct data_op {
    axle_be_op base;
    conv_shape shape;
    blas_finish finish;
    int64_t bias_step;
    int copy_weights;
    int64_t samples, channels, positions;           /* of an item; of a block */
    int64_t sample_items, channel_items;            /* items over all samples; over a group */
    uint64_t weights_at, scratch_at;                /* in the workspace */
    uint64_t planes_at, dy_at, columns_at, scratch; /* in a worker's part of it */
} data_op;

typedef struct data_call {
    const data_op *op;
    const void *dy, *weights, *bias;
    void *dx;
    unsigned char *scratch;
} data_call;

/* What is worked on at a time. */
typedef struct data_item {
    int64_t sample, samples, group, channel, channels; /* channel counts from the group's first */
} data_item;

static void store_plane(const data_call *call, int64_t sample, int64_t channel, const void *sums)
{
    const data_op *op = call->op;
    const conv_shape *s = &op->shape;
    const conv_axis *a = s->axis;
    const void *bias = call->bias ? blas_at(call->bias, s->dtype, channel * op->bias_step) : NULL;
    const int64_t at = sample * s->x_sample + channel * s->x_channel;
    for (int64_t i = 0; i < a[0].in * a[1].in; i++)
        blas_finish_run(
            &op->finish, blas_at(sums, s->work, i * a[2].in), bias, 0,
            blas_at(call->dx, s->dtype, at + i / a[1].in * a[0].x + i % a[1].in * a[1].x), a[2].x,
            a[2].in);
}

static void add_block(const data_call *call, const data_item *item, const conv_planes *planes,
                      int64_t first, int64_t count, unsigned char *scratch)
{
    const data_op *op = call->op;
    const conv_shape *s = &op->shape;
    const conv_block b = {
        .row = item->channel * s->taps, .rows = item->channels * s->taps, first, count};
    conv_outputs_load(s, first, count,
                      blas_at(call->dy, s->dtype, item->group * s->outputs * s->y_channel),
                      scratch + op->dy_at);
    const blas_product p = {
        .dtype = s->work,
        .m = b.rows,
        .n = count,
        .k = s->outputs,
        .alpha = 1,
        .a = {blas_at(call->weights, s->work, item->group * s->outputs * s->terms + b.row), 1,
              s->terms},
        .b = {scratch + op->dy_at, count, 1},
        .c = scratch + op->columns_at,
        .ldc = count};
    blas_gemm(op->base.device->library, &p);
    conv_columns_add(s, &b, p.c, planes);
}

static void run_item(const data_call *call, const data_item *item, unsigned char *scratch)
{
    const data_op *op = call->op;
    const conv_shape *s = &op->shape;
    const conv_planes planes = {scratch + op->planes_at, item->sample, item->channel,
                                item->channels};
    memset(planes.data, 0,
           (uint64_t)(item->samples * item->channels * s->plane) * blas_size(s->work));
    const int64_t end = (item->sample + item->samples) * s->positions;
    for (int64_t q = item->sample * s->positions; q < end; q += op->positions)
        add_block(call, item, &planes, q, blas_least(op->positions, end - q), scratch);
    for (int64_t i = 0; i < item->samples * item->channels; i++)
        store_plane(call, item->sample + i / item->channels,
                    item->group * s->inputs + item->channel + i % item->channels,
                    blas_at(planes.data, s->work, i * s->plane));
}

static void run_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const data_call *call = arg;
    const data_op *op = call->op;
    const conv_shape *s = &op->shape;
    for (int64_t i = begin; i < end; i++) {
        data_item item = {.channel = i % op->channel_items * op->channels,
                          .group = i / op->channel_items % s->groups,
                          .sample = i / op->channel_items / s->groups * op->samples};
        item.channels = blas_least(op->channels, s->inputs - item.channel);
        item.samples = blas_least(op->samples, s->samples - item.sample);
        run_item(call, &item, call->scratch + (uint64_t)worker * op->scratch);
    }
}

static void run(const axle_be_op *base, const axle_op_args *args)
{
    const data_op *op = (const data_op *)base;
    const conv_shape *s = &op->shape;
    unsigned char *workspace = blas_workspace(args);
    data_call call = {.op = op,
                      .dy = blas_in_data(args, 0),
                      .weights = blas_in_data(args, 1),
                      .bias = blas_in_data(args, 2),
                      .dx = blas_out_data(args, 0),
                      .scratch = workspace + op->scratch_at};
    if (op->sample_items == 0 || s->inputs == 0 || s->plane == 0)
        return;
    if (op->copy_weights) {
        conv_weights_load(s, call.weights, workspace + op->weights_at);
        call.weights = workspace + op->weights_at;
    }
    const double stores =
        (double)s->samples * (double)s->groups * (double)s->inputs * (double)s->plane;
    blas_parallel(base->device, op->sample_items * s->groups * op->channel_items,
                  conv_products(s) + stores, run_items, &call);
}

/* As many channels as planes hold, then as many samples, but enough items for all workers. */
static void choose_items(data_op *op)
{
    const conv_shape *s = &op->shape;
    const int64_t workers = op->base.device->workers, plane = blas_most(s->plane, 1);
    const int64_t inputs = blas_most(s->inputs, 1);
    const int64_t fair = blas_most(s->samples * s->groups / (2 * workers), 1);
    op->channels = blas_least(PLANES / plane, MOST_TERMS / blas_most(s->taps, 1));
    op->channels = blas_most(blas_least(inputs, op->channels), 1);
    if (s->samples * s->groups < workers)
        op->channels = blas_least(
            op->channels, blas_ceil_div(inputs * blas_most(s->samples * s->groups, 1), workers));
    op->samples = blas_most(PLANES / plane / op->channels, 1);
    op->samples = blas_least(blas_least(op->samples, fair), MOST_SAMPLES);
    op->channel_items = blas_ceil_div(inputs, op->channels);
    op->sample_items = blas_ceil_div(s->samples, op->samples);
}

static void lay_out(data_op *op)
{
    const conv_shape *s = &op->shape;
    conv_shape part = *s;
    part.terms = op->channels * s->taps;
    part.samples = op->samples;
    op->positions = conv_blocks_choose(&part, 1, 1).positions;
    if (op->copy_weights)
        op->weights_at =
            blas_reserve(&op->base.workspace, s->groups * s->outputs * s->terms, s->work);
    op->planes_at = blas_reserve(&op->scratch, op->samples * op->channels * s->plane, s->work);
    op->dy_at = blas_reserve(&op->scratch, s->outputs * op->positions, s->work);
    op->columns_at = blas_reserve(&op->scratch, part.terms * op->positions, s->work);
    op->scratch_at = op->base.workspace;
    op->base.workspace += op->scratch * (uint64_t)op->base.device->workers;
}

static int plan(axle_be_op *base, const axle_op_desc *desc)
{
    data_op *op = (data_op *)base;
    const axle_view *bias = blas_in(desc, 2);
    conv_shape *s = &op->shape;
    if (!conv_shape_read(s, desc->attrs, desc->out[0], desc->in[1], desc->in[0]) ||
        !blas_has_dtype(bias, s->dtype))
        return 0;
    op->finish = (blas_finish){.dtype = s->dtype, .work = s->work, .scale = 1};
    op->bias_step = bias ? bias->stride[0] : 0;
    op->copy_weights = !conv_weights_are_dense(s);
    choose_items(op);
    lay_out(op);
    return 1;
}

const blas_kernel blas_conv_backward_data = {
    .op = AXLE_OP_CONV_BACKWARD_DATA, .size = sizeof(data_op), .plan = plan, .run = run};
