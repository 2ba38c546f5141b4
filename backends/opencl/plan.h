/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an operator's description to the kernels that do it.
 *
 * A planner adds steps, one kernel launch each, and the arguments of each step. The same planner
 * answers op_query: then nothing is compiled, and only the workspace is added up. Errors stick to
 * the plan, and one check at the end is enough.
 *
 * Every kernel begins with the arguments (TABLE) of kernels/prelude.cl: the numbers that were put
 * after its step began. A buffer is two arguments, the memory and an offset in elements.
 */
#ifndef AXLE_OPENCL_PLAN_H
#define AXLE_OPENCL_PLAN_H

#include "clblast.h"
#include "map.h"
#include "opencl.h"

enum { OCL_MOST_STEPS = 12, OCL_MOST_ARGS = 30, OCL_MOST_NUMBERS = 1024, OCL_SCALARS = 12 };

typedef enum ocl_arg_kind {
    OCL_ARG_IN,
    OCL_ARG_OUT,
    OCL_ARG_WORK,
    OCL_ARG_TABLE,
    OCL_ARG_FAULT,
    OCL_ARG_REAL,
    OCL_ARG_RANDOM, /* seed and number of the first element */
    OCL_ARG_SCALARS
} ocl_arg_kind;

typedef struct ocl_arg {
    ocl_arg_kind kind;
    uint32_t index;  /* operand; WORK: bytes of an element; REAL: 8 for double, else 4 */
    uint64_t offset; /* WORK: bytes; TABLE: numbers */
    double real;
} ocl_arg;

typedef struct ocl_step {
    cl_kernel kernel;
    size_t global, local;
    int n_args;
    ocl_arg args[OCL_MOST_ARGS];
    ocl_gemm gemm; /* instead of a kernel: inputs 0 and 1 into output 0 */
} ocl_step;

/* Per-call values as numbers for the kernel. */
typedef void (*ocl_scalars_fn)(const void *attrs, const void *scalars, double out[OCL_SCALARS]);

typedef union ocl_attrs {
    uint32_t struct_size;
    axle_fill_attrs fill;
    axle_arange_attrs arange;
    axle_random_attrs random;
    axle_unary_attrs unary;
    axle_binary_attrs binary;
    axle_reduce_attrs reduce;
    axle_arg_reduce_attrs arg_reduce;
    axle_matmul_attrs matmul;
    axle_conv_attrs conv;
    axle_pool_attrs pool;
    axle_softmax_attrs softmax;
    axle_cross_entropy_attrs cross_entropy;
    axle_layer_norm_attrs layer_norm;
    axle_batch_norm_attrs batch_norm;
    axle_group_norm_attrs group_norm;
    axle_dropout_attrs dropout;
    axle_embedding_attrs embedding;
    axle_index_attrs index;
    axle_attention_attrs attention;
    axle_sgd_attrs sgd;
    axle_adam_attrs adam;
    axle_rmsprop_attrs rmsprop;
} ocl_attrs;

struct axle_be_op {
    axle_be_device *device;
    pthread_mutex_t lock; /* over the kernels' arguments */
    uint32_t op;
    int may_fault;
    int f64; /* real numbers are doubles */
    ocl_attrs attrs;
    ocl_scalars_fn scalars;
    cl_mem table;
    int n_steps;
    ocl_step steps[OCL_MOST_STEPS];
};

typedef struct ocl_plan {
    axle_be_device *device;
    axle_error *error;
    axle_status status;
    int dry; /* op_query: compile nothing */
    const axle_op_desc *desc;
    uint32_t only; /* candidates for a product (tune.h), 0 for all that fit */
    uint32_t op, n_in, n_out;
    const axle_view *in[AXLE_OP_MAX_IN], *out[AXLE_OP_MAX_OUT];
    ocl_attrs attrs;
    uint32_t real; /* AXLE_DTYPE_F32 or F64: what kernels compute in */
    uint64_t workspace;
    const char *impl;
    axle_be_op *prepared; /* steps go here; scratch space when dry */
    int64_t numbers[OCL_MOST_NUMBERS];
    int n_numbers;
    int skip; /* the current step has no item */
} ocl_plan;

/* Adds the steps of one operator; 0 where it does not take these operands. */
typedef int (*ocl_planner)(ocl_plan *plan);

/* Begin a step of `items` work-items, of which about `local` form a group. The step gets the
 * options of the format; `-DREAL=` is added. */
void ocl_step_begin(ocl_plan *plan, const char *files, const char *kernel, int64_t items,
                    uint32_t local, const char *options, ...) AXLE_PRINTF(6, 7);
void ocl_put(ocl_plan *plan, int64_t number);
void ocl_put_map(ocl_plan *plan, const ocl_map *map);
void ocl_arg_in(ocl_plan *plan, uint32_t k);
void ocl_arg_out(ocl_plan *plan, uint32_t k);
void ocl_arg_work(ocl_plan *plan, uint64_t offset, uint32_t element);
void ocl_arg_fault(ocl_plan *plan);
void ocl_arg_real(ocl_plan *plan, double value); /* in the plan's real type */
void ocl_arg_wide(ocl_plan *plan, double value); /* in the widest type that the device has */
void ocl_arg_random(ocl_plan *plan);
void ocl_arg_scalars(ocl_plan *plan, ocl_scalars_fn fn);

/* A product by CLBlast as a step. */
void ocl_step_gemm(ocl_plan *plan, const ocl_gemm *gemm);

/* Room for `count` elements in the workspace: its offset. */
uint64_t ocl_work(ocl_plan *plan, int64_t count, uint32_t element);

/* Bytes of the types real and wide of the kernels. */
static inline uint32_t ocl_real_size(const ocl_plan *plan)
{
    return plan->real == AXLE_DTYPE_F64 ? 8 : 4;
}
static inline uint32_t ocl_wide_size(const ocl_plan *plan)
{
    return plan->device->about.has_f64 ? 8 : 4;
}

static inline int ocl_on_cpu(const ocl_plan *plan)
{
    return (plan->device->about.type & CL_DEVICE_TYPE_CPU) != 0;
}

/* Work-items that keep the whole device busy. */
int64_t ocl_busy(const ocl_plan *plan);

/* The name of an element type in options, and of the type that only moves its bits. */
const char *ocl_dtype(const axle_view *view);
const char *ocl_bits(const axle_view *view);
uint32_t ocl_dtype_size(uint32_t dtype);
/* The name of a view's type, or of `absent`. */
const char *ocl_dtype_or(const axle_view *view, const char *absent);

/* Masks for ocl_is, as bits of element types. */
enum {
    OCL_FLOATS =
        1 << AXLE_DTYPE_F32 | 1 << AXLE_DTYPE_F16 | 1 << AXLE_DTYPE_BF16 | 1 << AXLE_DTYPE_F64,
    OCL_INTEGERS = 1 << AXLE_DTYPE_U8 | 1 << AXLE_DTYPE_I32 | 1 << AXLE_DTYPE_I64,
    OCL_BOOLEANS = 1 << AXLE_DTYPE_BOOL,
    OCL_INDICES = 1 << AXLE_DTYPE_I32 | 1 << AXLE_DTYPE_I64,
    OCL_NUMBERS = OCL_FLOATS | OCL_INTEGERS,
    OCL_ANY = OCL_NUMBERS | OCL_BOOLEANS
};

/* The name of what may follow a product, or NULL for kinds that may not (matmul.c). */
const char *ocl_activation(uint32_t kind);

static inline int ocl_is(const axle_view *view, uint32_t mask)
{
    return view && view->dtype <= AXLE_DTYPE_BOOL && (mask >> view->dtype & 1);
}

static inline int ocl_same(const axle_view *view, const axle_view *other)
{
    return other && other->dtype == view->dtype;
}

/*
 * Whether the operands have the types that `in` and `out` say, a letter an operand: f the float
 * type of the first input (the base), r any float type, s the base's statistics type, i an index,
 * j i32, m bool or the base. A letter followed by ? may be absent.
 */
int ocl_signature_fits(const ocl_plan *plan, const char *in, const char *out);

#endif
