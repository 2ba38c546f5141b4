/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the oneDNN backend share. Products and convolutions run as oneDNN primitives;
 * what oneDNN lacks, or does slower, runs as OpenMP kernels (kernels/).
 */
#ifndef AXLE_ONEDNN_CPU_H
#define AXLE_ONEDNN_CPU_H

#include "axle/backend.h"
#include "axle/backend_ops.h"

struct axle_be_device {
    const axle_host *host;
    int threads; /* that every operator is prepared for and runs on */
};

struct axle_be_buffer {
    unsigned char *data;
    uint64_t size;
    int borrowed;
};

/* How one operator is served. `desc` and what it points to are valid during the call alone. */
typedef struct cpu_kernel {
    uint32_t op;
    axle_status (*query)(const axle_op_desc *desc, axle_op_info *info);
    axle_status (*prepare)(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                           axle_error *error);
    axle_status (*run)(axle_be_op *op, const axle_op_args *args, axle_error *error);
    void (*release)(axle_be_op *op);
    /* Where query is costly: whether prepare is worth a try. It then fails with
     * AXLE_ERR_UNSUPPORTED where query would have declined. */
    int (*suits)(const axle_op_desc *desc);
} cpu_kernel;

/* A prepared operator; each kernel's own struct begins with it. */
struct axle_be_op {
    const cpu_kernel *kernel;
    axle_be_device *device;
};

/* Tables ended by NULL. The first kernel that supports an operator serves it, and the tables are
 * searched in this order. */
extern const cpu_kernel *const cpu_primitive_kernels[]; /* primitives.c */
extern const cpu_kernel *const cpu_openmp_kernels[];    /* kernels/ */

/* The kernel of a table that serves a description, and its answer in *info; NULL if none does. */
const cpu_kernel *cpu_kernel_find(const cpu_kernel *const *table, const axle_op_desc *desc,
                                  axle_op_info *info);

static inline void *cpu_data(const axle_view *view)
{
    return view && view->buffer ? view->buffer->data + view->offset : NULL;
}

static inline int64_t cpu_count(const axle_view *view)
{
    int64_t count = 1;
    for (uint32_t k = 0; k < view->rank; k++)
        count *= view->dim[k];
    return count;
}

/* Whether a type is a float that computes in f32. */
static inline int cpu_is_float(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_F32 || dtype == AXLE_DTYPE_F16 || dtype == AXLE_DTYPE_BF16;
}

/* Fill an error and return its code. */
axle_status cpu_fail(axle_error *error, axle_status code, const char *format, ...)
    AXLE_PRINTF(3, 4);

#endif
