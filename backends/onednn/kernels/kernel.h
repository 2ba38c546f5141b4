/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the drivers of the OpenMP kernels share: prepared operators, threads, operand tests.
 *
 * A driver decides once, when it prepares, which loops of which instruction set will do the work
 * and how it is cut. Work is cut into blocks whose size does not depend on the number of threads,
 * and partial sums are combined in the order of the blocks: results are the same bits on any number
 * of threads.
 */
#ifndef AXLE_ONEDNN_KERNEL_H
#define AXLE_ONEDNN_KERNEL_H

#include "../cpu.h"
#include "loops.h"

/* Tables of drivers, one an operator. */
#define KERNEL_LIST(X)                                                                             \
    X(copy)                                                                                        \
    X(fill)                                                                                        \
    X(arange)                                                                                      \
    X(random)                                                                                      \
    X(unary)                                                                                       \
    X(unary_backward)                                                                              \
    X(binary)                                                                                      \
    X(where)                                                                                       \
    X(reduce)                                                                                      \
    X(arg_reduce)                                                                                  \
    X(pool)                                                                                        \
    X(pool_backward)                                                                               \
    X(interpolate)                                                                                 \
    X(interpolate_backward)                                                                        \
    X(softmax)                                                                                     \
    X(softmax_backward)                                                                            \
    X(cross_entropy)                                                                               \
    X(cross_entropy_backward)                                                                      \
    X(layer_norm)                                                                                  \
    X(layer_norm_backward)                                                                         \
    X(batch_norm)                                                                                  \
    X(batch_norm_backward)                                                                         \
    X(group_norm)                                                                                  \
    X(group_norm_backward)                                                                         \
    X(dropout)                                                                                     \
    X(embedding)                                                                                   \
    X(embedding_backward)                                                                          \
    X(gather)                                                                                      \
    X(scatter)                                                                                     \
    X(index_select)                                                                                \
    X(index_add)                                                                                   \
    X(one_hot)                                                                                     \
    X(attention)                                                                                   \
    X(attention_backward)                                                                          \
    X(sgd)                                                                                         \
    X(adam)                                                                                        \
    X(rmsprop)
#define KERNEL_DECLARE(name) extern const cpu_kernel cpu_kernel_##name;
KERNEL_LIST(KERNEL_DECLARE)
#undef KERNEL_DECLARE

/* The loops for this machine, or those that option "onednn.isa" names if the machine has them.
 * oneDNN's own primitives are not among them; ONEDNN_MAX_CPU_ISA limits those. */
const cpu_loops *cpu_loops_choose(const axle_host *host);

/* A prepared operator of `size` bytes, zero but for its head; NULL and an error where memory is
 * out. */
void *cpu_op_create(axle_be_device *device, const cpu_kernel *kernel, size_t size,
                    axle_error *error);
void cpu_op_release(axle_be_op *op);

/* Answer a query with yes. */
axle_status cpu_op_support(axle_op_info *info, const char *impl, uint64_t workspace_size);

/* ------------------------------------------------------------------ threads */

/* How many workers a parallel run has: the same number when an operator is asked for, prepared and
 * run, so that workspaces can be sized by it. */
int32_t cpu_workers(void);

/* Run body over [0, items). `work` is about the number of elements touched: little work stays on
 * the caller's thread. Each worker gets one contiguous range. */
void cpu_parallel(int64_t items, int64_t work, axle_body body, void *arg);

/* Below this many elements, waking other threads costs more than they bring. */
enum { CPU_PARALLEL_WORK = 24576 };

/* ------------------------------------------------------------------ workspace */

/* Workspaces begin on a cache line and parts of them stay on cache lines. */
enum { CPU_LINE = 64 };

static inline size_t cpu_round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Reserve `size` bytes in a workspace that is being laid out; returns where they begin. */
static inline size_t cpu_reserve(size_t *total, size_t size)
{
    const size_t start = *total;
    *total = cpu_round_up(start + size, CPU_LINE);
    return start;
}

/* Bytes to ask of the core for a layout of `total` bytes. */
static inline uint64_t cpu_workspace_size(size_t total)
{
    return total + CPU_LINE;
}

/* The aligned start of the workspace of a call; NULL where none was asked for. */
unsigned char *cpu_workspace(const axle_op_args *args);

/* ------------------------------------------------------------------ operands */

static inline const axle_view *cpu_in(const axle_op_desc *desc, uint32_t k)
{
    return k < desc->n_in ? desc->in[k] : NULL;
}

static inline const axle_view *cpu_out(const axle_op_desc *desc, uint32_t k)
{
    return k < desc->n_out ? desc->out[k] : NULL;
}

static inline void *cpu_in_data(const axle_op_args *args, uint32_t k)
{
    return k < args->n_in ? cpu_data(args->in[k]) : NULL;
}

static inline void *cpu_out_data(const axle_op_args *args, uint32_t k)
{
    return k < args->n_out ? cpu_data(args->out[k]) : NULL;
}

static inline int64_t cpu_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t cpu_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t cpu_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Bytes of an element; 0 of an unknown type. */
int64_t cpu_dtype_size(uint32_t dtype);
/* log2 of it. */
int32_t cpu_dtype_log2(uint32_t dtype);
/* The domain in which a type computes; negative of an unknown type. */
int32_t cpu_dtype_domain(uint32_t dtype);

/* Whether a type is f32 or a half, which is what computes in f32. */
static inline int cpu_is_f32_like(uint32_t dtype)
{
    return cpu_dtype_domain(dtype) == DOMAIN_F32;
}

/* Whether the elements lie one after the other in row-major order. */
int cpu_is_dense(const axle_view *view);

/* Element k of storage of i32 or i64. */
static inline int64_t cpu_index_at(const void *data, uint32_t dtype, int64_t k)
{
    return dtype == AXLE_DTYPE_I32 ? ((const int32_t *)data)[k] : ((const int64_t *)data)[k];
}

static inline int cpu_is_index(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_I32 || dtype == AXLE_DTYPE_I64;
}

#endif
