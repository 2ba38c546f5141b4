/* SPDX-License-Identifier: Apache-2.0 */
/* COPY: any strides to any strides, any type to any type. */
#include "elem.h"

static axle_status copy_query(const axle_op_desc *desc, axle_op_info *info)
{
    if (!cpu_dtype_size(desc->in[0]->dtype) || !cpu_dtype_size(desc->out[0]->dtype))
        return AXLE_OK;
    return cpu_op_support(info, "copy", 0);
}

static axle_status copy_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                                axle_error *error)
{
    elem_op *op = cpu_op_create(device, &cpu_kernel_copy, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const cpu_loops *loops = cpu_loops_choose(device->host);
    const uint32_t from = desc->in[0]->dtype, to = desc->out[0]->dtype;
    const elem_loop loop =
        from == to ? loops->convert->copy[cpu_dtype_log2(to)] : loops->convert->cast[from][to];
    elem_plan_init(&op->plan, loops, loop, 1, desc->in, desc->out[0], ELEM_RAW);
    *out = &op->base;
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_copy = {
    .op = AXLE_OP_COPY,
    .query = copy_query,
    .prepare = copy_prepare,
    .run = elem_op_run,
    .release = cpu_op_release,
};
