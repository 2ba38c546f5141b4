/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul_shape.h"

static int64_t stride_of(const axle_view *view, uint32_t k)
{
    return view->dim[k] == 1 ? 0 : view->stride[k];
}

static void operand_read(matmul_operand *operand, const axle_view *view, uint32_t index)
{
    *operand = (matmul_operand){.index = index};
    if (!view)
        return;
    operand->dtype = view->dtype;
    for (uint32_t k = 0; k + 2 < view->rank; k++)
        operand->batch[k] = stride_of(view, k);
    operand->row = stride_of(view, view->rank - 2);
    operand->column = stride_of(view, view->rank - 1);
}

static void remove_batch(matmul_shape *shape, uint32_t k)
{
    shape->n_batch--;
    for (; k < shape->n_batch; k++) {
        shape->batch[k] = shape->batch[k + 1];
        for (int o = 0; o < MATMUL_OPERANDS; o++)
            shape->operand[o].batch[k] = shape->operand[o].batch[k + 1];
    }
}

static void drop_single(matmul_shape *shape)
{
    for (uint32_t k = shape->n_batch; k-- > 0;)
        if (shape->batch[k] == 1)
            remove_batch(shape, k);
}

/* Whether a step along batch dim k is a walk along all of dim k + 1, for every operand. */
static int can_merge(const matmul_shape *shape, uint32_t k)
{
    for (int o = 0; o < MATMUL_OPERANDS; o++)
        if (shape->operand[o].batch[k] != shape->batch[k + 1] * shape->operand[o].batch[k + 1])
            return 0;
    return 1;
}

static void merge_neighbours(matmul_shape *shape)
{
    for (uint32_t k = shape->n_batch; k-- > 1;) {
        if (!can_merge(shape, k - 1))
            continue;
        shape->batch[k] *= shape->batch[k - 1];
        remove_batch(shape, k - 1);
    }
}

/* Whether the innermost batch dim goes on where the rows end, under one right operand. */
static int can_fold(const matmul_shape *shape)
{
    const uint32_t last = shape->n_batch - 1;
    if (shape->operand[MATMUL_B].batch[last] != 0)
        return 0;
    for (int o = 0; o < MATMUL_OPERANDS; o++)
        if (o != MATMUL_B && shape->m > 1 &&
            shape->operand[o].batch[last] != shape->m * shape->operand[o].row)
            return 0;
    return 1;
}

static void fold_into_rows(matmul_shape *shape)
{
    while (shape->n_batch > 0 && can_fold(shape)) {
        const uint32_t last = shape->n_batch - 1;
        for (int o = 0; o < MATMUL_OPERANDS && shape->m == 1; o++)
            if (o != MATMUL_B)
                shape->operand[o].row = shape->operand[o].batch[last];
        shape->m *= shape->batch[last];
        remove_batch(shape, last);
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
    shape->operand[MATMUL_A] = shape->operand[MATMUL_B];
    shape->operand[MATMUL_B] = a;
    for (int o = 0; o < MATMUL_OPERANDS; o++)
        transpose(&shape->operand[o]);
    const int64_t m = shape->m;
    shape->m = shape->n;
    shape->n = m;
}

void matmul_shape_read(matmul_shape *shape, const axle_op_desc *desc)
{
    const axle_view *a = desc->in[0], *y = desc->out[0];
    *shape = (matmul_shape){.n_batch = y->rank - 2,
                            .m = y->dim[y->rank - 2],
                            .n = y->dim[y->rank - 1],
                            .k = a->dim[a->rank - 1]};
    for (uint32_t k = 0; k < shape->n_batch; k++)
        shape->batch[k] = y->dim[k];
    operand_read(&shape->operand[MATMUL_A], a, 0);
    operand_read(&shape->operand[MATMUL_B], desc->in[1], 1);
    operand_read(&shape->operand[MATMUL_BIAS], desc->n_in > 2 ? desc->in[2] : NULL, 2);
    operand_read(&shape->operand[MATMUL_Y], y, 0);
    drop_single(shape);
    merge_neighbours(shape);
    fold_into_rows(shape);
    const matmul_operand *to = &shape->operand[MATMUL_Y];
    if (shape->n > 1 && to->column != 1 && to->row <= 1)
        transpose_product(shape);
}

int64_t matmul_rows(const matmul_shape *shape, int operand)
{
    return operand == MATMUL_B ? shape->k : shape->m;
}

int64_t matmul_columns(const matmul_shape *shape, int operand)
{
    return operand == MATMUL_A ? shape->k : shape->n;
}

/* Whether `inner` runs without gaps and `outer`, over `count` of them, does not run into itself. */
static int is_stored_along(int64_t inner, int64_t inner_dim, int64_t outer, int64_t outer_dim)
{
    return (inner_dim == 1 || inner == 1) && (outer_dim == 1 || outer >= inner_dim);
}

int matmul_is_plain(const matmul_shape *shape, int operand)
{
    const matmul_operand *o = &shape->operand[operand];
    const int64_t rows = matmul_rows(shape, operand), columns = matmul_columns(shape, operand);
    if (is_stored_along(o->column, columns, o->row, rows))
        return 1;
    return operand < MATMUL_BIAS && is_stored_along(o->row, rows, o->column, columns);
}
