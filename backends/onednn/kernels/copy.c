/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COPY: any strides to any strides, any type to any type. Where memory is read along one dim and
 * written along another, square tiles are turned over in the cache.
 */
#include "elem.h"

#include <string.h>

enum { TILE = 64, LEAST = 8 };

typedef struct copy_dim {
    int64_t size, x, y;
} copy_dim;

typedef struct copy_op {
    axle_be_op base;
    elem_plan plan;
    int turned;
    /* What follows is for turned copies. */
    elem_loop convert;
    transpose_loop transpose;
    int64_t x_size, y_size;
    copy_dim along_x, along_y, outer[AXLE_MAX_RANK];
    int32_t n_outer;
    int64_t x_tiles, y_tiles, items;
} copy_op;

static axle_status copy_query(const axle_op_desc *desc, axle_op_info *info)
{
    if (!cpu_dtype_size(desc->in[0]->dtype) || !cpu_dtype_size(desc->out[0]->dtype))
        return AXLE_OK;
    return cpu_op_support(info, "copy", 0);
}

/* Neighbouring dims become one where both operands allow it. */
static int32_t merged_dims(const axle_view *x, const axle_view *y, copy_dim *dims)
{
    int32_t n = 0;
    for (uint32_t d = 0; d < y->rank; d++) {
        const copy_dim dim = {y->dim[d], x->stride[d], y->stride[d]};
        if (dim.size == 1)
            continue;
        if (n > 0 && dims[n - 1].x == dim.x * dim.size && dims[n - 1].y == dim.y * dim.size)
            dims[n - 1] = (copy_dim){dims[n - 1].size * dim.size, dim.x, dim.y};
        else
            dims[n++] = dim;
    }
    return n;
}

/* The dims along which x and y are dense must differ and be worth a tile. */
static void plan_turned(copy_op *op, const axle_view *x, const axle_view *y)
{
    copy_dim dims[AXLE_MAX_RANK];
    const int32_t n = merged_dims(x, y, dims);
    int32_t along_x = -1, along_y = -1;
    for (int32_t d = 0; d < n; d++) {
        along_x = dims[d].x == 1 ? d : along_x;
        along_y = dims[d].y == 1 ? d : along_y;
    }
    if (along_x < 0 || along_y < 0 || along_x == along_y || dims[along_x].size < LEAST ||
        dims[along_y].size < LEAST || cpu_count(y) == 0)
        return;
    op->turned = 1;
    op->along_x = dims[along_x];
    op->along_y = dims[along_y];
    op->x_tiles = cpu_ceil_div(op->along_x.size, TILE);
    op->y_tiles = cpu_ceil_div(op->along_y.size, TILE);
    op->items = op->x_tiles * op->y_tiles;
    for (int32_t d = 0; d < n; d++) {
        if (d == along_x || d == along_y)
            continue;
        op->outer[op->n_outer++] = dims[d];
        op->items *= dims[d].size;
    }
}

static axle_status copy_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                                axle_error *error)
{
    copy_op *op = cpu_op_create(device, &cpu_kernel_copy, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const struct convert_loops *loops = cpu_loops_choose(device->host)->convert;
    const axle_view *x = desc->in[0], *y = desc->out[0];
    op->convert = x->dtype == y->dtype ? loops->copy[cpu_dtype_log2(y->dtype)]
                                       : loops->cast[x->dtype][y->dtype];
    op->transpose = loops->transpose[cpu_dtype_log2(y->dtype)];
    op->x_size = cpu_dtype_size(x->dtype);
    op->y_size = cpu_dtype_size(y->dtype);
    elem_plan_init(&op->plan, cpu_loops_choose(device->host), op->convert, 1, desc->in, y,
                   ELEM_RAW);
    plan_turned(op, x, y);
    *out = &op->base;
    return AXLE_OK;
}

typedef struct copy_call {
    const copy_op *op;
    const unsigned char *x;
    unsigned char *y;
} copy_call;

/* Rows of x are read, and converted, as they lie; columns of the tile are rows of y. */
static void turn_tile(const copy_op *op, const unsigned char *x, unsigned char *y, int64_t rows,
                      int64_t cols)
{
    enum { LD = TILE + 1 };
    _Alignas(CPU_LINE) unsigned char tile[TILE * LD * 8];
    for (int64_t r = 0; r < rows; r++) {
        const void *from = x + r * op->along_y.x * op->x_size;
        op->convert(&from, tile + r * LD * op->y_size, cols, NULL);
    }
    op->transpose(tile, LD, rows, cols, y, op->along_x.y);
}

static void turn_tiles(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const copy_call *call = arg;
    const copy_op *op = call->op;
    (void)worker;
    for (int64_t item = begin; item < end; item++) {
        const int64_t row = item % op->y_tiles * TILE;
        const int64_t col = item / op->y_tiles % op->x_tiles * TILE;
        int64_t rest = item / op->y_tiles / op->x_tiles;
        int64_t x = row * op->along_y.x + col, y = row + col * op->along_x.y;
        for (int32_t d = op->n_outer - 1; d >= 0; d--) {
            x += rest % op->outer[d].size * op->outer[d].x;
            y += rest % op->outer[d].size * op->outer[d].y;
            rest /= op->outer[d].size;
        }
        turn_tile(op, call->x + x * op->x_size, call->y + y * op->y_size,
                  cpu_min(op->along_y.size - row, TILE), cpu_min(op->along_x.size - col, TILE));
    }
}

static axle_status copy_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const copy_op *op = (const copy_op *)base;
    const void *x = cpu_in_data(args, 0);
    copy_call call = {.op = op, .x = x, .y = cpu_out_data(args, 0)};
    (void)error;
    if (op->turned)
        cpu_parallel(op->items, op->plan.count, turn_tiles, &call);
    else
        elem_plan_run(&op->plan, &x, call.y);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_copy = {
    .op = AXLE_OP_COPY,
    .query = copy_query,
    .prepare = copy_prepare,
    .run = copy_run,
    .release = cpu_op_release,
};
