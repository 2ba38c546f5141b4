/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the OpenBLAS backend share. Products run as calls of a CBLAS library, each on
 * the thread that makes it; work is split over the host's worker pool, so that any library will do
 * and the process has no more busy threads than it was given.
 */
#ifndef AXLE_OPENBLAS_BLAS_H
#define AXLE_OPENBLAS_BLAS_H

#include "axle/backend.h"
#include "axle/backend_ops.h"

#include <stddef.h>

typedef struct blas_library blas_library;

struct axle_be_device {
    const axle_host *host;
    const blas_library *library;
    int32_t workers; /* that scratch memory is sized for */
};

struct axle_be_buffer {
    unsigned char *data;
    uint64_t size;
    int borrowed;
};

/* How one operator is served. */
typedef struct blas_kernel {
    uint32_t op;
    size_t size; /* of the struct that begins with an axle_be_op */
    /* Fill what lies behind the base, and its workspace; 0 where the operands are not served.
     * `desc` and what it points to are valid during the call alone. */
    int (*plan)(axle_be_op *op, const axle_op_desc *desc);
    void (*run)(const axle_be_op *op, const axle_op_args *args);
} blas_kernel;

/* A prepared operator; each kernel's own struct begins with it. */
struct axle_be_op {
    const blas_kernel *kernel;
    const axle_be_device *device;
    uint64_t workspace; /* bytes */
};

extern const blas_kernel blas_matmul, blas_conv, blas_conv_backward_data, blas_conv_backward_weight;

/* ------------------------------------------------------------------ operands */

static inline const axle_view *blas_in(const axle_op_desc *desc, uint32_t k)
{
    return k < desc->n_in ? desc->in[k] : NULL;
}

static inline const axle_view *blas_out(const axle_op_desc *desc, uint32_t k)
{
    return k < desc->n_out ? desc->out[k] : NULL;
}

static inline void *blas_data(const axle_view *view)
{
    return view && view->buffer ? view->buffer->data + view->offset : NULL;
}

static inline const void *blas_in_data(const axle_op_args *args, uint32_t k)
{
    return k < args->n_in ? blas_data(args->in[k]) : NULL;
}

static inline void *blas_out_data(const axle_op_args *args, uint32_t k)
{
    return k < args->n_out ? blas_data(args->out[k]) : NULL;
}

/* Never NULL, so that places in it can be computed where it has no byte. */
static inline unsigned char *blas_workspace(const axle_op_args *args)
{
    static unsigned char none;
    return args->workspace ? args->workspace->data + args->workspace_offset : &none;
}

static inline uint64_t blas_size(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_F64 ? sizeof(double) : sizeof(float);
}

/* Whether a type is served, and whether an operand is absent or has it. */
int blas_is_served(uint32_t dtype);
int blas_has_dtype(const axle_view *view, uint32_t dtype);

/* ------------------------------------------------------------------ arithmetic */

static inline int64_t blas_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t blas_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* For a >= 0 and b > 0. */
static inline int64_t blas_ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Add an array to a layout of workspace; returns its place, in bytes. */
uint64_t blas_reserve(uint64_t *total, int64_t count, uint32_t dtype);

/* ------------------------------------------------------------------ work */

/* Products that are worth a piece of their own on another thread. */
enum { BLAS_GRAIN = 1 << 16 };

/* Run `body` over n items that take `products` multiplications together. */
void blas_parallel(const axle_be_device *device, int64_t n, double products, axle_body body,
                   void *arg);

/* Fill an error and return its code. */
axle_status blas_fail(axle_error *error, axle_status code, const char *format, ...)
    AXLE_PRINTF(3, 4);

#endif
