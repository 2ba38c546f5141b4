/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ATTENTION_BACKWARD. With p the probabilities of a tile and g the gradient with respect to them,
 * ds = scale * p * (g - delta) where delta is the sum over a query's keys of p * g, which is dy .
 * y. Probabilities are computed anew from the scores and the log-sum-exp that the forward pass
 * left.
 */
#include "attention.h"

#include <math.h>
#include <string.h>

typedef struct gradient_op {
    axle_be_op base;
    attention_shape shape;
    attention_operand dy, y, dq, dk, dv;
    int64_t lse_stride[3];
    /* A worker's share of the workspace: keys and values as f32, their gradients, queries and dy
     * with their transposes, dq, two tiles. */
    size_t keys, values, dkeys, dvalues, queries, queries_t, dys, dys_t, ys, dqs, p, dp, each;
} gradient_op;

static void lay_out(gradient_op *op)
{
    const attention_shape *s = &op->shape;
    const size_t depth = sizeof(float) * (size_t)s->depth_padded;
    const size_t width = sizeof(float) * (size_t)s->width_padded;
    const size_t keys = (size_t)s->keys, tile = sizeof(float) * ATTENTION_ROWS * ATTENTION_COLS;
    op->each = 0;
    op->keys = cpu_reserve(&op->each, keys * depth);
    op->values = cpu_reserve(&op->each, keys * width);
    op->dkeys = cpu_reserve(&op->each, keys * depth);
    op->dvalues = cpu_reserve(&op->each, keys * width);
    op->queries = cpu_reserve(&op->each, ATTENTION_ROWS * depth);
    op->queries_t = cpu_reserve(&op->each, ATTENTION_ROWS * depth);
    op->dys = cpu_reserve(&op->each, ATTENTION_ROWS * width);
    op->dys_t = cpu_reserve(&op->each, ATTENTION_ROWS * width);
    op->ys = cpu_reserve(&op->each, ATTENTION_ROWS * width);
    op->dqs = cpu_reserve(&op->each, ATTENTION_ROWS * depth);
    op->p = cpu_reserve(&op->each, tile);
    op->dp = cpu_reserve(&op->each, tile);
}

static void take(gradient_op *op, const cpu_loops *loops, const axle_op_desc *desc)
{
    cpu_attention_shape(&op->shape, loops, desc->attrs, desc->in[1], desc->in[2], desc->in[3],
                        desc->in[4]);
    op->dy = cpu_attention_operand(loops, desc->in[0]);
    op->y = cpu_attention_operand(loops, desc->in[5]);
    op->dq = cpu_attention_operand(loops, cpu_out(desc, 0));
    op->dk = cpu_attention_operand(loops, cpu_out(desc, 1));
    op->dv = cpu_attention_operand(loops, cpu_out(desc, 2));
    for (int d = 0; d < 3; d++)
        op->lse_stride[d] = desc->in[6]->stride[d];
    lay_out(op);
}

static axle_status gradient_query(const axle_op_desc *desc, axle_op_info *info)
{
    gradient_op op;
    if (desc->n_in < 7 || !desc->in[5] || !desc->in[6] ||
        !cpu_attention_accepts(desc->in[1], desc->in[2], desc->in[3], desc->in[4]))
        return AXLE_OK;
    const uint32_t dtype = desc->in[1]->dtype;
    if (desc->in[0]->dtype != dtype || desc->in[5]->dtype != dtype ||
        desc->in[6]->dtype != AXLE_DTYPE_F32)
        return AXLE_OK;
    for (uint32_t k = 0; k < 3; k++)
        if (cpu_out(desc, k) && desc->out[k]->dtype != dtype)
            return AXLE_OK;
    take(&op, &cpu_loops_generic, desc);
    return cpu_op_support(info, "attention_backward",
                          cpu_workspace_size(op.each * (size_t)cpu_workers()));
}

static axle_status gradient_prepare(axle_be_device *device, const axle_op_desc *desc,
                                    axle_be_op **out, axle_error *error)
{
    gradient_op *op = cpu_op_create(device, &cpu_kernel_attention_backward, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    take(op, cpu_loops_choose(device->host), desc);
    *out = &op->base;
    return AXLE_OK;
}

typedef struct gradient_call {
    const gradient_op *op;
    const void *dy, *q, *k, *v, *mask, *y;
    const float *lse;
    void *dq, *dk, *dv;
    unsigned char *workspace;
    uint64_t seed, offset;
} gradient_call;

/* One head, and the block of queries under way. */
typedef struct gradient_head {
    const gradient_call *call;
    int64_t head;
    unsigned char *scratch;
    const unsigned char *mask;
    const float *lse;
    attention_rows k, v, q, dy;
    float shift[ATTENTION_ROWS], delta[ATTENTION_ROWS];
} gradient_head;

static float *scratch_at(const gradient_head *h, size_t at)
{
    return (float *)(h->scratch + at);
}

/* rows (m, k) . columns, where both lie in the scratch as they are needed. */
static void multiply(const gradient_head *h, gemm_call call)
{
    h->call->op->shape.loops->gemm->run(&call);
}

/* Probabilities of a tile. The shift of a query that kept nothing does not matter: all its scores
 * are -inf. */
static void probabilities(const gradient_head *h, const attention_tile *tile, float *p)
{
    const gradient_op *op = h->call->op;
    const attention_shape *s = &op->shape;
    float sum[ATTENTION_ROWS];
    multiply(h, (gemm_call){.m = tile->cols,
                            .n = tile->ld,
                            .k = s->depth,
                            .a = h->k.data + tile->col * h->k.ld,
                            .a_row = h->k.ld,
                            .a_col = 1,
                            .b = scratch_at(h, op->queries_t),
                            .ldb = tile->ld,
                            .c = p,
                            .ldc = tile->ld});
    if (s->has_mask || s->causal)
        cpu_attention_mask(s, tile, h->mask, p);
    s->loops->attention->exp(p, tile->ld, tile->cols, tile->rows, h->shift, sum);
}

/* The gradient with respect to the probabilities, before dropout is taken back. */
static void probability_gradients(const gradient_head *h, const attention_tile *tile, float *dp)
{
    const gradient_op *op = h->call->op;
    multiply(h, (gemm_call){.m = tile->cols,
                            .n = tile->ld,
                            .k = op->shape.width,
                            .a = h->v.data + tile->col * h->v.ld,
                            .a_row = h->v.ld,
                            .a_col = 1,
                            .b = scratch_at(h, op->dys_t),
                            .ldb = tile->ld,
                            .c = dp,
                            .ldc = tile->ld});
}

/* dv += p . dy, with p after dropout. */
static void add_dv(const gradient_head *h, const attention_tile *tile, const float *p)
{
    const gradient_op *op = h->call->op;
    const int64_t width = op->shape.width_padded;
    multiply(h, (gemm_call){.m = tile->cols,
                            .n = width,
                            .k = tile->rows,
                            .a = p,
                            .a_row = tile->ld,
                            .a_col = 1,
                            .b = h->dy.data,
                            .ldb = h->dy.ld,
                            .c = scratch_at(h, op->dvalues) + tile->col * width,
                            .ldc = width,
                            .accumulate = 1,
                            .skip_zeros = !h->dy.finite});
}

/* dq += ds^T . k and dk += ds . q. */
static void add_dq_dk(const gradient_head *h, const attention_tile *tile, const float *ds)
{
    const gradient_op *op = h->call->op;
    const int64_t depth = op->shape.depth_padded;
    multiply(h, (gemm_call){.m = tile->rows,
                            .n = depth,
                            .k = tile->cols,
                            .a = ds,
                            .a_row = 1,
                            .a_col = tile->ld,
                            .b = h->k.data + tile->col * h->k.ld,
                            .ldb = h->k.ld,
                            .c = scratch_at(h, op->dqs),
                            .ldc = depth,
                            .accumulate = 1,
                            .skip_zeros = !h->k.finite});
    multiply(h, (gemm_call){.m = tile->cols,
                            .n = depth,
                            .k = tile->rows,
                            .a = ds,
                            .a_row = tile->ld,
                            .a_col = 1,
                            .b = h->q.data,
                            .ldb = h->q.ld,
                            .c = scratch_at(h, op->dkeys) + tile->col * depth,
                            .ldc = depth,
                            .accumulate = 1,
                            .skip_zeros = !h->q.finite});
}

/* Dropout multiplies p on its way to dv and the gradient on its way back alike. */
static void run_tile(const gradient_head *h, const attention_tile *tile)
{
    const gradient_call *call = h->call;
    const gradient_op *op = call->op;
    const attention_shape *s = &op->shape;
    float *p = scratch_at(h, op->p), *dp = scratch_at(h, op->dp);
    const size_t size = sizeof(float) * (size_t)(tile->cols * tile->ld);
    probabilities(h, tile, p);
    if (s->threshold > 0) {
        memcpy(dp, p, size);
        cpu_attention_drop(s, tile, call->seed, call->offset, dp);
        add_dv(h, tile, dp);
    } else {
        add_dv(h, tile, p);
    }
    probability_gradients(h, tile, dp);
    if (s->threshold > 0)
        cpu_attention_drop(s, tile, call->seed, call->offset, dp);
    s->loops->attention->backward(p, dp, tile->ld, tile->cols, tile->rows, h->delta, s->scale, dp);
    add_dq_dk(h, tile, dp);
}

static void bring_rows(gradient_head *h, int64_t row, int64_t rows, int64_t ld)
{
    const gradient_call *call = h->call;
    const gradient_op *op = call->op;
    const attention_shape *s = &op->shape;
    const struct attention_loops *loops = s->loops->attention;
    h->q = cpu_attention_bring(s, &s->q, cpu_attention_head(&s->q, call->q, s->heads, h->head), row,
                               rows, s->depth, s->depth_padded, scratch_at(h, op->queries));
    h->dy =
        cpu_attention_bring(s, &op->dy, cpu_attention_head(&op->dy, call->dy, s->heads, h->head),
                            row, rows, s->width, s->width_padded, scratch_at(h, op->dys));
    const attention_rows y =
        cpu_attention_bring(s, &op->y, cpu_attention_head(&op->y, call->y, s->heads, h->head), row,
                            rows, s->width, s->width_padded, scratch_at(h, op->ys));
    loops->transpose(h->q.data, h->q.ld, rows, s->depth, s->scale, scratch_at(h, op->queries_t),
                     ld);
    loops->transpose(h->dy.data, h->dy.ld, rows, s->width, 1.0f, scratch_at(h, op->dys_t), ld);
    for (int64_t r = 0; r < rows; r++) {
        h->shift[r] = h->lse[(row + r) * op->lse_stride[2]];
        h->delta[r] =
            (float)s->loops->softmax->dot(h->dy.data + r * h->dy.ld, y.data + r * y.ld, s->width);
    }
}

static void run_rows(gradient_head *h, int64_t row, int64_t rows)
{
    const gradient_op *op = h->call->op;
    const attention_shape *s = &op->shape;
    attention_tile tile = {.head = h->head, .row = row, .rows = rows};
    tile.ld = (int64_t)cpu_round_up((size_t)rows, GEMM_WIDTH);
    bring_rows(h, row, rows, tile.ld);
    memset(scratch_at(h, op->dqs), 0, sizeof(float) * (size_t)(rows * s->depth_padded));
    for (; tile.col < s->keys && cpu_attention_is_kept(s, &tile); tile.col += ATTENTION_COLS) {
        tile.cols = cpu_min(s->keys - tile.col, ATTENTION_COLS);
        run_tile(h, &tile);
    }
    if (h->call->dq)
        cpu_attention_store(
            &op->dq, (unsigned char *)cpu_attention_head(&op->dq, h->call->dq, s->heads, h->head),
            row, rows, s->depth, scratch_at(h, op->dqs), s->depth_padded);
}

static void run_head(gradient_head *h)
{
    const gradient_call *call = h->call;
    const gradient_op *op = call->op;
    const attention_shape *s = &op->shape;
    const int64_t head = h->head, keys = s->keys;
    h->mask = call->mask ? cpu_attention_head(&s->mask, call->mask, s->heads, head) : NULL;
    h->lse = call->lse + head / s->heads * op->lse_stride[0] + head % s->heads * op->lse_stride[1];
    h->k = cpu_attention_bring(s, &s->k, cpu_attention_head(&s->k, call->k, s->heads, head), 0,
                               keys, s->depth, s->depth_padded, scratch_at(h, op->keys));
    h->v = cpu_attention_bring(s, &s->v, cpu_attention_head(&s->v, call->v, s->heads, head), 0,
                               keys, s->width, s->width_padded, scratch_at(h, op->values));
    float *dk = scratch_at(h, op->dkeys), *dv = scratch_at(h, op->dvalues);
    memset(dk, 0, sizeof(float) * (size_t)(keys * s->depth_padded));
    memset(dv, 0, sizeof(float) * (size_t)(keys * s->width_padded));
    for (int64_t row = 0; row < s->queries; row += ATTENTION_ROWS)
        run_rows(h, row, cpu_min(s->queries - row, ATTENTION_ROWS));
    if (call->dk)
        cpu_attention_store(&op->dk,
                            (unsigned char *)cpu_attention_head(&op->dk, call->dk, s->heads, head),
                            0, keys, s->depth, dk, s->depth_padded);
    if (call->dv)
        cpu_attention_store(&op->dv,
                            (unsigned char *)cpu_attention_head(&op->dv, call->dv, s->heads, head),
                            0, keys, s->width, dv, s->width_padded);
}

static void run_heads(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const gradient_call *call = arg;
    gradient_head h = {.call = call};
    h.scratch = call->workspace + (size_t)worker * call->op->each;
    for (int64_t head = begin; head < end; head++) {
        h.head = head;
        run_head(&h);
    }
}

static axle_status gradient_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const gradient_op *op = (const gradient_op *)base;
    const attention_shape *s = &op->shape;
    gradient_call call = {
        .op = op,
        .dy = cpu_in_data(args, 0),
        .q = cpu_in_data(args, 1),
        .k = cpu_in_data(args, 2),
        .v = cpu_in_data(args, 3),
        .mask = cpu_in_data(args, 4),
        .y = cpu_in_data(args, 5),
        .lse = cpu_in_data(args, 6),
        .dq = cpu_out_data(args, 0),
        .dk = cpu_out_data(args, 1),
        .dv = cpu_out_data(args, 2),
        .workspace = cpu_workspace(args),
        .seed = args->rng_seed,
        .offset = args->rng_offset,
    };
    const int64_t heads = s->batch * s->heads;
    (void)error;
    cpu_parallel(heads, heads * s->queries * (s->keys + 1) * (s->depth + s->width), run_heads,
                 &call);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_attention_backward = {
    .op = AXLE_OP_ATTENTION_BACKWARD,
    .query = gradient_query,
    .prepare = gradient_prepare,
    .run = gradient_run,
    .release = cpu_op_release,
};
