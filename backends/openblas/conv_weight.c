/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV_BACKWARD_WEIGHT: dy (N, O, out...), x (N, C, in...) -> dw? (O, C/groups, kernel...), db?
 * (O).
 *
 *     dw (outputs, terms) = sum over blocks of dy (outputs, positions) . columns^T (positions,
 * terms)
 *
 * Where groups and rows of the column matrix are too few for all workers, the blocks are dealt out
 * in parts, each with sums of its own; those are added in the order of the parts.
 */
#include "conv_blocks.h"
#include "gemm.h"
#include "run.h"

#include <string.h>

typedef struct weight_op {
    axle_be_op base;
    conv_shape shape;
    conv_blocks blocks;
    int64_t term_items, parts; /* items over a group's terms; over the blocks */
    int64_t db_step;
    uint64_t sums_at, scratch_at;        /* in the workspace */
    uint64_t dy_at, columns_at, scratch; /* in a worker's part of it */
} weight_op;

typedef struct weight_call {
    const weight_op *op;
    const void *dy, *x;
    void *dw, *db;
    unsigned char *sums, *scratch;
} weight_call;

/* Numbers of the sums of a part. */
static int64_t sums_count(const conv_shape *s)
{
    return s->groups * s->outputs * s->terms;
}

/* Blocks [begin, end) of rows [row, row + rows) of a group. */
static void sum_blocks(const weight_call *call, int64_t group, conv_block b, int64_t begin,
                       int64_t end, void *sums, unsigned char *scratch)
{
    const weight_op *op = call->op;
    const conv_shape *s = &op->shape;
    const void *dy = blas_at(call->dy, s->dtype, group * s->outputs * s->y_channel);
    const void *x = blas_at(call->x, s->dtype, group * s->inputs * s->x_channel);
    blas_product p = {.dtype = s->work,
                      .m = s->outputs,
                      .n = b.rows,
                      .alpha = 1,
                      .c = blas_at(sums, s->work, group * s->outputs * s->terms + b.row),
                      .ldc = s->terms};
    blas_gemm(op->base.device->library, &p); /* no term yet: zeros */
    p.beta = 1;
    for (int64_t i = begin; i < end; i++) {
        b.first = i * op->blocks.positions;
        b.count = blas_least(op->blocks.positions, op->blocks.all - b.first);
        conv_columns_load(s, &b, x, scratch + op->columns_at);
        conv_outputs_load(s, b.first, b.count, dy, scratch + op->dy_at);
        p.k = b.count;
        p.a = (blas_matrix){scratch + op->dy_at, b.count, 1};
        p.b = (blas_matrix){scratch + op->columns_at, 1, b.count};
        blas_gemm(op->base.device->library, &p);
    }
}

static void run_items(void *arg, int64_t first, int64_t last, int32_t worker)
{
    const weight_call *call = arg;
    const weight_op *op = call->op;
    const conv_shape *s = &op->shape;
    for (int64_t i = first; i < last; i++) {
        const int64_t part = i / op->term_items / s->groups;
        conv_block b = {.row = i % op->term_items * op->blocks.terms};
        b.rows = blas_least(op->blocks.terms, s->terms - b.row);
        sum_blocks(call, i / op->term_items % s->groups, b, op->blocks.count * part / op->parts,
                   op->blocks.count * (part + 1) / op->parts,
                   blas_at(call->sums, s->work, part * sums_count(s)),
                   call->scratch + (uint64_t)worker * op->scratch);
    }
}

static void add_parts(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const weight_call *call = arg;
    const conv_shape *s = &call->op->shape;
    const int64_t count = sums_count(s);
    (void)worker;
    for (int64_t part = 1; part < call->op->parts; part++)
        for (int64_t i = begin; i < end; i++)
            if (s->work == AXLE_DTYPE_F64)
                ((double *)call->sums)[i] += ((const double *)call->sums)[part * count + i];
            else
                ((float *)call->sums)[i] += ((const float *)call->sums)[part * count + i];
}

/* db of channels [begin, end): sums in f64. */
static void sum_bias(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const weight_call *call = arg;
    const weight_op *op = call->op;
    const conv_shape *s = &op->shape;
    const blas_load_fn load = blas_load(s->dtype, AXLE_DTYPE_F64);
    const blas_finish finish = {.dtype = s->dtype, .work = AXLE_DTYPE_F64, .scale = 1};
    double piece[256];
    (void)worker;
    for (int64_t o = begin; o < end; o++) {
        double sum = 0;
        for (int64_t q = 0; q < op->blocks.all;) {
            int64_t at;
            const int64_t run = conv_run(s, q, blas_least(q + 256, op->blocks.all), &at);
            load(blas_at(call->dy, s->dtype, at + o * s->y_channel), conv_run_step(s), run, piece);
            for (int64_t i = 0; i < run; i++)
                sum += piece[i];
            q += run;
        }
        blas_finish_run(&finish, &sum, NULL, 0, blas_at(call->db, s->dtype, o * op->db_step), 1, 1);
    }
}

static void run(const axle_be_op *base, const axle_op_args *args)
{
    const weight_op *op = (const weight_op *)base;
    const conv_shape *s = &op->shape;
    unsigned char *workspace = blas_workspace(args);
    weight_call call = {.op = op,
                        .dy = blas_in_data(args, 0),
                        .x = blas_in_data(args, 1),
                        .dw = blas_out_data(args, 0),
                        .db = blas_out_data(args, 1),
                        .sums = workspace + op->sums_at,
                        .scratch = workspace + op->scratch_at};
    if (call.db)
        blas_parallel(base->device, s->groups * s->outputs,
                      (double)s->groups * (double)s->outputs * (double)op->blocks.all, sum_bias,
                      &call);
    if (!call.dw || sums_count(s) == 0)
        return;
    blas_parallel(base->device, op->parts * s->groups * op->term_items, conv_products(s), run_items,
                  &call);
    if (op->parts > 1)
        blas_parallel(base->device, sums_count(s), (double)(op->parts * sums_count(s)), add_parts,
                      &call);
    conv_weights_store(s, call.sums, call.dw);
}

static void choose_items(weight_op *op)
{
    const conv_shape *s = &op->shape;
    const int64_t workers = op->base.device->workers;
    op->term_items = op->blocks.terms ? blas_ceil_div(s->terms, op->blocks.terms) : 0;
    op->parts = 1;
    const int64_t items = s->groups * op->term_items;
    if (items > 0 && items < workers)
        op->parts = blas_most(blas_least(blas_ceil_div(workers, items), op->blocks.count), 1);
}

static int plan(axle_be_op *base, const axle_op_desc *desc)
{
    weight_op *op = (weight_op *)base;
    const axle_view *dw = blas_out(desc, 0), *db = blas_out(desc, 1);
    conv_shape *s = &op->shape;
    if (!dw || !conv_shape_read(s, desc->attrs, desc->in[1], dw, desc->in[0]) ||
        !blas_has_dtype(db, s->dtype))
        return 0;
    op->db_step = db ? db->stride[0] : 0;
    op->blocks = conv_blocks_choose(s, s->groups, base->device->workers);
    choose_items(op);
    op->sums_at = blas_reserve(&base->workspace, op->parts * sums_count(s), s->work);
    op->dy_at = blas_reserve(&op->scratch, s->outputs * op->blocks.positions, s->work);
    op->columns_at = blas_reserve(&op->scratch, op->blocks.terms * op->blocks.positions, s->work);
    op->scratch_at = base->workspace;
    base->workspace += op->scratch * (uint64_t)base->device->workers;
    return 1;
}

const blas_kernel blas_conv_backward_weight = {
    .op = AXLE_OP_CONV_BACKWARD_WEIGHT, .size = sizeof(weight_op), .plan = plan, .run = run};
