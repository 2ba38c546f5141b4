/* SPDX-License-Identifier: Apache-2.0 */
/* ARG_REDUCE: positions of the largest or smallest elements along one dim. */
#include "kernel.h"

#include <math.h>
#include <string.h>

/* Outputs that are searched together where neighbours of x are not along the axis. */
enum { TILE = 128, STAGE = 512 };

typedef struct arg_op {
    axle_be_op base;
    int32_t domain;
    int64_t x_size, width;
    int native;
    load_loop load;
    arg_row row;
    arg_cols cols;
    int64_t length, stride; /* along the axis */
    int32_t rank;           /* of the other dims */
    int64_t dim[AXLE_MAX_RANK], x_stride[AXLE_MAX_RANK], y_stride[AXLE_MAX_RANK];
    int columns;
    int64_t tile, tiles, items;
} arg_op;

static axle_status arg_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_arg_reduce_attrs *attrs = desc->attrs;
    if (cpu_dtype_domain(desc->in[0]->dtype) < 0 || desc->out[0]->dtype != AXLE_DTYPE_I64)
        return AXLE_OK;
    if (attrs->axis >= desc->in[0]->rank || desc->in[0]->dim[attrs->axis] < 1)
        return AXLE_OK;
    if (attrs->kind != AXLE_REDUCE_MAX && attrs->kind != AXLE_REDUCE_MIN)
        return AXLE_OK;
    return cpu_op_support(info, "arg_reduce", 0);
}

/* The other dims, the one of smallest stride last. */
static void take_dims(arg_op *op, uint32_t axis, const axle_view *x, const axle_view *y)
{
    for (uint32_t d = 0; d < x->rank; d++) {
        if (d == axis)
            continue;
        int32_t k = op->rank++;
        for (; k > 0 && op->x_stride[k - 1] < x->stride[d]; k--) {
            op->dim[k] = op->dim[k - 1];
            op->x_stride[k] = op->x_stride[k - 1];
            op->y_stride[k] = op->y_stride[k - 1];
        }
        op->dim[k] = x->dim[d];
        op->x_stride[k] = x->stride[d];
        op->y_stride[k] = y->stride[d];
    }
}

static axle_status arg_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                               axle_error *error)
{
    arg_op *op = cpu_op_create(device, &cpu_kernel_arg_reduce, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const axle_arg_reduce_attrs *attrs = desc->attrs;
    const axle_view *x = desc->in[0];
    const cpu_loops *loops = cpu_loops_choose(device->host);
    const int which = attrs->kind == AXLE_REDUCE_MIN;
    op->domain = cpu_dtype_domain(x->dtype);
    op->x_size = cpu_dtype_size(x->dtype);
    op->width = op->domain == DOMAIN_F32 ? 4 : 8;
    op->native =
        op->x_size == op->width &&
        (x->dtype == AXLE_DTYPE_F32 || x->dtype == AXLE_DTYPE_F64 || x->dtype == AXLE_DTYPE_I64);
    op->load = op->native ? loops->convert->load_raw[cpu_dtype_log2(x->dtype)]
                          : loops->convert->load[x->dtype];
    op->row = loops->reduce->arg_row[op->domain][which];
    op->cols = loops->reduce->arg_cols[op->domain][which];
    op->length = x->dim[attrs->axis];
    op->stride = x->stride[attrs->axis];
    take_dims(op, attrs->axis, x, desc->out[0]);

    const int64_t inner = op->rank > 0 ? op->dim[op->rank - 1] : 1;
    op->columns = op->rank > 0 && op->x_stride[op->rank - 1] < op->stride && inner > 1;
    op->tile = op->columns ? TILE : 1;
    op->tiles = cpu_ceil_div(inner, op->tile);
    op->items = op->tiles;
    for (int32_t k = 0; k < op->rank - 1; k++)
        op->items *= op->dim[k];
    *out = &op->base;
    return AXLE_OK;
}

typedef struct arg_call {
    const arg_op *op;
    const unsigned char *x;
    int64_t *y;
} arg_call;

/* Buffers hold elements of any domain; the loops know which. */
typedef union arg_values {
    float f32[TILE];
    double f64[TILE];
    int64_t i64[TILE];
} arg_values;

static void search_row(const arg_op *op, const unsigned char *x, int64_t *y)
{
    _Alignas(CPU_LINE) unsigned char stage[STAGE * 8];
    arg_values best;
    *y = 0;
    op->load(x, 0, &best, 1);
    if (op->native && op->stride == 1) {
        op->row(x, op->length, 0, &best, y);
        return;
    }
    for (int64_t i = 0; i < op->length; i += STAGE) {
        const int64_t n = cpu_min(op->length - i, STAGE);
        op->load(x + i * op->stride * op->x_size, op->stride, stage, n);
        op->row(stage, n, i, &best, y);
    }
}

static void search_columns(const arg_op *op, const unsigned char *x, int64_t *y, int64_t n)
{
    const int64_t step = op->x_stride[op->rank - 1], y_step = op->y_stride[op->rank - 1];
    arg_values best, row;
    int64_t index[TILE] = {0};
    op->load(x, step, &best, n);
    for (int64_t i = 1; i < op->length; i++) {
        const unsigned char *from = x + i * op->stride * op->x_size;
        if (op->native && step == 1) {
            op->cols(from, n, i, &best, index);
        } else {
            op->load(from, step, &row, n);
            op->cols(&row, n, i, &best, index);
        }
    }
    for (int64_t k = 0; k < n; k++)
        y[k * y_step] = index[k];
}

static void arg_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const arg_call *call = arg;
    const arg_op *op = call->op;
    (void)worker;
    for (int64_t item = begin; item < end; item++) {
        const int64_t first = item % op->tiles * op->tile;
        int64_t outer = item / op->tiles, x = 0, y = 0;
        for (int32_t k = op->rank - 2; k >= 0; k--) {
            x += outer % op->dim[k] * op->x_stride[k];
            y += outer % op->dim[k] * op->y_stride[k];
            outer /= op->dim[k];
        }
        if (op->rank > 0) {
            x += first * op->x_stride[op->rank - 1];
            y += first * op->y_stride[op->rank - 1];
        }
        const unsigned char *from = call->x + x * op->x_size;
        if (op->columns)
            search_columns(op, from, call->y + y, cpu_min(op->tile, op->dim[op->rank - 1] - first));
        else
            search_row(op, from, call->y + y);
    }
}

static axle_status arg_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const arg_op *op = (const arg_op *)base;
    arg_call call = {.op = op, .x = cpu_in_data(args, 0), .y = cpu_out_data(args, 0)};
    (void)error;
    cpu_parallel(op->items, op->items * op->tile * op->length, arg_items, &call);
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_arg_reduce = {
    .op = AXLE_OP_ARG_REDUCE,
    .query = arg_query,
    .prepare = arg_prepare,
    .run = arg_run,
    .release = cpu_op_release,
};
