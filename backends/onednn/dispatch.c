/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel serves an operator, and on how many threads it does. */
#include "slots.h"

#include <inttypes.h>
#include <omp.h>
#include <string.h>

/*
 * Primitives and workspaces are sized for a number of threads when they are prepared, so every run
 * must find the same number, whatever the calling thread was told. The caller's own number comes
 * back afterwards.
 */
static int threads_enter(const axle_be_device *device)
{
    const int before = omp_get_max_threads();
    if (before != device->threads)
        omp_set_num_threads(device->threads);
    return before;
}

static void threads_leave(const axle_be_device *device, int before)
{
    if (before != device->threads)
        omp_set_num_threads(before);
}

const cpu_kernel *cpu_kernel_find(const cpu_kernel *const *table, const axle_op_desc *desc,
                                  axle_op_info *info)
{
    const axle_op_info asked = *info;
    for (; *table; table++) {
        if ((*table)->op != desc->op)
            continue;
        *info = asked;
        if ((*table)->query(desc, info) == AXLE_OK && info->support == AXLE_SUPPORT_YES)
            return *table;
    }
    *info = asked;
    return NULL;
}

static const cpu_kernel *find(const axle_op_desc *desc, axle_op_info *info)
{
    const cpu_kernel *kernel = cpu_kernel_find(cpu_primitive_kernels, desc, info);
    return kernel ? kernel : cpu_kernel_find(cpu_openmp_kernels, desc, info);
}

axle_status cpu_op_query(axle_be_device *device, const axle_op_desc *desc, axle_op_info *info)
{
    axle_op_info whole = {.struct_size = sizeof(whole)};
    const uint32_t size = info->struct_size;
    const int before = threads_enter(device);
    if (!find(desc, &whole))
        whole = (axle_op_info){.support = AXLE_SUPPORT_NO};
    threads_leave(device, before);
    whole.struct_size = size;
    memcpy(info, &whole, size < sizeof(whole) ? size : sizeof(whole));
    return AXLE_OK;
}

static int suits(const cpu_kernel *kernel, const axle_op_desc *desc)
{
    if (kernel->op != desc->op)
        return 0;
    if (kernel->suits)
        return kernel->suits(desc);
    axle_op_info info = {.struct_size = sizeof(info)};
    return kernel->query(desc, &info) == AXLE_OK && info.support == AXLE_SUPPORT_YES;
}

/* The same kernel as find() tells, without planning everything twice. */
static axle_status prepare_first(const cpu_kernel *const *table, axle_be_device *device,
                                 const axle_op_desc *desc, axle_be_op **out, axle_error *error)
{
    for (; *table; table++) {
        if (!suits(*table, desc))
            continue;
        const axle_status status = (*table)->prepare(device, desc, out, error);
        if (status != AXLE_ERR_UNSUPPORTED)
            return status;
    }
    return cpu_fail(error, AXLE_ERR_UNSUPPORTED,
                    "onednn: operator %" PRIu32 " is not supported for these operands", desc->op);
}

axle_status cpu_op_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                           axle_error *error)
{
    const int before = threads_enter(device);
    axle_status status = prepare_first(cpu_primitive_kernels, device, desc, out, error);
    if (status == AXLE_ERR_UNSUPPORTED)
        status = prepare_first(cpu_openmp_kernels, device, desc, out, error);
    threads_leave(device, before);
    return status;
}

axle_status cpu_op_run(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                       axle_error *error)
{
    (void)queue; /* There is one, and it is synchronous. */
    const int before = threads_enter(op->device);
    const axle_status status = op->kernel->run(op, args, error);
    threads_leave(op->device, before);
    return status;
}

void cpu_op_destroy(axle_be_op *op)
{
    if (op)
        op->kernel->release(op);
}
