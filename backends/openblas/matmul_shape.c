/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul_shape.h"

static matmul_operand operand_read(const axle_view *view)
{
    matmul_operand operand = {.row = 0};
    if (!view)
        return operand;
    for (uint32_t k = 0; k + 2 < view->rank; k++)
        operand.batch[k] = view->stride[k];
    operand.row = view->stride[view->rank - 2];
    operand.column = view->stride[view->rank - 1];
    return operand;
}

/* Whether a step along the last batch dim goes on where the rows end, under one right operand. */
static int can_fold(const matmul_shape *shape)
{
    const uint32_t last = shape->n_batch - 1;
    if (shape->batch[last] == 1)
        return 1;
    if (shape->operand[MATMUL_B].batch[last] != 0)
        return 0;
    for (int o = 0; o < MATMUL_OPERANDS; o++)
        if (o != MATMUL_B && shape->m != 1 &&
            shape->operand[o].batch[last] != shape->m * shape->operand[o].row)
            return 0;
    return 1;
}

static void fold_into_rows(matmul_shape *shape)
{
    while (shape->n_batch > 0 && can_fold(shape)) {
        const uint32_t last = --shape->n_batch;
        if (shape->batch[last] == 1)
            continue;
        for (int o = 0; o < MATMUL_OPERANDS && shape->m == 1; o++)
            if (o != MATMUL_B)
                shape->operand[o].row = shape->operand[o].batch[last];
        shape->m *= shape->batch[last];
    }
}

static void transpose(matmul_operand *operand)
{
    const int64_t row = operand->row;
    operand->row = operand->column;
    operand->column = row;
}

static void transpose_product(matmul_shape *shape)
{
    const matmul_operand a = shape->operand[MATMUL_A];
    const int64_t m = shape->m;
    shape->operand[MATMUL_A] = shape->operand[MATMUL_B];
    shape->operand[MATMUL_B] = a;
    for (int o = 0; o < MATMUL_OPERANDS; o++)
        transpose(&shape->operand[o]);
    shape->m = shape->n;
    shape->n = m;
    shape->transposed = 1;
}

void matmul_shape_read(matmul_shape *shape, const axle_op_desc *desc)
{
    const axle_view *a = blas_in(desc, 0), *y = blas_out(desc, 0);
    *shape = (matmul_shape){.n_batch = y->rank - 2,
                            .batches = 1,
                            .m = y->dim[y->rank - 2],
                            .n = y->dim[y->rank - 1],
                            .k = a->dim[a->rank - 1]};
    for (uint32_t k = 0; k < shape->n_batch; k++)
        shape->batch[k] = y->dim[k];
    shape->operand[MATMUL_A] = operand_read(a);
    shape->operand[MATMUL_B] = operand_read(blas_in(desc, 1));
    shape->operand[MATMUL_BIAS] = operand_read(blas_in(desc, 2));
    shape->operand[MATMUL_Y] = operand_read(y);
    fold_into_rows(shape);
    for (uint32_t k = 0; k < shape->n_batch; k++)
        shape->batches *= shape->batch[k];
    const matmul_operand *to = &shape->operand[MATMUL_Y];
    if (shape->n > 1 && to->column != 1 && (to->row == 1 || shape->m == 1))
        transpose_product(shape);
}

int64_t matmul_batch_at(const matmul_shape *shape, int operand, int64_t index)
{
    int64_t at = 0;
    for (uint32_t k = shape->n_batch; k-- > 0; index /= shape->batch[k])
        at += index % shape->batch[k] * shape->operand[operand].batch[k];
    return at;
}
