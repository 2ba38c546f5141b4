/* SPDX-License-Identifier: Apache-2.0 */
/* WHERE: a choice between two operands of any type. */
#include "elem.h"

static axle_status where_query(const axle_op_desc *desc, axle_op_info *info)
{
    const uint32_t dtype = desc->out[0]->dtype;
    if (desc->in[0]->dtype != AXLE_DTYPE_BOOL || desc->in[1]->dtype != dtype ||
        desc->in[2]->dtype != dtype || !cpu_dtype_size(dtype))
        return AXLE_OK;
    return cpu_op_support(info, "where", 0);
}

static axle_status where_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                                 axle_error *error)
{
    elem_op *op = cpu_op_create(device, &cpu_kernel_where, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const cpu_loops *loops = cpu_loops_choose(device->host);
    const elem_loop loop = loops->convert->where[cpu_dtype_log2(desc->out[0]->dtype)];
    elem_plan_init(&op->plan, loops, loop, 3, desc->in, desc->out[0], ELEM_RAW);
    *out = &op->base;
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_where = {
    .op = AXLE_OP_WHERE,
    .query = where_query,
    .prepare = where_prepare,
    .run = elem_op_run,
    .release = cpu_op_release,
};
