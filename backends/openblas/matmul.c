/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATMUL: a (..., M, K), b (..., K, N), bias? (..., M, N) -> y (..., M, N).
 *
 * Each matrix of y is cut into tiles, enough of them for all workers; a tile is a call of the
 * library or a few. What the library cannot be told of, and what is summed in another type, goes
 * through small dense copies.
 */
#include "gemm.h"
#include "matmul_shape.h"
#include "run.h"

#include <limits.h>
#include <string.h>

/* Products of f32 of so many multiplications in all are summed in f64 and rounded once, which costs
 * little here: differences in the last bit make other choices in what follows them. */
enum { MOST_WIDENED = 1 << 22 };

/* Most rows, columns and terms of a tile that is copied; rows that kernels like. */
enum { MOST_COPIED = 512, ROUND = 32 };

typedef struct matmul_op {
    axle_be_op base;
    matmul_shape shape;
    blas_finish finish;
    double alpha, beta;
    int copy_a, copy_b, copy_y;
    int64_t rows, columns, terms;       /* of a tile */
    int64_t row_tiles, column_tiles;    /* of a matrix */
    uint64_t a_at, b_at, y_at, scratch; /* in bytes, within a worker's part */
} matmul_op;

typedef struct matmul_call {
    const matmul_op *op;
    const void *data[MATMUL_OPERANDS]; /* as in the shape */
    unsigned char *workspace;
} matmul_call;

/* One tile on its way: where its first elements are, in elements. */
typedef struct tile {
    const matmul_call *call;
    unsigned char *scratch;
    int64_t at[MATMUL_OPERANDS], rows, columns;
} tile;

/* ------------------------------------------------------------------ tiles */

/* A dense copy of rows x columns elements, along whichever dim is the denser in memory. */
static blas_matrix copy_matrix(const matmul_op *op, const void *from, const matmul_operand *o,
                               int64_t rows, int64_t columns, void *to)
{
    const blas_load_fn load = blas_load(op->finish.dtype, op->finish.work);
    const int by_rows = o->column <= o->row || rows == 1;
    const int64_t outer = by_rows ? rows : columns, inner = by_rows ? columns : rows;
    const int64_t outer_step = by_rows ? o->row : o->column;
    const int64_t inner_step = by_rows ? o->column : o->row;
    for (int64_t i = 0; i < outer; i++)
        load(blas_at(from, op->finish.dtype, i * outer_step), inner_step, inner,
             blas_at(to, op->finish.work, i * inner));
    return (blas_matrix){to, by_rows ? columns : 1, by_rows ? 1 : rows};
}

/* The part of an operand that begins `row`, `column` behind the tile's first element. */
static blas_matrix bring(const tile *t, int operand, int copy, int64_t row, int64_t column,
                         int64_t rows, int64_t columns, uint64_t copy_at)
{
    const matmul_op *op = t->call->op;
    const matmul_operand *o = &op->shape.operand[operand];
    const void *from = blas_at(t->call->data[operand], op->finish.dtype,
                               t->at[operand] + row * o->row + column * o->column);
    if (copy)
        return copy_matrix(op, from, o, rows, columns, t->scratch + copy_at);
    return (blas_matrix){from, o->row, o->column};
}

static void finish_tile(const tile *t, const void *sums, int64_t sums_row)
{
    const matmul_op *op = t->call->op;
    const matmul_operand *y = &op->shape.operand[MATMUL_Y], *b = &op->shape.operand[MATMUL_BIAS];
    const void *bias = t->call->data[MATMUL_BIAS];
    const uint32_t dtype = op->finish.dtype;
    for (int64_t i = 0; i < t->rows; i++)
        blas_finish_run(&op->finish, blas_at(sums, op->finish.work, i * sums_row),
                        bias ? blas_at(bias, dtype, t->at[MATMUL_BIAS] + i * b->row) : NULL,
                        b->column,
                        blas_at(t->call->data[MATMUL_Y], dtype, t->at[MATMUL_Y] + i * y->row),
                        y->column, t->columns);
}

/* Where sums went straight to y, all that is left to do may be nothing. */
static int needs_finish(const matmul_call *call)
{
    const matmul_op *op = call->op;
    return op->copy_y || call->data[MATMUL_BIAS] || op->finish.activation;
}

static void multiply_tile(const tile *t)
{
    const matmul_op *op = t->call->op;
    const matmul_operand *y = &op->shape.operand[MATMUL_Y];
    blas_product p = {.dtype = op->finish.work,
                      .m = t->rows,
                      .n = t->columns,
                      .alpha = op->alpha,
                      .beta = op->beta};
    p.c = op->copy_y ? t->scratch + op->y_at
                     : blas_at(t->call->data[MATMUL_Y], op->finish.dtype, t->at[MATMUL_Y]);
    p.ldc = op->copy_y ? t->columns : y->row;
    int64_t k = 0;
    do {
        p.k = blas_least(op->terms, op->shape.k - k);
        p.a = bring(t, MATMUL_A, op->copy_a, 0, k, t->rows, p.k, op->a_at);
        p.b = bring(t, MATMUL_B, op->copy_b, k, 0, p.k, t->columns, op->b_at);
        blas_gemm(op->base.device->library, &p);
        p.beta = 1;
        k += p.k;
    } while (k < op->shape.k);
    if (needs_finish(t->call))
        finish_tile(t, p.c, p.ldc);
}

static void run_tiles(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const matmul_call *call = arg;
    const matmul_op *op = call->op;
    const matmul_shape *s = &op->shape;
    for (int64_t i = begin; i < end; i++) {
        const int64_t column = i % op->column_tiles * op->columns;
        const int64_t row = i / op->column_tiles % op->row_tiles * op->rows;
        const int64_t batch = i / op->column_tiles / op->row_tiles;
        tile t = {.call = call,
                  .scratch = call->workspace + (uint64_t)worker * op->scratch,
                  .rows = blas_least(op->rows, s->m - row),
                  .columns = blas_least(op->columns, s->n - column)};
        for (int o = 0; o < MATMUL_OPERANDS; o++)
            t.at[o] = matmul_batch_at(s, o, batch) + (o == MATMUL_B ? 0 : row * s->operand[o].row) +
                      (o == MATMUL_A ? 0 : column * s->operand[o].column);
        multiply_tile(&t);
    }
}

static double products_of(const matmul_shape *s)
{
    return (double)s->batches * (double)s->m * (double)s->n * (double)s->k;
}

static void run(const axle_be_op *base, const axle_op_args *args)
{
    const matmul_op *op = (const matmul_op *)base;
    const int turned = op->shape.transposed;
    matmul_call call = {.op = op, .workspace = blas_workspace(args)};
    call.data[MATMUL_A] = blas_in_data(args, turned ? 1 : 0);
    call.data[MATMUL_B] = blas_in_data(args, turned ? 0 : 1);
    call.data[MATMUL_BIAS] = blas_in_data(args, 2);
    call.data[MATMUL_Y] = blas_out_data(args, 0);
    const int64_t tiles = op->shape.batches * op->row_tiles * op->column_tiles;
    const double stores = (double)op->shape.batches * (double)op->shape.m * (double)op->shape.n;
    blas_parallel(base->device, tiles, products_of(&op->shape) + 8 * stores, run_tiles, &call);
}

/* ------------------------------------------------------------------ plans */

/* Cut the longer side until there is a tile for every worker, or tiles get small. */
static void choose_tiles(matmul_op *op)
{
    const matmul_shape *s = &op->shape;
    const int copies = op->copy_a || op->copy_b || op->copy_y;
    const int64_t most = copies ? MOST_COPIED : INT_MAX;
    op->rows = blas_least(s->m, most);
    op->columns = blas_least(s->n, most);
    op->terms = op->copy_a || op->copy_b ? blas_least(s->k, MOST_COPIED) : s->k;
    for (;;) {
        op->row_tiles = blas_ceil_div(s->m, op->rows);
        op->column_tiles = blas_ceil_div(s->n, op->columns);
        const double each = (double)op->rows * (double)op->columns * (double)s->k;
        if (s->batches * op->row_tiles * op->column_tiles >= op->base.device->workers ||
            each < 2 * BLAS_GRAIN || blas_most(op->rows, op->columns) <= ROUND)
            return;
        int64_t *side = op->rows >= op->columns ? &op->rows : &op->columns;
        *side = blas_ceil_div(blas_ceil_div(*side, 2), ROUND) * ROUND;
    }
}

static void lay_out(matmul_op *op)
{
    const uint32_t work = op->finish.work;
    if (op->copy_a)
        op->a_at = blas_reserve(&op->scratch, op->rows * op->terms, work);
    if (op->copy_b)
        op->b_at = blas_reserve(&op->scratch, op->terms * op->columns, work);
    if (op->copy_y)
        op->y_at = blas_reserve(&op->scratch, op->rows * op->columns, work);
    op->base.workspace = op->scratch * (uint64_t)op->base.device->workers;
}

/* A factor of 0 is applied to the sums: libraries then leave out the product, and with it NaN. */
static void choose_path(matmul_op *op, const axle_matmul_attrs *attrs, uint32_t dtype)
{
    const matmul_shape *s = &op->shape;
    const matmul_operand *a = &s->operand[MATMUL_A], *b = &s->operand[MATMUL_B];
    const matmul_operand *y = &s->operand[MATMUL_Y];
    const int widen = dtype == AXLE_DTYPE_F32 && products_of(s) <= MOST_WIDENED;
    op->finish = (blas_finish){.dtype = dtype,
                               .work = widen ? AXLE_DTYPE_F64 : dtype,
                               .scale = widen || attrs->alpha == 0 ? attrs->alpha : 1,
                               .accumulate = attrs->accumulate != 0,
                               .activation = blas_activation(attrs->activation)};
    op->alpha = widen || attrs->alpha == 0 ? 1 : attrs->alpha;
    op->copy_a = widen || !blas_is_plain(s->m, s->k, a->row, a->column);
    op->copy_b = widen || !blas_is_plain(s->k, s->n, b->row, b->column);
    op->copy_y =
        widen || op->alpha != attrs->alpha || !blas_is_by_rows(s->m, s->n, y->row, y->column);
    if (op->finish.accumulate && !op->copy_y) { /* The library adds to y. */
        op->finish.accumulate = 0;
        op->beta = 1;
    }
}

static int plan(axle_be_op *base, const axle_op_desc *desc)
{
    matmul_op *op = (matmul_op *)base;
    const axle_matmul_attrs *attrs = desc->attrs;
    const uint32_t dtype = desc->out[0]->dtype;
    if (!blas_is_served(dtype) || !blas_has_dtype(blas_in(desc, 0), dtype) ||
        !blas_has_dtype(blas_in(desc, 1), dtype) || !blas_has_dtype(blas_in(desc, 2), dtype) ||
        (attrs->activation && (attrs->accumulate || !blas_activation(attrs->activation))))
        return 0;
    matmul_shape_read(&op->shape, desc);
    if (op->shape.m > INT_MAX || op->shape.n > INT_MAX || op->shape.k > INT_MAX)
        return 0;
    if (op->shape.batches == 0 || op->shape.m == 0 || op->shape.n == 0)
        return 1;
    choose_path(op, attrs, dtype);
    choose_tiles(op);
    lay_out(op);
    return 1;
}

const blas_kernel blas_matmul = {
    .op = AXLE_OP_MATMUL, .size = sizeof(matmul_op), .plan = plan, .run = run};
