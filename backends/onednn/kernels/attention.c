/* SPDX-License-Identifier: Apache-2.0 */
/* ATTENTION: the forward pass. */
#include "attention.h"

#include <math.h>
#include <string.h>

typedef struct attention_op {
    axle_be_op base;
    attention_shape shape;
    attention_operand y;
    int64_t lse_stride[3];
    int64_t parts; /* pieces that the queries of a head are cut into */
    /* A worker's share of the workspace, in bytes from its start: keys and values as f32, queries
     * and their transpose, a tile of scores, sums (ATTENTION_ROWS, E). */
    size_t keys, values, queries, transposed, scores, sums, each;
} attention_op;

static void lay_out(attention_op *op)
{
    const attention_shape *s = &op->shape;
    const size_t row = sizeof(float) * ATTENTION_ROWS;
    const size_t k = (size_t)(s->keys * s->depth_padded) * sizeof(float);
    const size_t v = (size_t)(s->keys * s->width_padded) * sizeof(float);
    op->each = 0;
    op->keys = cpu_reserve(&op->each, k);
    op->values = cpu_reserve(&op->each, v);
    op->queries = cpu_reserve(&op->each, row * (size_t)s->depth_padded);
    op->transposed = cpu_reserve(&op->each, row * (size_t)s->depth_padded);
    op->scores = cpu_reserve(&op->each, row * ATTENTION_COLS);
    op->sums = cpu_reserve(&op->each, row * (size_t)s->width_padded);
}

static void take(attention_op *op, const cpu_loops *loops, const axle_op_desc *desc)
{
    const axle_view *lse = cpu_out(desc, 1);
    cpu_attention_shape(&op->shape, loops, desc->attrs, desc->in[0], desc->in[1], desc->in[2],
                        cpu_in(desc, 3));
    op->y = cpu_attention_operand(loops, desc->out[0]);
    for (int d = 0; lse && d < 3; d++)
        op->lse_stride[d] = lse->stride[d];
    lay_out(op);
}

static axle_status attention_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_view *y = desc->out[0], *lse = cpu_out(desc, 1);
    attention_op op;
    if (!cpu_attention_accepts(desc->in[0], desc->in[1], desc->in[2], cpu_in(desc, 3)) ||
        y->dtype != desc->in[0]->dtype || (lse && lse->dtype != AXLE_DTYPE_F32))
        return AXLE_OK;
    take(&op, &cpu_loops_generic, desc);
    return cpu_op_support(info, "attention", cpu_workspace_size(op.each * (size_t)cpu_workers()));
}

static axle_status attention_prepare(axle_be_device *device, const axle_op_desc *desc,
                                     axle_be_op **out, axle_error *error)
{
    attention_op *op = cpu_op_create(device, &cpu_kernel_attention, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    take(op, cpu_loops_choose(device->host), desc);
    const int64_t heads = op->shape.batch * op->shape.heads;
    const int64_t blocks = cpu_ceil_div(op->shape.queries, ATTENTION_ROWS);
    op->parts = heads < 2 * cpu_workers() ? cpu_min(blocks, 2 * cpu_workers()) : 1;
    *out = &op->base;
    return AXLE_OK;
}

typedef struct attention_call {
    const attention_op *op;
    const void *q, *k, *v, *mask;
    void *y;
    float *lse;
    unsigned char *workspace;
    uint64_t seed, offset;
} attention_call;

/* One head under way. */
typedef struct attention_head {
    const attention_call *call;
    int64_t head;
    const unsigned char *q, *mask;
    unsigned char *y, *scratch;
    attention_rows k, v;
} attention_head;

/* State of a block of queries: largest score, sum of exponentials, per query. */
typedef struct attention_state {
    float max[ATTENTION_ROWS];
    double sum[ATTENTION_ROWS];
} attention_state;

static float *scratch_at(const attention_head *h, size_t at)
{
    return (float *)(h->scratch + at);
}

static void score_tile(const attention_head *h, const attention_tile *tile, float *scores)
{
    const attention_shape *s = &h->call->op->shape;
    const gemm_call product = {
        .m = tile->cols,
        .n = tile->ld,
        .k = s->depth,
        .a = h->k.data + tile->col * h->k.ld,
        .a_row = h->k.ld,
        .a_col = 1,
        .b = scratch_at(h, h->call->op->transposed),
        .ldb = tile->ld,
        .c = scores,
        .ldc = tile->ld,
    };
    s->loops->gemm->run(&product);
    if (s->has_mask || s->causal)
        cpu_attention_mask(s, tile, h->mask, scores);
}

/* Scores become exponentials; what was summed before is scaled to the new largest score. */
static void soften(const attention_head *h, const attention_tile *tile, attention_state *state,
                   float *scores, float *sums)
{
    const attention_shape *s = &h->call->op->shape;
    float before[ATTENTION_ROWS], sum[ATTENTION_ROWS];
    memcpy(before, state->max, sizeof(before));
    s->loops->attention->max(scores, tile->ld, tile->cols, tile->rows, state->max);
    s->loops->attention->exp(scores, tile->ld, tile->cols, tile->rows, state->max, sum);
    for (int64_t r = 0; r < tile->rows; r++) {
        const float factor = before[r] == state->max[r] ? 1.0f : expf(before[r] - state->max[r]);
        state->sum[r] = state->sum[r] * (double)factor + (double)sum[r];
        if (factor != 1.0f && tile->col > 0)
            s->loops->softmax->scale(sums + r * s->width_padded, factor, sums + r * s->width_padded,
                                     s->width_padded);
    }
}

static void run_tile(const attention_head *h, const attention_tile *tile, attention_state *state)
{
    const attention_op *op = h->call->op;
    const attention_shape *s = &op->shape;
    float *scores = scratch_at(h, op->scores), *sums = scratch_at(h, op->sums);
    score_tile(h, tile, scores);
    soften(h, tile, state, scores, sums);
    if (s->threshold > 0)
        cpu_attention_drop(s, tile, h->call->seed, h->call->offset, scores);
    const gemm_call product = {
        .m = tile->rows,
        .n = s->width_padded,
        .k = tile->cols,
        .a = scores,
        .a_row = 1,
        .a_col = tile->ld,
        .b = h->v.data + tile->col * h->v.ld,
        .ldb = h->v.ld,
        .c = sums,
        .ldc = s->width_padded,
        .accumulate = tile->col > 0,
        .skip_zeros = !h->v.finite,
    };
    s->loops->gemm->run(&product);
}

/* A query that kept nothing gives zeros. */
static void finish_rows(const attention_head *h, int64_t row, int64_t rows,
                        const attention_state *state)
{
    const attention_call *call = h->call;
    const attention_op *op = call->op;
    const attention_shape *s = &op->shape;
    float *sums = scratch_at(h, op->sums);
    float *lse = call->lse;
    if (lse)
        lse += h->head / s->heads * op->lse_stride[0] + h->head % s->heads * op->lse_stride[1];
    for (int64_t r = 0; r < rows; r++) {
        const double sum = state->sum[r];
        float *y = sums + r * s->width_padded;
        if (sum == 0)
            memset(y, 0, sizeof(float) * (size_t)s->width);
        else
            s->loops->softmax->scale(y, (float)(1.0 / sum), y, s->width);
        if (lse)
            lse[(row + r) * op->lse_stride[2]] =
                sum == 0 ? -INFINITY : (float)((double)state->max[r] + log(sum));
    }
    cpu_attention_store(&op->y, h->y, row, rows, s->width, sums, s->width_padded);
}

static void run_rows(const attention_head *h, int64_t row, int64_t rows)
{
    const attention_op *op = h->call->op;
    const attention_shape *s = &op->shape;
    attention_state state;
    attention_tile tile = {.head = h->head, .row = row, .rows = rows};
    tile.ld = (int64_t)cpu_round_up((size_t)rows, GEMM_WIDTH);
    for (int64_t r = 0; r < rows; r++) {
        state.max[r] = -INFINITY;
        state.sum[r] = 0;
    }
    const attention_rows q = cpu_attention_bring(s, &s->q, h->q, row, rows, s->depth,
                                                 s->depth_padded, scratch_at(h, op->queries));
    s->loops->attention->transpose(q.data, q.ld, rows, s->depth, s->scale,
                                   scratch_at(h, op->transposed), tile.ld);
    memset(scratch_at(h, op->sums), 0, sizeof(float) * (size_t)(rows * s->width_padded));
    for (; tile.col < s->keys && cpu_attention_is_kept(s, &tile); tile.col += ATTENTION_COLS) {
        tile.cols = cpu_min(s->keys - tile.col, ATTENTION_COLS);
        run_tile(h, &tile, &state);
    }
    finish_rows(h, row, rows, &state);
}

/* Items are (head, part of its queries). */
static void attention_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const attention_call *call = arg;
    const attention_op *op = call->op;
    const attention_shape *s = &op->shape;
    attention_head h = {.call = call, .head = -1};
    h.scratch = call->workspace + (size_t)worker * op->each;
    for (int64_t item = begin; item < end; item++) {
        const int64_t head = item / op->parts, part = item % op->parts;
        if (head != h.head) {
            h.head = head;
            h.q = cpu_attention_head(&s->q, call->q, s->heads, head);
            h.mask = call->mask ? cpu_attention_head(&s->mask, call->mask, s->heads, head) : NULL;
            h.y = (unsigned char *)cpu_attention_head(&op->y, call->y, s->heads, head);
            h.k =
                cpu_attention_bring(s, &s->k, cpu_attention_head(&s->k, call->k, s->heads, head), 0,
                                    s->keys, s->depth, s->depth_padded, scratch_at(&h, op->keys));
            h.v =
                cpu_attention_bring(s, &s->v, cpu_attention_head(&s->v, call->v, s->heads, head), 0,
                                    s->keys, s->width, s->width_padded, scratch_at(&h, op->values));
        }
        const int64_t blocks = cpu_ceil_div(s->queries, ATTENTION_ROWS);
        for (int64_t b = blocks * part / op->parts; b < blocks * (part + 1) / op->parts; b++)
            run_rows(&h, b * ATTENTION_ROWS,
                     cpu_min(s->queries - b * ATTENTION_ROWS, ATTENTION_ROWS));
    }
}

static axle_status attention_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const attention_op *op = (const attention_op *)base;
    const attention_shape *s = &op->shape;
    attention_call call = {
        .op = op,
        .q = cpu_in_data(args, 0),
        .k = cpu_in_data(args, 1),
        .v = cpu_in_data(args, 2),
        .mask = cpu_in_data(args, 3),
        .y = cpu_out_data(args, 0),
        .lse = cpu_out_data(args, 1),
        .workspace = cpu_workspace(args),
        .seed = args->rng_seed,
        .offset = args->rng_offset,
    };
    const int64_t heads = s->batch * s->heads;
    (void)error;
    if (heads * s->queries == 0)
        return AXLE_OK;
    cpu_parallel(heads * op->parts, heads * s->queries * (s->keys + 1) * (s->depth + s->width) / 4,
                 attention_items, &call);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_attention = {
    .op = AXLE_OP_ATTENTION,
    .query = attention_query,
    .prepare = attention_prepare,
    .run = attention_run,
    .release = cpu_op_release,
};
