/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RANDOM and DROPOUT: what depends on the number of an element. Elements are walked in row-major
 * order of the dims, whatever the strides.
 */
#include "kernel.h"

#include <math.h>

/* Elements whose words are drawn at a time, and of one piece of work. */
enum { BLOCK = 512, PIECE = 8192 };

typedef struct draw_op {
    axle_be_op base;
    const cpu_loops *loops;
    int wide; /* f64 */
    int dropout;
    double low, high, keep;
    uint32_t threshold;
    int32_t rank;
    int64_t dim[AXLE_MAX_RANK], x_stride[AXLE_MAX_RANK], y_stride[AXLE_MAX_RANK];
    int64_t count, row, pieces, items, size;
    int native;
    load_loop load;
    store_loop store;
} draw_op;

/* Neighbouring dims become one where both operands allow it; their order stays. */
static void take_dims(draw_op *op, const axle_view *x, const axle_view *y)
{
    for (uint32_t d = 0; d < y->rank; d++) {
        const int64_t dim = y->dim[d], xs = x ? x->stride[d] : 0, ys = y->stride[d];
        const int32_t last = op->rank - 1;
        if (dim == 1)
            continue;
        if (last >= 0 && op->x_stride[last] == xs * dim && op->y_stride[last] == ys * dim) {
            op->dim[last] *= dim;
            op->x_stride[last] = xs;
            op->y_stride[last] = ys;
        } else {
            op->dim[op->rank] = dim;
            op->x_stride[op->rank] = xs;
            op->y_stride[op->rank++] = ys;
        }
    }
    if (op->rank == 0) {
        op->dim[0] = op->x_stride[0] = op->y_stride[0] = 1;
        op->rank = 1;
    }
}

static draw_op *draw_create(axle_be_device *device, const cpu_kernel *kernel, const axle_view *x,
                            const axle_view *y, axle_error *error)
{
    draw_op *op = cpu_op_create(device, kernel, sizeof(*op), error);
    if (!op)
        return NULL;
    op->loops = cpu_loops_choose(device->host);
    op->wide = y->dtype == AXLE_DTYPE_F64;
    op->native = y->dtype == AXLE_DTYPE_F32 || op->wide;
    op->size = cpu_dtype_size(y->dtype);
    op->load = op->loops->convert->load[y->dtype];
    op->store = op->loops->convert->store[y->dtype];
    op->count = cpu_count(y);
    take_dims(op, x, y);
    op->row = op->dim[op->rank - 1];
    op->pieces = cpu_ceil_div(op->row, PIECE);
    op->items = op->count > 0 ? op->count / op->row * op->pieces : 0;
    return op;
}

typedef struct draw_call {
    const draw_op *op;
    const unsigned char *x;
    unsigned char *y;
    uint64_t seed, first;
} draw_call;

static void draw_block(const draw_op *op, const uint32_t *words, const void *x, void *y, int64_t n)
{
    const struct random_loops *loops = op->loops->random;
    if (op->dropout && op->wide)
        loops->dropout64(words, op->threshold, op->keep, x, y, n);
    else if (op->dropout)
        loops->dropout(words, op->threshold, (float)op->keep, x, y, n);
    else if (op->wide)
        loops->uniform64(words, op->low, op->high, y, n);
    else
        loops->uniform(words, (float)op->low, (float)op->high, y, n);
}

/* Elements `number` and on of the draw; x and y are where they lie. */
static void draw_run(const draw_call *call, const unsigned char *x, unsigned char *y,
                     uint64_t number, int64_t count)
{
    const draw_op *op = call->op;
    const int64_t xs = op->x_stride[op->rank - 1], ys = op->y_stride[op->rank - 1];
    const int x_direct = op->native && xs == 1, y_direct = op->native && ys == 1;
    uint32_t words[BLOCK];
    _Alignas(CPU_LINE) unsigned char from[BLOCK * 8], to[BLOCK * 8];
    for (int64_t i = 0; i < count; i += BLOCK) {
        const int64_t n = cpu_min(count - i, BLOCK);
        const unsigned char *xi = x + i * xs * op->size;
        unsigned char *yi = y + i * ys * op->size;
        op->loops->random->words(call->seed, number + (uint64_t)i, n, words);
        if (op->dropout && !x_direct)
            op->load(xi, xs, from, n);
        draw_block(op, words, x_direct ? (const void *)xi : from, y_direct ? (void *)yi : to, n);
        if (!y_direct)
            op->store(to, yi, ys, n);
    }
}

static void draw_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const draw_call *call = arg;
    const draw_op *op = call->op;
    const int32_t inner = op->rank - 1;
    (void)worker;
    for (int64_t item = begin; item < end; item++) {
        const int64_t row = item / op->pieces, start = item % op->pieces * PIECE;
        int64_t x = start * op->x_stride[inner], y = start * op->y_stride[inner], rest = row;
        for (int32_t k = inner - 1; k >= 0; k--) {
            x += rest % op->dim[k] * op->x_stride[k];
            y += rest % op->dim[k] * op->y_stride[k];
            rest /= op->dim[k];
        }
        draw_run(call, call->x ? call->x + x * op->size : NULL, call->y + y * op->size,
                 call->first + (uint64_t)(row * op->row + start), cpu_min(op->row - start, PIECE));
    }
}

static axle_status draw_op_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const draw_op *op = (const draw_op *)base;
    draw_call call = {
        .op = op,
        .x = cpu_in_data(args, 0),
        .y = cpu_out_data(args, 0),
        .seed = args->rng_seed,
        .first = args->rng_offset,
    };
    (void)error;
    cpu_parallel(op->items, op->count * 2, draw_items, &call);
    return AXLE_OK;
}

static int is_float(uint32_t dtype)
{
    const int32_t domain = cpu_dtype_domain(dtype);
    return domain == DOMAIN_F32 || domain == DOMAIN_F64;
}

static axle_status random_query(const axle_op_desc *desc, axle_op_info *info)
{
    return is_float(desc->out[0]->dtype) ? cpu_op_support(info, "random", 0) : AXLE_OK;
}

static axle_status random_prepare(axle_be_device *device, const axle_op_desc *desc,
                                  axle_be_op **out, axle_error *error)
{
    draw_op *op = draw_create(device, &cpu_kernel_random, NULL, desc->out[0], error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const axle_random_attrs *attrs = desc->attrs;
    op->low = attrs->low;
    op->high = attrs->high;
    *out = &op->base;
    return AXLE_OK;
}

static axle_status dropout_query(const axle_op_desc *desc, axle_op_info *info)
{
    if (!is_float(desc->in[0]->dtype) || desc->out[0]->dtype != desc->in[0]->dtype)
        return AXLE_OK;
    return cpu_op_support(info, "dropout", 0);
}

/* u * 2^-24 >= p exactly where the integer u is at least p * 2^24. */
static axle_status dropout_prepare(axle_be_device *device, const axle_op_desc *desc,
                                   axle_be_op **out, axle_error *error)
{
    draw_op *op = draw_create(device, &cpu_kernel_dropout, desc->in[0], desc->out[0], error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const double p = ((const axle_dropout_attrs *)desc->attrs)->p;
    op->dropout = 1;
    op->keep = 1.0 - p;
    op->threshold = p > 0.0 ? (uint32_t)ceil((p < 1.0 ? p : 1.0) * 0x1p24) : 0;
    *out = &op->base;
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_random = {
    .op = AXLE_OP_RANDOM,
    .query = random_query,
    .prepare = random_prepare,
    .run = draw_op_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_dropout = {
    .op = AXLE_OP_DROPOUT,
    .query = dropout_query,
    .prepare = dropout_prepare,
    .run = draw_op_run,
    .release = cpu_op_release,
};
