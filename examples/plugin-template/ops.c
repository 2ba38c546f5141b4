/* SPDX-License-Identifier: Apache-2.0 */
/* What the device can do: its table, and from an operator's description to its kernel. */
#include "template.h"

#include <string.h>

/* The host runs what is not in here. Replace: your operators, beginning with the costly ones. */
static const template_kernel *const kernels[] = {&template_relu, &template_relu_backward,
                                                 &template_arithmetic, &template_matmul};

/* An operator that was prepared. Replace: a compiled kernel, and all that was decided once. */
struct axle_be_op {
    const template_kernel *kernel;
    template_attrs attrs; /* a copy: what op_prepare is given lasts for the call only */
};

static int all_f32(const axle_view *const *operands, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) /* absent operands are NULL */
        if (operands[k] && operands[k]->dtype != AXLE_DTYPE_F32)
            return 0;
    return 1;
}

static const template_kernel *find(const axle_op_desc *desc)
{
    if (all_f32(desc->in, desc->n_in) && all_f32(desc->out, desc->n_out))
        for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
            if (kernels[k]->op == desc->op && kernels[k]->accepts(desc->attrs))
                return kernels[k];
    return NULL;
}

static axle_status op_query(axle_be_device *device, const axle_op_desc *desc, axle_op_info *info)
{
    const template_kernel *kernel = find(desc);
    (void)device;
    info->support = kernel ? kernel->support : AXLE_SUPPORT_NO;
    return AXLE_OK;
}

/* Called once for a description that op_query accepted; the core keeps the result. Replace: compile
 * kernels, choose tiles, do whatever is too slow to be done in each run. */
static axle_status op_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                              axle_error *error)
{
    const template_kernel *kernel = find(desc);
    (void)device;
    if (!kernel)
        return template_fail(error, AXLE_ERR_UNSUPPORTED, "operator %u is declined", desc->op);
    axle_be_op *op = template_host->alloc(template_host->ctx, sizeof(*op), 16);
    if (!op)
        return template_fail(error, AXLE_ERR_NOMEM, "no memory for operator %u", desc->op);
    const template_attrs *attrs = desc->attrs;
    const uint32_t size = attrs->struct_size; /* more than we know if Axle is newer */
    memcpy(&op->attrs, attrs, size < sizeof(op->attrs) ? size : sizeof(op->attrs));
    op->kernel = kernel;
    *out = op;
    return AXLE_OK;
}

/* Several threads may run one `op` at once, so nothing is written to it. */
static axle_status op_run(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                          axle_error *error)
{
    (void)queue, (void)error;
    op->kernel->run(&op->attrs, args);
    return AXLE_OK;
}

static void op_release(axle_be_op *op)
{
    template_host->free(template_host->ctx, op);
}

/* Axle does without the slots that are absent here: queues, events, copies and more. */
const axle_device_api *template_device_api(axle_be_device *device)
{
    static const axle_device_api api = {
        .struct_size = sizeof(axle_device_api),
        .buffer_create = template_buffer_create,
        .buffer_destroy = template_buffer_destroy,
        .buffer_map = template_buffer_map,
        .op_query = op_query,
        .op_prepare = op_prepare,
        .op_run = op_run,
        .op_release = op_release,
    };
    (void)device;
    return &api;
}
