/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV: x (N, C, in...), w (O, C/groups, kernel...), bias? (O) -> y (N, O, out...).
 *
 * A block of positions, of any number of samples, is worked on at a time:
 *
 *     y (outputs, positions) = w (outputs, terms) . columns (terms, positions)
 *
 * The column matrix is made in pieces that fit in a cache, so its size does not grow with the
 * batch, the picture or the number of channels.
 */
#include "conv_blocks.h"
#include "gemm.h"
#include "run.h"

typedef struct conv_op {
    axle_be_op base;
    conv_shape shape;
    conv_blocks blocks;
    blas_finish finish;
    int64_t bias_step;
    int copy_weights;
    uint64_t weights_at, scratch_at;       /* in the workspace */
    uint64_t columns_at, sums_at, scratch; /* in a worker's part of it */
} conv_op;

typedef struct conv_call {
    const conv_op *op;
    const void *x, *weights, *bias;
    void *y;
    unsigned char *scratch;
} conv_call;

static void store_block(const conv_call *call, int64_t group, int64_t first, int64_t count,
                        const void *sums)
{
    const conv_op *op = call->op;
    const conv_shape *s = &op->shape;
    const int64_t step = conv_run_step(s);
    for (int64_t o = 0; o < s->outputs; o++) {
        const int64_t channel = group * s->outputs + o;
        const void *bias =
            call->bias ? blas_at(call->bias, s->dtype, channel * op->bias_step) : NULL;
        for (int64_t done = 0; done < count;) {
            int64_t at;
            const int64_t run = conv_run(s, first + done, first + count, &at);
            blas_finish_run(&op->finish, blas_at(sums, s->work, o * count + done), bias, 0,
                            blas_at(call->y, s->dtype, at + channel * s->y_channel), step, run);
            done += run;
        }
    }
}

static void run_block(const conv_call *call, int64_t group, int64_t first, unsigned char *scratch)
{
    const conv_op *op = call->op;
    const conv_shape *s = &op->shape;
    conv_block b = {.first = first,
                    .count = blas_least(op->blocks.positions, op->blocks.all - first)};
    const void *x = blas_at(call->x, s->dtype, group * s->inputs * s->x_channel);
    blas_product p = {.dtype = s->work,
                      .m = s->outputs,
                      .n = b.count,
                      .alpha = 1,
                      .b = {scratch + op->columns_at, b.count, 1},
                      .c = scratch + op->sums_at,
                      .ldc = b.count};
    do {
        b.rows = blas_least(op->blocks.terms, s->terms - b.row);
        conv_columns_load(s, &b, x, scratch + op->columns_at);
        p.k = b.rows;
        p.a = (blas_matrix){blas_at(call->weights, s->work, group * s->outputs * s->terms + b.row),
                            s->terms, 1};
        blas_gemm(op->base.device->library, &p);
        p.beta = 1;
        b.row += b.rows;
    } while (b.row < s->terms);
    store_block(call, group, first, b.count, p.c);
}

static void run_blocks(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const conv_call *call = arg;
    const conv_op *op = call->op;
    for (int64_t i = begin; i < end; i++)
        run_block(call, i / op->blocks.count, i % op->blocks.count * op->blocks.positions,
                  call->scratch + (uint64_t)worker * op->scratch);
}

static void run(const axle_be_op *base, const axle_op_args *args)
{
    const conv_op *op = (const conv_op *)base;
    unsigned char *workspace = blas_workspace(args);
    conv_call call = {.op = op,
                      .x = blas_in_data(args, 0),
                      .weights = blas_in_data(args, 1),
                      .bias = blas_in_data(args, 2),
                      .y = blas_out_data(args, 0),
                      .scratch = workspace + op->scratch_at};
    if (op->blocks.count == 0 || op->shape.outputs == 0)
        return;
    if (op->copy_weights) {
        conv_weights_load(&op->shape, call.weights, workspace + op->weights_at);
        call.weights = workspace + op->weights_at;
    }
    blas_parallel(base->device, op->shape.groups * op->blocks.count, conv_products(&op->shape),
                  run_blocks, &call);
}

static int plan(axle_be_op *base, const axle_op_desc *desc)
{
    conv_op *op = (conv_op *)base;
    const axle_conv_attrs *attrs = desc->attrs;
    const axle_view *bias = blas_in(desc, 2);
    conv_shape *s = &op->shape;
    if (!conv_shape_read(s, attrs, desc->in[0], desc->in[1], desc->out[0]) ||
        !blas_has_dtype(bias, s->dtype) ||
        (attrs->activation && !blas_activation(attrs->activation)))
        return 0;
    op->finish = (blas_finish){.dtype = s->dtype,
                               .work = s->work,
                               .scale = 1,
                               .activation = blas_activation(attrs->activation)};
    op->bias_step = bias ? bias->stride[0] : 0;
    op->blocks = conv_blocks_choose(s, s->groups, base->device->workers);
    op->copy_weights = !conv_weights_are_dense(s);
    if (op->copy_weights)
        op->weights_at = blas_reserve(&base->workspace, s->groups * s->outputs * s->terms, s->work);
    op->columns_at = blas_reserve(&op->scratch, op->blocks.terms * op->blocks.positions, s->work);
    op->sums_at = blas_reserve(&op->scratch, s->outputs * op->blocks.positions, s->work);
    op->scratch_at = base->workspace;
    base->workspace += op->scratch * (uint64_t)base->device->workers;
    return 1;
}

const blas_kernel blas_conv = {
    .op = AXLE_OP_CONV, .size = sizeof(conv_op), .plan = plan, .run = run};
