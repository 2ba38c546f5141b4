/* SPDX-License-Identifier: Apache-2.0 */
/* SGD, ADAM and RMSPROP over flat storage. */
#include "kernel.h"

#include <string.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/* Elements of one piece of work: a whole number of pages of any element type. */
enum { PIECE = 16384 };

typedef union optimizer_attrs {
    axle_sgd_attrs sgd;
    axle_adam_attrs adam;
    axle_rmsprop_attrs rmsprop;
} optimizer_attrs;

typedef struct optimizer_op {
    axle_be_op base;
    optimizer_loop loop;
    optimizer_attrs attrs;
    int64_t count;
} optimizer_op;

/* One type for all operands, f32 or f64, all dense, and the first `needed` outputs there. */
static int accepts(const axle_op_desc *desc, uint32_t needed)
{
    const axle_view *grad = desc->in[0];
    if ((grad->dtype != AXLE_DTYPE_F32 && grad->dtype != AXLE_DTYPE_F64) || !cpu_is_dense(grad))
        return 0;
    for (uint32_t k = 0; k < 4; k++) {
        const axle_view *out = cpu_out(desc, k);
        if (!out && k < needed)
            return 0;
        if (out && (out->dtype != grad->dtype || !cpu_is_dense(out)))
            return 0;
    }
    return 1;
}

static axle_status create(axle_be_device *device, const cpu_kernel *kernel,
                          const axle_op_desc *desc, const optimizer_loop *loops, size_t attrs_size,
                          axle_be_op **out, axle_error *error)
{
    optimizer_op *op = cpu_op_create(device, kernel, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    op->loop = loops[desc->in[0]->dtype == AXLE_DTYPE_F64 ? OPTIMIZER_F64 : OPTIMIZER_F32];
    op->count = cpu_count(desc->in[0]);
    memcpy(&op->attrs, desc->attrs, attrs_size);
    *out = &op->base;
    return AXLE_OK;
}

typedef struct optimizer_call {
    const optimizer_op *op;
    optimizer_arrays arrays;
    const void *scalars;
} optimizer_call;

/*
 * Moments of parameters that get no gradient any more fade into denormal numbers, on which
 * processors are tens of times slower: a small network's step took twice as long. Let them count as
 * 0 during the loop; the old state of the thread is given back to flush_end().
 */
#if defined(__SSE2__)
static uint32_t flush_begin(void)
{
    const uint32_t before = _mm_getcsr();
    _mm_setcsr(before | 0x8040); /* flush results to zero, take operands as zero */
    return before;
}

static void flush_end(uint32_t before)
{
    _mm_setcsr(before);
}
#else
static uint32_t flush_begin(void)
{
    return 0;
}

static void flush_end(uint32_t before)
{
    (void)before;
}
#endif

/* Without eps a tiny square divides, and must not become 0. */
static int may_flush(const optimizer_call *call)
{
    switch (call->op->base.kernel->op) {
    case AXLE_OP_ADAM:
        return ((const axle_adam_scalars *)call->scalars)->eps > 0;
    case AXLE_OP_RMSPROP:
        return ((const axle_rmsprop_scalars *)call->scalars)->eps > 0;
    default:
        return 1;
    }
}

static void step_pieces(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const optimizer_call *call = arg;
    (void)worker;
    const int flush = may_flush(call);
    const uint32_t before = flush ? flush_begin() : 0;
    call->op->loop(&call->arrays, begin * PIECE, cpu_min(end * PIECE, call->op->count),
                   &call->op->attrs, call->scalars);
    if (flush)
        flush_end(before);
}

static axle_status optimizer_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const optimizer_op *op = (const optimizer_op *)base;
    optimizer_call call = {
        .op = op,
        .arrays =
            {
                .grad = cpu_in_data(args, 0),
                .param = cpu_out_data(args, 0),
                .first = cpu_out_data(args, 1),
                .second = cpu_out_data(args, 2),
                .third = cpu_out_data(args, 3),
            },
        .scalars = args->scalars,
    };
    (void)error;
    cpu_parallel(cpu_ceil_div(op->count, PIECE), op->count * 2, step_pieces, &call);
    return AXLE_OK;
}

static axle_status sgd_query(const axle_op_desc *desc, axle_op_info *info)
{
    return accepts(desc, 1) ? cpu_op_support(info, "sgd", 0) : AXLE_OK;
}

static axle_status sgd_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                               axle_error *error)
{
    return create(device, &cpu_kernel_sgd, desc, cpu_loops_choose(device->host)->optimizer->sgd,
                  sizeof(axle_sgd_attrs), out, error);
}

static axle_status adam_query(const axle_op_desc *desc, axle_op_info *info)
{
    return accepts(desc, 3) ? cpu_op_support(info, "adam", 0) : AXLE_OK;
}

static axle_status adam_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                                axle_error *error)
{
    return create(device, &cpu_kernel_adam, desc, cpu_loops_choose(device->host)->optimizer->adam,
                  sizeof(axle_adam_attrs), out, error);
}

static axle_status rmsprop_query(const axle_op_desc *desc, axle_op_info *info)
{
    return accepts(desc, 2) ? cpu_op_support(info, "rmsprop", 0) : AXLE_OK;
}

static axle_status rmsprop_prepare(axle_be_device *device, const axle_op_desc *desc,
                                   axle_be_op **out, axle_error *error)
{
    return create(device, &cpu_kernel_rmsprop, desc,
                  cpu_loops_choose(device->host)->optimizer->rmsprop, sizeof(axle_rmsprop_attrs),
                  out, error);
}

const cpu_kernel cpu_kernel_sgd = {
    .op = AXLE_OP_SGD,
    .query = sgd_query,
    .prepare = sgd_prepare,
    .run = optimizer_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_adam = {
    .op = AXLE_OP_ADAM,
    .query = adam_query,
    .prepare = adam_prepare,
    .run = optimizer_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_rmsprop = {
    .op = AXLE_OP_RMSPROP,
    .query = rmsprop_query,
    .prepare = rmsprop_prepare,
    .run = optimizer_run,
    .release = cpu_op_release,
};
