/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared operators, threads and operand tests of the OpenMP kernels. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

void *cpu_op_create(axle_be_device *device, const cpu_kernel *kernel, size_t size,
                    axle_error *error)
{
    const axle_host *host = device->host;
    axle_be_op *op = host->alloc(host->ctx, size, CPU_LINE);
    if (!op) {
        cpu_fail(error, AXLE_ERR_NOMEM, "no memory for a prepared operator of %zu bytes", size);
        return NULL;
    }
    memset(op, 0, size);
    op->kernel = kernel;
    op->device = device;
    return op;
}

void cpu_op_release(axle_be_op *op)
{
    if (op) {
        const axle_host *host = op->device->host;
        host->free(host->ctx, op);
    }
}

axle_status cpu_op_support(axle_op_info *info, const char *impl, uint64_t workspace_size)
{
    info->support = AXLE_SUPPORT_YES;
    info->workspace_size = workspace_size;
    snprintf(info->impl, sizeof(info->impl), "openmp:%s", impl);
    return AXLE_OK;
}

/* The dispatcher sets this to the device's number of threads around every query, prepare and run.
 */
int32_t cpu_workers(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static void parallel_body(int64_t items, axle_body body, void *arg)
{
#ifdef _OPENMP
    const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
#else
    const int64_t threads = 1, thread = 0;
#endif
    const int64_t begin = items * thread / threads, end = items * (thread + 1) / threads;
    if (begin < end)
        body(arg, begin, end, (int32_t)thread);
}

void cpu_parallel(int64_t items, int64_t work, axle_body body, void *arg)
{
    if (items <= 0)
        return;
    if (items == 1 || work < CPU_PARALLEL_WORK || cpu_workers() == 1) {
        body(arg, 0, items, 0);
        return;
    }
#pragma omp parallel
    parallel_body(items, body, arg);
}

unsigned char *cpu_workspace(const axle_op_args *args)
{
    if (!args->workspace)
        return NULL;
    unsigned char *start = args->workspace->data + args->workspace_offset;
    return start + (CPU_LINE - (uintptr_t)start % CPU_LINE) % CPU_LINE;
}

typedef struct dtype_entry {
    int8_t size, log2, domain;
} dtype_entry;

static const dtype_entry dtypes[DTYPE_LIMIT] = {
    [AXLE_DTYPE_F32] = {4, 2, DOMAIN_F32},  [AXLE_DTYPE_F16] = {2, 1, DOMAIN_F32},
    [AXLE_DTYPE_BF16] = {2, 1, DOMAIN_F32}, [AXLE_DTYPE_F64] = {8, 3, DOMAIN_F64},
    [AXLE_DTYPE_U8] = {1, 0, DOMAIN_I64},   [AXLE_DTYPE_I32] = {4, 2, DOMAIN_I64},
    [AXLE_DTYPE_I64] = {8, 3, DOMAIN_I64},  [AXLE_DTYPE_BOOL] = {1, 0, DOMAIN_I64},
};

int64_t cpu_dtype_size(uint32_t dtype)
{
    return dtype < DTYPE_LIMIT ? dtypes[dtype].size : 0;
}

int32_t cpu_dtype_log2(uint32_t dtype)
{
    return dtype < DTYPE_LIMIT ? dtypes[dtype].log2 : 0;
}

int32_t cpu_dtype_domain(uint32_t dtype)
{
    return cpu_dtype_size(dtype) > 0 ? dtypes[dtype].domain : -1;
}

int cpu_is_dense(const axle_view *view)
{
    int64_t expected = 1;
    for (uint32_t k = view->rank; k-- > 0;) {
        if (view->dim[k] != 1 && view->stride[k] != expected)
            return 0;
        expected *= view->dim[k];
    }
    return 1;
}
