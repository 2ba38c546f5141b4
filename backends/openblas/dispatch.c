/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel serves an operator; all others are the host's. */
#include "library.h"
#include "slots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const blas_kernel *const kernels[] = {
    &blas_matmul,
    &blas_conv,
    &blas_conv_backward_data,
    &blas_conv_backward_weight,
};

static const blas_kernel *find(uint32_t op)
{
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
        if (kernels[k]->op == op)
            return kernels[k];
    return NULL;
}

/* *out stays NULL where the operator is not served. */
static axle_status plan(const axle_be_device *device, const axle_op_desc *desc, axle_be_op **out)
{
    const blas_kernel *kernel = find(desc->op);
    *out = NULL;
    if (!kernel)
        return AXLE_OK;
    axle_be_op *op = calloc(1, kernel->size);
    if (!op)
        return AXLE_ERR_NOMEM;
    *op = (axle_be_op){.kernel = kernel, .device = device};
    if (kernel->plan(op, desc))
        *out = op;
    else
        free(op);
    return AXLE_OK;
}

axle_status blas_op_query(axle_be_device *device, const axle_op_desc *desc, axle_op_info *info)
{
    axle_be_op *op;
    const axle_status status = plan(device, desc, &op);
    info->support = AXLE_SUPPORT_NO;
    if (status != AXLE_OK || !op)
        return status;
    info->support = AXLE_SUPPORT_YES;
    info->workspace_size = op->workspace;
    snprintf(info->impl, sizeof(info->impl), "cblas:gemm");
    free(op);
    return AXLE_OK;
}

axle_status blas_op_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                            axle_error *error)
{
    axle_be_op *op;
    const axle_status status = plan(device, desc, &op);
    if (status != AXLE_OK)
        return blas_fail(error, status, "openblas: no memory for a prepared operator");
    if (!op)
        return blas_fail(error, AXLE_ERR_UNSUPPORTED,
                         "openblas: operator %" PRIu32 " is not supported for these operands",
                         desc->op);
    blas_library_advise(device->host, device->library);
    *out = op;
    return AXLE_OK;
}

axle_status blas_op_run(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                        axle_error *error)
{
    (void)queue, (void)error; /* There is one, and it is synchronous. */
    op->kernel->run(op, args);
    return AXLE_OK;
}

void blas_op_destroy(axle_be_op *op)
{
    free(op);
}
