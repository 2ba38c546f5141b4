/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products that are not worth a primitive: those of a few thousand terms, which take less time than
 * oneDNN needs to begin, and those that oneDNN does not take, such as empty ones.
 */
#include "activation.h"
#include "kernels/half.h"
#include "matmul_shape.h"
#include "primitives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Up to so many products of two elements. No operand of such a product has more elements. */
enum { DIRECT_TERMS = 1024, BLOCK = 64 };

/* Dense elements of an element type to and from ones `stride` apart. */
typedef void (*load_fn)(const void *data, int64_t first, int64_t stride, float *to, int64_t n);
typedef void (*store_fn)(const float *from, void *data, int64_t first, int64_t stride, int64_t n);

#define ELEMENT(name, type, read, write)                                                           \
    static void load_##name(const void *data, int64_t first, int64_t stride, float *to, int64_t n) \
    {                                                                                              \
        const type *from = (const type *)data + first;                                             \
        for (int64_t k = 0; k < n; k++)                                                            \
            to[k] = read(from[k * stride]);                                                        \
    }                                                                                              \
    static void store_##name(const float *from, void *data, int64_t first, int64_t stride,         \
                             int64_t n)                                                            \
    {                                                                                              \
        type *to = (type *)data + first;                                                           \
        for (int64_t k = 0; k < n; k++)                                                            \
            to[k * stride] = write(from[k]);                                                       \
    }

ELEMENT(f32, float, (float), (float))
ELEMENT(f16, uint16_t, f16_to_f32, f32_to_f16)
ELEMENT(bf16, uint16_t, bf16_to_f32, f32_to_bf16)

typedef struct element {
    load_fn load;
    store_fn store;
    int64_t size;
} element;

static const element elements[] = {
    [AXLE_DTYPE_F32] = {load_f32, store_f32, 4},
    [AXLE_DTYPE_F16] = {load_f16, store_f16, 2},
    [AXLE_DTYPE_BF16] = {load_bf16, store_bf16, 2},
};

typedef struct direct_op {
    axle_be_op base;
    matmul_shape shape;
    element type;
    float alpha;
    activation_fn activation; /* NULL: none */
    int accumulate;
} direct_op;

/* Where the current matrices of a run begin. */
typedef struct matrices {
    const unsigned char *in[MATMUL_BIAS + 1];
    unsigned char *y;
} matrices;

/* acc (columns) = a (k) . b (k, columns), b stored by rows. */
static void multiply(float *acc, int64_t columns, int64_t k, const float *a, const float *b,
                     int64_t b_row)
{
    for (int64_t j = 0; j < columns; j++)
        acc[j] = 0.0f;
    for (int64_t p = 0; p < k; p++) {
        const float factor = a[p];
        const float *row = b + p * b_row;
#pragma omp simd
        for (int64_t j = 0; j < columns; j++)
            acc[j] += factor * row[j];
    }
}

/* Columns [first, first + columns) of row i of y, from their sums. */
static void finish(const direct_op *op, float *acc, int64_t columns, const matrices *at, int64_t i,
                   int64_t first)
{
    const matmul_operand *bias = &op->shape.operand[MATMUL_BIAS], *y = &op->shape.operand[MATMUL_Y];
    const int64_t place = i * y->row + first * y->column;
    float addend[BLOCK];
    for (int64_t j = 0; j < columns; j++)
        acc[j] *= op->alpha;
    if (bias->dtype) {
        op->type.load(at->in[MATMUL_BIAS], i * bias->row + first * bias->column, bias->column,
                      addend, columns);
        for (int64_t j = 0; j < columns; j++)
            acc[j] += addend[j];
    }
    if (op->accumulate) {
        op->type.load(at->y, place, y->column, addend, columns);
        for (int64_t j = 0; j < columns; j++)
            acc[j] += addend[j];
    }
    for (int64_t j = 0; j < columns && op->activation; j++)
        acc[j] = op->activation(acc[j]);
    op->type.store(acc, at->y, place, y->column, columns);
}

/* b is used where it lies if it can be, else it is packed; `room` is where. */
static const float *pack(const direct_op *op, const void *b, float *room, int64_t *row)
{
    const matmul_shape *s = &op->shape;
    const matmul_operand *o = &s->operand[MATMUL_B];
    if (o->dtype == AXLE_DTYPE_F32 && (o->column == 1 || s->n == 1)) {
        *row = o->row;
        return b;
    }
    for (int64_t p = 0; p < s->k; p++)
        op->type.load(b, p * o->row, o->column, room + p * s->n, s->n);
    *row = s->n;
    return room;
}

static void run_matrix(const direct_op *op, const matrices *at)
{
    const matmul_shape *s = &op->shape;
    const matmul_operand *a = &s->operand[MATMUL_A];
    float b_room[DIRECT_TERMS], a_room[DIRECT_TERMS], acc[BLOCK];
    int64_t b_row = 0;
    const float *b = s->k > 0 ? pack(op, at->in[MATMUL_B], b_room, &b_row) : NULL;
    for (int64_t i = 0; i < s->m; i++) {
        if (s->k > 0)
            op->type.load(at->in[MATMUL_A], i * a->row, a->column, a_room, s->k);
        for (int64_t first = 0; first < s->n; first += BLOCK) {
            const int64_t columns = s->n - first < BLOCK ? s->n - first : BLOCK;
            multiply(acc, columns, s->k, a_room, b ? b + first : NULL, b_row);
            finish(op, acc, columns, at, i, first);
        }
    }
}

/* All matrices from batch dim `level` inwards. */
static void run_batch(const direct_op *op, uint32_t level, matrices at)
{
    if (level == op->shape.n_batch) {
        run_matrix(op, &at);
        return;
    }
    for (int64_t i = 0; i < op->shape.batch[level]; i++) {
        run_batch(op, level + 1, at);
        for (int o = 0; o <= MATMUL_BIAS; o++)
            if (at.in[o])
                at.in[o] += op->shape.operand[o].batch[level] * op->type.size;
        at.y += op->shape.operand[MATMUL_Y].batch[level] * op->type.size;
    }
}

static axle_status run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    (void)error;
    const direct_op *op = (const direct_op *)base;
    matrices at = {.y = cpu_data(args->out[0])};
    if (!at.y)
        return AXLE_OK; /* nothing to compute */
    for (int o = 0; o <= MATMUL_BIAS; o++)
        if (op->shape.operand[o].dtype)
            at.in[o] = cpu_data(args->in[op->shape.operand[o].index]);
    run_batch(op, 0, at);
    return AXLE_OK;
}

/* A factor of 0, as in BLAS, means that there is no product; one whose reciprocal overflows is as
 * good as 0. */
static void read_shape(matmul_shape *shape, const axle_op_desc *desc)
{
    const axle_matmul_attrs *attrs = desc->attrs;
    matmul_shape_read(shape, desc);
    if (!isfinite(1.0f / (float)attrs->alpha))
        shape->k = 0;
}

static double terms(const matmul_shape *shape)
{
    double count = (double)shape->m * (double)shape->n * (double)shape->k;
    for (uint32_t k = 0; k < shape->n_batch; k++)
        count *= (double)shape->batch[k];
    return count;
}

static axle_status query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_matmul_attrs *attrs = desc->attrs;
    if (!cpu_is_float(desc->out[0]->dtype) || !activation_is_known(attrs->activation))
        return AXLE_OK;
    matmul_shape shape;
    read_shape(&shape, desc);
    if (terms(&shape) > DIRECT_TERMS)
        return AXLE_OK;
    info->support = AXLE_SUPPORT_YES;
    snprintf(info->impl, sizeof(info->impl), "openmp:matmul_direct");
    return AXLE_OK;
}

static axle_status prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                           axle_error *error)
{
    const axle_matmul_attrs *attrs = desc->attrs;
    direct_op *op = malloc(sizeof(*op));
    if (!op)
        return cpu_fail(error, AXLE_ERR_NOMEM, "onednn: no memory for a prepared product");
    *op =
        (direct_op){.base = {.kernel = &cpu_matmul_direct, .device = device},
                    .type = elements[desc->out[0]->dtype],
                    .alpha = (float)attrs->alpha,
                    .activation = attrs->activation ? activation_function(attrs->activation) : NULL,
                    .accumulate = attrs->accumulate != 0};
    read_shape(&op->shape, desc);
    *out = &op->base;
    return AXLE_OK;
}

static void release(axle_be_op *op)
{
    free(op);
}

const cpu_kernel cpu_matmul_direct = {
    .op = AXLE_OP_MATMUL, .query = query, .prepare = prepare, .run = run, .release = release};
