/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SCATTER, INDEX_ADD and EMBEDDING_BACKWARD: elements put to, or added to, places that indices
 * name.
 *
 * Elements that meet in one place lie in one line along the axis. Lines are independent of each
 * other and go to different workers; along the axis the order of the elements is kept.
 */
#include "index.h"
#include "stage.h"

#include <string.h>

typedef struct place_op {
    axle_be_op base;
    const char *name;
    index_walk walk;
    index_operand index;
    int32_t axis; /* dim of the walk along which order counts; -1 if every element has its place */
    int64_t limit, size;
    int add, clear;
    int64_t padding; /* ids that add nothing */
    void (*add_row)(const void *x, int64_t x_step, void *y, int64_t y_step, int64_t n);
    stage src, y;
    elem_plan zero;
    int64_t lines; /* combinations of the dims that are neither the axis nor the last */
    size_t list_at;
} place_op;

/* A run of elements of src along the last dim of the walk. */
typedef struct place_row {
    const void *src;
    void *y;
    const int64_t *list;
    int64_t own, other, list_step, along, n;
} place_row;

#define DEFINE_PLACE(bytes, type)                                                                  \
    static void place_##bytes(const place_row *row)                                                \
    {                                                                                              \
        const type *src = row->src;                                                                \
        type *y = row->y;                                                                          \
        for (int64_t k = 0; k < row->n; k++)                                                       \
            y[k * row->other + row->list[k * row->list_step] * row->along] = src[k * row->own];    \
    }
DEFINE_PLACE(1, uint8_t)
DEFINE_PLACE(2, uint16_t)
DEFINE_PLACE(4, uint32_t)
DEFINE_PLACE(8, uint64_t)

static void (*const places[9])(const place_row *) = {
    [1] = place_1, [2] = place_2, [4] = place_4, [8] = place_8};

/* ------------------------------------------------------------------ preparing */

static int is_half(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_F16 || dtype == AXLE_DTYPE_BF16;
}

/* Halves are summed in f32 and rounded once. */
static size_t lay_out(place_op *op, const cpu_loops *loops, const axle_view *index,
                      const axle_view *src, const axle_view *y)
{
    size_t total = 0;
    op->list_at = cpu_reserve(&total, cpu_index_list_size(index));
    if (op->add && is_half(y->dtype)) {
        cpu_stage_init(&op->src, loops, src, &total);
        cpu_stage_init(&op->y, loops, y, &total);
    } else {
        op->src.view = *src;
        op->y.view = *y;
    }
    return total;
}

static axle_status support(const axle_op_desc *desc, axle_op_info *info, const char *name,
                           const axle_view *index, const axle_view *src, uint32_t axis, int add)
{
    const axle_view *y = desc->out[0];
    place_op op = {.add = add};
    if (!cpu_dtype_size(y->dtype) || src->dtype != y->dtype || !cpu_is_index(index->dtype) ||
        axis >= y->rank || src->rank != y->rank || y->dtype == AXLE_DTYPE_BOOL)
        return AXLE_OK;
    const size_t total = lay_out(&op, &cpu_loops_generic, index, src, y);
    return cpu_op_support(info, name, cpu_workspace_size(total));
}

/* The only dim along which y does not move: outputs never repeat. */
static void find_axis(place_op *op)
{
    const index_walk *walk = &op->walk;
    op->axis = -1;
    op->lines = 1;
    for (int32_t d = 0; d < walk->rank; d++) {
        if (walk->other[d] == 0)
            op->axis = d;
        else if (d < walk->rank - 1)
            op->lines *= walk->dim[d];
    }
}

static void plan_zero(place_op *op, const cpu_loops *loops)
{
    axle_view zero = op->y.view;
    const axle_view *in[1] = {&zero};
    memset(zero.stride, 0, sizeof(zero.stride));
    elem_plan_init(&op->zero, loops, loops->convert->copy[cpu_dtype_log2(zero.dtype)], 1, in,
                   &op->y.view, ELEM_RAW);
}

static place_op *create(axle_be_device *device, const cpu_kernel *kernel, const axle_op_desc *desc,
                        const axle_view *index, const axle_view *src, uint32_t axis, int vector,
                        int add, axle_error *error)
{
    place_op *op = cpu_op_create(device, kernel, sizeof(*op), error);
    if (!op)
        return NULL;
    const cpu_loops *loops = cpu_loops_choose(device->host);
    op->add = add;
    op->padding = -1;
    op->limit = desc->out[0]->dim[axis];
    op->index = cpu_index_operand(index);
    lay_out(op, loops, index, src, desc->out[0]);
    op->size = cpu_dtype_size(op->y.view.dtype);
    op->add_row = loops->index->add[op->y.view.dtype];
    cpu_index_walk_init(&op->walk, &op->src.view, &op->y.view, axis, vector);
    find_axis(op);
    plan_zero(op, loops);
    return op;
}

/* ------------------------------------------------------------------ running */

typedef struct place_call {
    const place_op *op;
    const unsigned char *src;
    unsigned char *y;
    const int64_t *list;
    int64_t piece, pieces; /* of the last dim, where that is not the axis */
} place_call;

/* Elements that add nothing have index -1. */
static void add_elements(const place_call *call, const place_row *row)
{
    const place_op *op = call->op;
    const unsigned char *src = row->src;
    unsigned char *y = row->y;
    if (row->list_step == 0) {
        if (row->list[0] >= 0)
            op->add_row(src, row->own, y + row->list[0] * row->along * op->size, row->other,
                        row->n);
        return;
    }
    for (int64_t k = 0; k < row->n; k++) {
        const int64_t index = row->list[k * row->list_step];
        if (index >= 0)
            op->add_row(src + k * row->own * op->size, 1,
                        y + (k * row->other + index * row->along) * op->size, 1, 1);
    }
}

static void run_row(const place_call *call, int64_t own, int64_t other, int64_t list, int64_t first,
                    int64_t n)
{
    const place_op *op = call->op;
    const index_walk *walk = &op->walk;
    const int32_t last = walk->rank - 1;
    own += first * walk->own[last];
    other += first * walk->other[last];
    list += first * walk->list[last];
    const place_row row = {
        .src = call->src + own * op->size,
        .y = call->y + other * op->size,
        .list = call->list + list,
        .own = walk->own[last],
        .other = walk->other[last],
        .list_step = walk->list[last],
        .along = walk->along,
        .n = n,
    };
    if (op->add)
        add_elements(call, &row);
    else
        places[op->size](&row);
}

static void run_line(const place_call *call, int64_t own, int64_t other, int64_t list,
                     int64_t piece)
{
    const place_op *op = call->op;
    const index_walk *walk = &op->walk;
    const int32_t last = walk->rank - 1, axis = op->axis;
    const int64_t first = piece * call->piece;
    const int64_t n = cpu_min(call->piece, walk->dim[last] - first);
    if (axis < 0 || axis == last) {
        run_row(call, own, other, list, first, n);
        return;
    }
    for (int64_t j = 0; j < walk->dim[axis]; j++)
        run_row(call, own + j * walk->own[axis], other, list + j * walk->list[axis], first, n);
}

static void place_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const place_call *call = arg;
    const place_op *op = call->op;
    const index_walk *walk = &op->walk;
    (void)worker;
    for (int64_t item = begin; item < end; item++) {
        int64_t rest = item / call->pieces, own = 0, other = 0, list = 0;
        for (int32_t d = walk->rank - 2; d >= 0; d--) {
            if (d == op->axis)
                continue;
            const int64_t i = rest % walk->dim[d];
            rest /= walk->dim[d];
            own += i * walk->own[d];
            other += i * walk->other[d];
            list += i * walk->list[d];
        }
        run_line(call, own, other, list, item % call->pieces);
    }
}

/* Lines are cut across where there are fewer of them than workers. */
static void cut(place_call *call)
{
    const place_op *op = call->op;
    const int64_t last = op->walk.dim[op->walk.rank - 1];
    call->piece = last;
    if (op->axis != op->walk.rank - 1 && op->lines < 2 * cpu_workers())
        call->piece = (int64_t)cpu_round_up((size_t)cpu_ceil_div(last, cpu_workers()), 16);
    call->pieces = cpu_ceil_div(last, call->piece);
}

static axle_status run(const place_op *op, const axle_op_args *args, const void *index,
                       const void *src, axle_error *error)
{
    static const uint64_t zero;
    unsigned char *workspace = cpu_workspace(args);
    int64_t *list = (int64_t *)(workspace + op->list_at);
    void *y = cpu_out_data(args, 0);
    const axle_status status =
        cpu_index_load(&op->index, index, op->name, op->limit, NULL, list, error);
    if (status != AXLE_OK)
        return status;
    for (int64_t i = 0; op->padding >= 0 && i < op->index.count; i++)
        list[i] = list[i] == op->padding ? -1 : list[i];
    place_call call = {.op = op, .list = list};
    call.y = cpu_stage_target(&op->y, y, workspace);
    if (op->clear) {
        const void *from = &zero;
        elem_plan_run(&op->zero, &from, call.y);
    } else {
        cpu_stage_read(&op->y, y, workspace);
    }
    if (op->walk.count > 0) {
        call.src = cpu_stage_read(&op->src, src, workspace);
        cut(&call);
        cpu_parallel(op->lines * call.pieces, op->walk.count, place_items, &call);
    }
    cpu_stage_leave(&op->y, y, workspace);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ operators */

static axle_status scatter_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_index_attrs *attrs = desc->attrs;
    return support(desc, info, "scatter", desc->in[0], desc->in[1], attrs->axis,
                   attrs->accumulate != 0);
}

static axle_status scatter_prepare(axle_be_device *device, const axle_op_desc *desc,
                                   axle_be_op **out, axle_error *error)
{
    const axle_index_attrs *attrs = desc->attrs;
    place_op *op = create(device, &cpu_kernel_scatter, desc, desc->in[0], desc->in[1], attrs->axis,
                          0, attrs->accumulate != 0, error);
    if (!op)
        return AXLE_ERR_NOMEM;
    op->name = "scatter";
    *out = &op->base;
    return AXLE_OK;
}

static axle_status add_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_index_attrs *attrs = desc->attrs;
    return support(desc, info, "index_add", desc->in[0], desc->in[1], attrs->axis, 1);
}

static axle_status add_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                               axle_error *error)
{
    const axle_index_attrs *attrs = desc->attrs;
    place_op *op = create(device, &cpu_kernel_index_add, desc, desc->in[0], desc->in[1],
                          attrs->axis, 1, 1, error);
    if (!op)
        return AXLE_ERR_NOMEM;
    op->name = "index_add";
    *out = &op->base;
    return AXLE_OK;
}

/* Both take the index first. */
static axle_status scatter_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    return run((const place_op *)base, args, cpu_in_data(args, 0), cpu_in_data(args, 1), error);
}

static axle_status embedding_query(const axle_op_desc *desc, axle_op_info *info)
{
    const int32_t domain = cpu_dtype_domain(desc->out[0]->dtype);
    if (domain != DOMAIN_F32 && domain != DOMAIN_F64)
        return AXLE_OK;
    return support(desc, info, "embedding_backward", desc->in[1], desc->in[0], 0, 1);
}

static axle_status embedding_prepare(axle_be_device *device, const axle_op_desc *desc,
                                     axle_be_op **out, axle_error *error)
{
    place_op *op = create(device, &cpu_kernel_embedding_backward, desc, desc->in[1], desc->in[0], 0,
                          1, 1, error);
    if (!op)
        return AXLE_ERR_NOMEM;
    op->name = "embedding_backward";
    op->clear = 1;
    op->padding = ((const axle_embedding_attrs *)desc->attrs)->padding_idx;
    *out = &op->base;
    return AXLE_OK;
}

static axle_status embedding_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    return run((const place_op *)base, args, cpu_in_data(args, 1), cpu_in_data(args, 0), error);
}

const cpu_kernel cpu_kernel_scatter = {
    .op = AXLE_OP_SCATTER,
    .query = scatter_query,
    .prepare = scatter_prepare,
    .run = scatter_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_index_add = {
    .op = AXLE_OP_INDEX_ADD,
    .query = add_query,
    .prepare = add_prepare,
    .run = scatter_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_embedding_backward = {
    .op = AXLE_OP_EMBEDDING_BACKWARD,
    .query = embedding_query,
    .prepare = embedding_prepare,
    .run = embedding_run,
    .release = cpu_op_release,
};
