/* SPDX-License-Identifier: Apache-2.0 */
/* BINARY: arithmetic, comparisons and logic of two operands. */
#include "elem.h"

static int is_boolean_kind(uint32_t kind)
{
    return kind >= AXLE_BINARY_EQ;
}

static elem_loop binary_loop(const cpu_loops *loops, const axle_op_desc *desc)
{
    const axle_binary_attrs *attrs = desc->attrs;
    const int32_t domain = cpu_dtype_domain(desc->in[0]->dtype);
    if (domain < 0 || attrs->kind >= AXLE_BINARY_LIMIT)
        return NULL;
    return loops->binary->forward[domain][attrs->kind];
}

static axle_status binary_query(const axle_op_desc *desc, axle_op_info *info)
{
    const uint32_t kind = ((const axle_binary_attrs *)desc->attrs)->kind;
    const uint32_t dtype = desc->in[0]->dtype;
    if (!binary_loop(&cpu_loops_generic, desc) || desc->in[1]->dtype != dtype)
        return AXLE_OK;
    if (desc->out[0]->dtype != (is_boolean_kind(kind) ? (uint32_t)AXLE_DTYPE_BOOL : dtype))
        return AXLE_OK;
    if (dtype == AXLE_DTYPE_BOOL && !is_boolean_kind(kind) && kind != AXLE_BINARY_MAXIMUM &&
        kind != AXLE_BINARY_MINIMUM)
        return AXLE_OK;
    return cpu_op_support(info, "binary", 0);
}

static axle_status binary_prepare(axle_be_device *device, const axle_op_desc *desc,
                                  axle_be_op **out, axle_error *error)
{
    elem_op *op = cpu_op_create(device, &cpu_kernel_binary, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const axle_binary_attrs *attrs = desc->attrs;
    const cpu_loops *loops = cpu_loops_choose(device->host);
    const int mode = is_boolean_kind(attrs->kind) ? ELEM_CONVERT_INPUTS : ELEM_CONVERT;
    elem_plan_init(&op->plan, loops, binary_loop(loops, desc), 2, desc->in, desc->out[0], mode);
    op->plan.params.alpha = attrs->alpha;
    op->plan.params.ialpha = (int64_t)attrs->alpha;
    *out = &op->base;
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_binary = {
    .op = AXLE_OP_BINARY,
    .query = binary_query,
    .prepare = binary_prepare,
    .run = elem_op_run,
    .release = cpu_op_release,
};
