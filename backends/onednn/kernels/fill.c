/* SPDX-License-Identifier: Apache-2.0 */
/* FILL and ARANGE: tensors made from nothing. */
#include "elem.h"

#include <string.h>

/* FILL is a copy of one element with strides of 0. */
typedef struct fill_op {
    axle_be_op base;
    elem_plan plan;
    _Alignas(8) unsigned char value[8];
} fill_op;

static axle_status fill_query(const axle_op_desc *desc, axle_op_info *info)
{
    if (!cpu_dtype_size(desc->out[0]->dtype))
        return AXLE_OK;
    return cpu_op_support(info, "fill", 0);
}

static void fill_value(fill_op *op, const cpu_loops *loops, const axle_fill_attrs *attrs,
                       uint32_t dtype)
{
    const int integer = cpu_dtype_domain(dtype) == DOMAIN_I64;
    const void *from = integer ? (const void *)&attrs->integer : (const void *)&attrs->value;
    loops->convert->cast[integer ? AXLE_DTYPE_I64 : AXLE_DTYPE_F64][dtype](&from, op->value, 1,
                                                                           NULL);
}

static axle_status fill_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                                axle_error *error)
{
    fill_op *op = cpu_op_create(device, &cpu_kernel_fill, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const cpu_loops *loops = cpu_loops_choose(device->host);
    axle_view value = *desc->out[0];
    const axle_view *in[1] = {&value};
    memset(value.stride, 0, sizeof(value.stride));
    fill_value(op, loops, desc->attrs, value.dtype);
    elem_plan_init(&op->plan, loops, loops->convert->copy[cpu_dtype_log2(value.dtype)], 1, in,
                   desc->out[0], ELEM_RAW);
    *out = &op->base;
    return AXLE_OK;
}

static axle_status fill_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const fill_op *op = (const fill_op *)base;
    const void *in[1] = {op->value};
    (void)error;
    elem_plan_run(&op->plan, in, cpu_out_data(args, 0));
    return AXLE_OK;
}

typedef struct arange_op {
    axle_be_op base;
    const cpu_loops *loops;
    double start, step;
    int64_t count, stride;
    uint32_t dtype;
} arange_op;

static axle_status arange_query(const axle_op_desc *desc, axle_op_info *info)
{
    const uint32_t dtype = desc->out[0]->dtype;
    if (!cpu_dtype_size(dtype) || dtype == AXLE_DTYPE_BOOL || desc->out[0]->rank != 1)
        return AXLE_OK;
    return cpu_op_support(info, "arange", 0);
}

static axle_status arange_prepare(axle_be_device *device, const axle_op_desc *desc,
                                  axle_be_op **out, axle_error *error)
{
    arange_op *op = cpu_op_create(device, &cpu_kernel_arange, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const axle_arange_attrs *attrs = desc->attrs;
    op->loops = cpu_loops_choose(device->host);
    op->start = attrs->start;
    op->step = attrs->step;
    op->count = desc->out[0]->dim[0];
    op->stride = desc->out[0]->stride[0];
    op->dtype = desc->out[0]->dtype;
    *out = &op->base;
    return AXLE_OK;
}

typedef struct arange_call {
    const arange_op *op;
    unsigned char *y;
} arange_call;

enum { ARANGE_BLOCK = 512 };

static void arange_block(const arange_op *op, int64_t first, int64_t n, void *values)
{
    double *reals = values;
    int64_t *integers = values;
    const int64_t start = (int64_t)op->start, step = (int64_t)op->step;
    if (cpu_dtype_domain(op->dtype) == DOMAIN_I64)
        for (int64_t i = 0; i < n; i++)
            integers[i] = start + (first + i) * step;
    else
        for (int64_t i = 0; i < n; i++)
            reals[i] = op->start + (double)(first + i) * op->step;
}

static void arange_blocks(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const arange_call *call = arg;
    const arange_op *op = call->op;
    const struct convert_loops *convert = op->loops->convert;
    const int64_t size = cpu_dtype_size(op->dtype);
    const int integer = cpu_dtype_domain(op->dtype) == DOMAIN_I64;
    _Alignas(CPU_LINE) unsigned char wide[ARANGE_BLOCK * 8], narrow[ARANGE_BLOCK * 8];
    const void *from = wide;
    (void)worker;
    for (int64_t i = begin * ARANGE_BLOCK; i < end * ARANGE_BLOCK; i += ARANGE_BLOCK) {
        const int64_t n = cpu_min(op->count - i, ARANGE_BLOCK);
        arange_block(op, i, n, wide);
        convert->cast[integer ? AXLE_DTYPE_I64 : AXLE_DTYPE_F64][op->dtype](&from, narrow, n, NULL);
        convert->store_raw[cpu_dtype_log2(op->dtype)](narrow, call->y + i * op->stride * size,
                                                      op->stride, n);
    }
}

static axle_status arange_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const arange_op *op = (const arange_op *)base;
    arange_call call = {.op = op, .y = cpu_out_data(args, 0)};
    (void)error;
    cpu_parallel(cpu_ceil_div(op->count, ARANGE_BLOCK), op->count, arange_blocks, &call);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_fill = {
    .op = AXLE_OP_FILL,
    .query = fill_query,
    .prepare = fill_prepare,
    .run = fill_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_arange = {
    .op = AXLE_OP_ARANGE,
    .query = arange_query,
    .prepare = arange_prepare,
    .run = arange_run,
    .release = cpu_op_release,
};
