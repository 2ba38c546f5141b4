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
enum { DIRECT_TERMS = 2048, BLOCK = 64 };

typedef float (*load_fn)(const void *data, int64_t index);
typedef void (*store_fn)(void *data, int64_t index, float value);

static float load_f32(const void *data, int64_t index)
{
    return ((const float *)data)[index];
}

static float load_f16(const void *data, int64_t index)
{
    return f16_to_f32(((const uint16_t *)data)[index]);
}

static float load_bf16(const void *data, int64_t index)
{
    return bf16_to_f32(((const uint16_t *)data)[index]);
}

static void store_f32(void *data, int64_t index, float value)
{
    ((float *)data)[index] = value;
}

static void store_f16(void *data, int64_t index, float value)
{
    ((uint16_t *)data)[index] = f32_to_f16(value);
}

static void store_bf16(void *data, int64_t index, float value)
{
    ((uint16_t *)data)[index] = f32_to_bf16(value);
}

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

static int is_float(uint32_t dtype)
{
    return dtype < sizeof(elements) / sizeof(elements[0]) && elements[dtype].load;
}

typedef struct direct_op {
    axle_be_op base;
    matmul_shape shape;
    element type;
    float alpha;
    activation_fn activation;
    int accumulate;
} direct_op;

/* acc (columns) += a (k) . b (k, columns), b stored by rows. */
static void add_rows(float *acc, int64_t columns, int64_t k, const float *a, int64_t a_stride,
                     const float *b, int64_t b_row)
{
    for (int64_t p = 0; p < k; p++) {
        const float factor = a[p * a_stride];
        const float *row = b + p * b_row;
#pragma omp simd
        for (int64_t j = 0; j < columns; j++)
            acc[j] += factor * row[j];
    }
}

/* The same for any layout and element type. */
static void add_terms(const direct_op *op, float *acc, int64_t columns, const void *a,
                      const void *b, int64_t a_first, int64_t b_first)
{
    const matmul_operand *ao = &op->shape.operand[MATMUL_A], *bo = &op->shape.operand[MATMUL_B];
    const load_fn load = op->type.load;
    for (int64_t p = 0; p < op->shape.k; p++) {
        const float factor = load(a, a_first + p * ao->column);
        for (int64_t j = 0; j < columns; j++)
            acc[j] += factor * load(b, b_first + p * bo->row + j * bo->column);
    }
}

/* Where the current matrices of a run begin. */
typedef struct matrices {
    const unsigned char *in[MATMUL_BIAS + 1];
    unsigned char *y;
} matrices;

static void finish(const direct_op *op, const float *acc, int64_t columns, const matrices *at,
                   int64_t i, int64_t first)
{
    const matmul_operand *bias = &op->shape.operand[MATMUL_BIAS], *y = &op->shape.operand[MATMUL_Y];
    for (int64_t j = 0; j < columns; j++) {
        float value = op->alpha * acc[j];
        if (bias->dtype)
            value += op->type.load(at->in[MATMUL_BIAS], i * bias->row + (first + j) * bias->column);
        const int64_t place = i * y->row + (first + j) * y->column;
        if (op->accumulate)
            value += op->type.load(at->y, place);
        op->type.store(at->y, place, op->activation(value));
    }
}

static void run_matrix(const direct_op *op, const matrices *at)
{
    const matmul_shape *s = &op->shape;
    const matmul_operand *a = &s->operand[MATMUL_A], *b = &s->operand[MATMUL_B];
    const int by_rows = a->dtype == AXLE_DTYPE_F32 && (b->column == 1 || s->n == 1);
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t first = 0; first < s->n; first += BLOCK) {
            const int64_t columns = s->n - first < BLOCK ? s->n - first : BLOCK;
            float acc[BLOCK] = {0};
            if (by_rows && s->k > 0)
                add_rows(acc, columns, s->k, (const float *)at->in[MATMUL_A] + i * a->row,
                         a->column, (const float *)at->in[MATMUL_B] + first, b->row);
            else
                add_terms(op, acc, columns, at->in[MATMUL_A], at->in[MATMUL_B], i * a->row,
                          first * b->column);
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
    if (!is_float(desc->out[0]->dtype) || !activation_is_known(attrs->activation))
        return AXLE_OK;
    matmul_shape shape;
    matmul_shape_read(&shape, desc);
    if (terms(&shape) > DIRECT_TERMS && isfinite(1.0f / (float)attrs->alpha))
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
    *op = (direct_op){.base = {.kernel = &cpu_matmul_direct, .device = device},
                      .type = elements[desc->out[0]->dtype],
                      .alpha = (float)attrs->alpha,
                      .activation = activation_function(attrs->activation),
                      .accumulate = attrs->accumulate != 0};
    matmul_shape_read(&op->shape, desc);
    *out = &op->base;
    return AXLE_OK;
}

static void release(axle_be_op *op)
{
    free(op);
}

const cpu_kernel cpu_matmul_direct = {
    .op = AXLE_OP_MATMUL, .query = query, .prepare = prepare, .run = run, .release = release};
