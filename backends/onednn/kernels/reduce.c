/* SPDX-License-Identifier: Apache-2.0 */
/* REDUCE: sums, means, extremes, norms and truth over any dims. */
#include "reduction.h"

typedef struct reduce_op {
    axle_be_op base;
    reduce_plan plan;
} reduce_op;

static int accepts(const axle_op_desc *desc)
{
    const axle_reduce_attrs *attrs = desc->attrs;
    const axle_view *x = desc->in[0], *y = desc->out[0];
    const int32_t domain = cpu_dtype_domain(x->dtype);
    if (domain < 0 || attrs->kind >= AXLE_REDUCE_LIMIT)
        return 0;
    if (!cpu_loops_generic.reduce->row[domain][attrs->kind])
        return 0;
    if (attrs->kind == AXLE_REDUCE_ANY || attrs->kind == AXLE_REDUCE_ALL)
        return y->dtype == AXLE_DTYPE_BOOL;
    return y->dtype == x->dtype && x->dtype != AXLE_DTYPE_BOOL;
}

static void plan_reduce(reduce_plan *plan, const cpu_loops *loops, const axle_op_desc *desc)
{
    const axle_reduce_attrs *attrs = desc->attrs;
    reduce_plan_init(plan, loops, REDUCE_VALUES, attrs->kind, attrs->parameter, attrs->axes,
                     desc->in[0], NULL, desc->out[0]);
}

static axle_status reduce_query(const axle_op_desc *desc, axle_op_info *info)
{
    reduce_plan plan;
    if (!accepts(desc))
        return AXLE_OK;
    plan_reduce(&plan, &cpu_loops_generic, desc);
    const size_t size = reduce_plan_workspace(&plan);
    return cpu_op_support(info, "reduce", size > 0 ? cpu_workspace_size(size) : 0);
}

static axle_status reduce_prepare(axle_be_device *device, const axle_op_desc *desc,
                                  axle_be_op **out, axle_error *error)
{
    reduce_op *op = cpu_op_create(device, &cpu_kernel_reduce, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    plan_reduce(&op->plan, cpu_loops_choose(device->host), desc);
    *out = &op->base;
    return AXLE_OK;
}

static axle_status reduce_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const reduce_op *op = (const reduce_op *)base;
    const reduce_arrays arrays = {.x = cpu_in_data(args, 0), .out = cpu_out_data(args, 0)};
    (void)error;
    reduce_plan_run(&op->plan, &arrays, cpu_workspace(args));
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_reduce = {
    .op = AXLE_OP_REDUCE,
    .query = reduce_query,
    .prepare = reduce_prepare,
    .run = reduce_run,
    .release = cpu_op_release,
};
