/* SPDX-License-Identifier: Apache-2.0 */
/* Operators as users call them, with operands of usual sizes. */
#include "bench_op.h"

/* ------------------------------------------------------------------ operands */

/* Numbers in [0.1, 0.9), where every function is defined. */
static axle_tensor *numbers(int dtype, int rank, const int64_t *dims)
{
    return axle_cast(axle_affine(axle_rand(AXLE_DTYPE_F32, rank, dims), 0.8, 0.1), dtype);
}

/* Positions in [0, bound), in no order. */
static axle_tensor *positions(int rank, const int64_t *dims, int64_t bound)
{
    axle_tensor *u = axle_rand(AXLE_DTYPE_F64, rank, dims);
    return axle_cast(axle_mul_scalar(u, (double)bound), AXLE_DTYPE_I64);
}

static void make_none(op_operands *o)
{
    (void)o;
}

static void make_one(op_operands *o)
{
    o->in[0] = numbers(o->dtype, o->rank, o->dim);
}

static void make_two(op_operands *o)
{
    make_one(o);
    o->in[1] = numbers(o->dtype, o->rank, o->dim);
}

static void make_choice(op_operands *o)
{
    make_two(o);
    o->in[2] = axle_gt(o->in[0], o->in[1]);
}

static void make_product(op_operands *o)
{
    o->in[0] = numbers(o->dtype, AXLE_DIMS(o->dim[0], o->dim[1]));
    o->in[1] = numbers(o->dtype, AXLE_DIMS(o->dim[1], o->dim[2]));
}

/* Pictures, and one number a channel, for norms. */
static void make_channels(op_operands *o)
{
    make_one(o);
    for (int k = 1; k < 3; k++)
        o->in[k] = numbers(o->dtype, AXLE_DIMS(o->dim[1]));
}

/* One number a column. */
static void make_columns(op_operands *o)
{
    make_one(o);
    for (int k = 1; k < 3; k++)
        o->in[k] = numbers(o->dtype, AXLE_DIMS(o->dim[o->rank - 1]));
}

static void make_classes(op_operands *o)
{
    make_one(o);
    o->in[1] = positions(AXLE_DIMS(o->dim[0]), o->dim[1]);
}

static void make_attention(op_operands *o)
{
    for (int k = 0; k < 3; k++)
        o->in[k] = numbers(o->dtype, 4, o->dim);
}

static void make_embedding(op_operands *o)
{
    o->in[0] = numbers(o->dtype, AXLE_DIMS(o->dim[0], o->dim[1]));
    o->in[1] = positions(AXLE_DIMS(o->dim[2]), o->dim[0]);
}

/* A matrix, and positions of its rows for each of its elements. */
static void make_gather(op_operands *o)
{
    make_one(o);
    o->in[1] = positions(2, o->dim, o->dim[0]);
}

static void make_scatter(op_operands *o)
{
    make_gather(o);
    o->in[2] = numbers(o->dtype, 2, o->dim);
}

static void make_rows(op_operands *o)
{
    make_one(o);
    o->in[1] = positions(AXLE_DIMS(o->dim[0]), o->dim[0]);
}

static void make_ids(op_operands *o)
{
    o->in[0] = positions(AXLE_DIMS(o->dim[0]), o->dim[1]);
}

static void make_sgd(op_operands *o)
{
    bench_optimizer_create("sgd", o->dim[0], &o->optimizer);
}

static void make_adam(op_operands *o)
{
    bench_optimizer_create("adam", o->dim[0], &o->optimizer);
}

static void make_rmsprop(op_operands *o)
{
    bench_optimizer_create("rmsprop", o->dim[0], &o->optimizer);
}

/* ------------------------------------------------------------------ calls */

#define UNARY_LIST(X)                                                                              \
    X(neg) X(abs) X(square) X(sqrt) X(exp) X(log) X(sin) X(tanh) X(sigmoid) X(relu) X(gelu) X(silu)
#define BINARY_LIST(X) X(add) X(mul) X(div) X(maximum) X(pow)

#define CALL(name, call)                                                                           \
    static axle_tensor *name(op_operands *o)                                                       \
    {                                                                                              \
        return (call);                                                                             \
    }
#define UNARY_CALL(name) CALL(call_##name, axle_##name(o->in[0]))
#define BINARY_CALL(name) CALL(call_##name, axle_##name(o->in[0], o->in[1]))
UNARY_LIST(UNARY_CALL)
BINARY_LIST(BINARY_CALL)
CALL(call_copy, axle_clone(o->in[0]))
CALL(call_fill, axle_full(o->dtype, o->rank, o->dim, 0.5))
CALL(call_arange, axle_arange(o->dtype, 0.0, (double)o->dim[0], 1.0))
CALL(call_random, axle_rand(o->dtype, o->rank, o->dim))
CALL(call_where, axle_where(o->in[2], o->in[0], o->in[1]))
CALL(call_sum, axle_sum(o->in[0], 1, (const int[]){-1}, 0))
CALL(call_sum_rows, axle_sum(o->in[0], 1, (const int[]){0}, 0))
CALL(call_max, axle_max(o->in[0], 1, (const int[]){-1}, 0))
CALL(call_argmax, axle_argmax(o->in[0], -1, 0))
CALL(call_matmul, axle_matmul(o->in[0], o->in[1]))
CALL(call_max_pool, axle_max_pool(o->in[0], NULL))
CALL(call_avg_pool, axle_avg_pool(o->in[0], NULL))
CALL(call_interpolate, axle_interpolate(o->in[0], (const int64_t[]){2 * o->dim[2], 2 * o->dim[3]}))
CALL(call_softmax, axle_softmax(o->in[0], -1))
CALL(call_log_softmax, axle_log_softmax(o->in[0], -1))
CALL(call_cross_entropy, axle_cross_entropy(o->in[0], o->in[1], NULL))
CALL(call_layer_norm, axle_layer_norm(o->in[0], 1, o->in[1], o->in[2], 1e-5))
CALL(call_rms_norm, axle_rms_norm(o->in[0], o->in[1], 1e-5))
CALL(call_batch_norm, axle_batch_norm(o->in[0], o->in[1], o->in[2], NULL, NULL, 1, 0.1, 1e-5))
CALL(call_group_norm, axle_group_norm(o->in[0], 8, o->in[1], o->in[2], 1e-5))
CALL(call_dropout, axle_dropout(o->in[0], 0.1))
CALL(call_embedding, axle_embedding(o->in[0], o->in[1], -1))
CALL(call_gather, axle_gather(o->in[0], 0, o->in[1]))
CALL(call_scatter, axle_scatter(o->in[0], 0, o->in[1], o->in[2]))
CALL(call_scatter_add, axle_scatter_add(o->in[0], 0, o->in[1], o->in[2]))
CALL(call_index_select, axle_index_select(o->in[0], 0, o->in[1]))
CALL(call_one_hot, axle_one_hot(o->in[0], o->dim[1], o->dtype))
CALL(call_attention, axle_attention(o->in[0], o->in[1], o->in[2], NULL, NULL))

/* relu((2x + 1) * w + x): 2 + 3 + 3 + 2 elements read or written for one of the shape. */
CALL(call_chain, axle_relu(axle_add(axle_mul(axle_affine(o->in[0], 2.0, 1.0), o->in[1]), o->in[0])))

static double flops_matmul(const op_operands *o)
{
    return 2.0 * (double)o->dim[0] * (double)o->dim[1] * (double)o->dim[2];
}

/* Two products of (L, D) with (D, S), L = S. */
static double flops_attention(const op_operands *o)
{
    return 4.0 * (double)o->dim[0] * (double)o->dim[1] * (double)o->dim[2] * (double)o->dim[2] *
           (double)o->dim[3];
}

/* ------------------------------------------------------------------ the table */

#define VECTOR "AxBx...", "4194304", 1, AXLE_MAX_RANK
#define LENGTH "N", "4194304", 1, 1
#define MATRIX "ROWSxCOLUMNS", "4096x1024", 2, 2
#define TALL "ROWSxCOLUMNS", "65536x64", 2, 2
#define IMAGES "NxCxHxW", "32x64x56x56", 4, 4

#define UNARY_ENTRY(name) {#name, VECTOR, make_one, call_##name, NULL, 1, 0},
#define BINARY_ENTRY(name) {#name, VECTOR, make_two, call_##name, NULL, 1, 0},

const op_entry op_entries[] = {
    {"chain", VECTOR, make_two, call_chain, NULL, 0, 10},
    {"copy", VECTOR, make_one, call_copy, NULL, 0, 0},
    {"fill", VECTOR, make_none, call_fill, NULL, 0, 0},
    {"arange", LENGTH, make_none, call_arange, NULL, 0, 0},
    {"random", VECTOR, make_none, call_random, NULL, 0, 0},
    UNARY_LIST(UNARY_ENTRY)
        BINARY_LIST(BINARY_ENTRY){"where", VECTOR, make_choice, call_where, NULL, 1, 0},
    {"sum", MATRIX, make_one, call_sum, NULL, 1, 0},
    {"sum_rows", MATRIX, make_one, call_sum_rows, NULL, 1, 0},
    {"max", MATRIX, make_one, call_max, NULL, 1, 0},
    {"argmax", MATRIX, make_one, call_argmax, NULL, 0, 0},
    {"matmul", "MxKxN", "1024x1024x1024", 3, 3, make_product, call_matmul, flops_matmul, 1, 0},
    {"max_pool", IMAGES, make_one, call_max_pool, NULL, 1, 0},
    {"avg_pool", IMAGES, make_one, call_avg_pool, NULL, 1, 0},
    {"interpolate", "NxCxHxW", "32x64x28x28", 4, 4, make_one, call_interpolate, NULL, 1, 0},
    {"softmax", MATRIX, make_one, call_softmax, NULL, 1, 0},
    {"log_softmax", MATRIX, make_one, call_log_softmax, NULL, 1, 0},
    {"cross_entropy", MATRIX, make_classes, call_cross_entropy, NULL, 1, 0},
    {"layer_norm", MATRIX, make_columns, call_layer_norm, NULL, 1, 0},
    {"rms_norm", MATRIX, make_columns, call_rms_norm, NULL, 1, 0},
    {"batch_norm", IMAGES, make_channels, call_batch_norm, NULL, 1, 0},
    {"group_norm", IMAGES, make_channels, call_group_norm, NULL, 1, 0},
    {"dropout", VECTOR, make_one, call_dropout, NULL, 1, 0},
    {"embedding", "ROWSxCOLUMNSxIDS", "30000x256x8192", 3, 3, make_embedding, call_embedding, NULL,
     1, 0},
    {"gather", TALL, make_gather, call_gather, NULL, 1, 0},
    {"scatter", TALL, make_scatter, call_scatter, NULL, 1, 0},
    {"scatter_add", TALL, make_scatter, call_scatter_add, NULL, 1, 0},
    {"index_select", TALL, make_rows, call_index_select, NULL, 1, 0},
    {"one_hot", "NxCLASSES", "4096x1024", 2, 2, make_ids, call_one_hot, NULL, 0, 0},
    {"attention", "BxHxLxD", "4x8x256x64", 4, 4, make_attention, call_attention, flops_attention, 1,
     0},
    {"sgd", LENGTH, make_sgd, NULL, NULL, 0, 5},
    {"adam", LENGTH, make_adam, NULL, NULL, 0, 7},
    {"rmsprop", LENGTH, make_rmsprop, NULL, NULL, 0, 5},
};
const int op_entry_count = sizeof(op_entries) / sizeof(op_entries[0]);
