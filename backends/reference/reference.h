/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference backend: every operator in plain C, the specification that other backends are
 * tested against. This header is what its files share.
 *
 * A kernel gets its operands in a ref_call and returns a status. Kernels assume nothing about
 * strides: row-major, channels-last, transposed and repeated operands all pass through the same
 * code, with a fast path where all operands are dense.
 */
#ifndef AXLE_REFERENCE_H
#define AXLE_REFERENCE_H

#include "axle/backend.h"
#include "axle/backend_ops.h"

struct axle_be_device {
    const axle_host *host;
};

struct axle_be_buffer {
    unsigned char *data;
    uint64_t size;
    int borrowed; /* imported: the memory is somebody else's */
    const axle_host *host;
};

typedef struct ref_call {
    const axle_host *host;
    const void *attrs; /* the operator's attribute struct, copied at prepare */
    const axle_op_args *args;
    axle_error *error;
} ref_call;

typedef axle_status (*ref_kernel)(const ref_call *call);

/* Whether a kernel takes these operands: dtypes first of all. Pure and cheap. */
typedef int (*ref_accepts)(const axle_op_desc *desc);

/* One line a kernel, defined at the end of the file that holds the kernel. */
typedef struct ref_entry {
    uint32_t op;
    ref_kernel run;
    ref_accepts accepts;
} ref_entry;

/* First element of a view; NULL for an absent operand. */
static inline void *ref_data(const axle_view *view)
{
    return view && view->buffer ? view->buffer->data + view->offset : NULL;
}

static inline int64_t ref_count(const axle_view *view)
{
    int64_t count = 1;
    for (uint32_t k = 0; k < view->rank; k++)
        count *= view->dim[k];
    return count;
}

/* Fill an error and return its code. */
axle_status ref_fail(axle_error *error, axle_status code, const char *format, ...)
    AXLE_PRINTF(3, 4);

/* Operand k of a list of n; NULL where it is absent. */
static inline const axle_view *ref_operand(const axle_view *const *list, uint32_t n, uint32_t k)
{
    return k < n ? list[k] : NULL;
}

/* Bytes of an element; 0 for a number that is no element type. */
uint32_t ref_dtype_size(uint32_t dtype);

/* Memory from the host's allocator, aligned to 64 bytes; NULL where there is none. */
void *ref_alloc(const axle_host *host, uint64_t size);
void ref_free(const axle_host *host, void *p);

/* Run body over [0, n) on the host's workers; pieces of at least `grain`. A job of one piece stays
 * on the calling thread. */
void ref_parallel(const ref_call *call, int64_t n, int64_t grain, axle_body body, void *arg);

/* Element conversions, exact or rounded to nearest even. */
float ref_f16_to_f32(uint16_t bits);
uint16_t ref_f32_to_f16(float value);
static inline float ref_bf16_to_f32(uint16_t bits)
{
    union {
        uint32_t u;
        float f;
    } v = {(uint32_t)bits << 16};
    return v.f;
}
uint16_t ref_f32_to_bf16(float value);
/* Rounded once, where going through f32 would round twice. */
uint16_t ref_f64_to_f16(double value);
uint16_t ref_f64_to_bf16(double value);

/* The function of a unary kind that may follow a product, or NULL if it may not. */
typedef double (*ref_activation)(double x);
ref_activation ref_activation_of(uint32_t unary_kind);

/* Philox4x32-10: the block of counter `counter` (128 bits, high half 0) under `seed`. */
void ref_philox(uint64_t seed, uint64_t counter, uint32_t out[4]);

#endif
