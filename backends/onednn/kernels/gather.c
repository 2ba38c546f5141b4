/* SPDX-License-Identifier: Apache-2.0 */
/* GATHER, INDEX_SELECT and EMBEDDING: elements picked by indices, of any type. */
#include "index.h"

#include <string.h>

/* A row of y: element k is x[k * other + list[k * list_step] * along]. */
typedef struct pick_row {
    const void *x;
    void *y;
    const int64_t *list;
    int64_t own, other, list_step, along, n;
} pick_row;

#define DEFINE_PICK(bytes, type)                                                                   \
    static void pick_##bytes(const pick_row *row)                                                  \
    {                                                                                              \
        const type *x = row->x;                                                                    \
        type *y = row->y;                                                                          \
        if (row->list_step == 0) {                                                                 \
            x += row->list[0] * row->along;                                                        \
            if (row->own == 1 && row->other == 1)                                                  \
                memcpy(y, x, (size_t)row->n * sizeof(type));                                       \
            else                                                                                   \
                for (int64_t k = 0; k < row->n; k++)                                               \
                    y[k * row->own] = x[k * row->other];                                           \
            return;                                                                                \
        }                                                                                          \
        for (int64_t k = 0; k < row->n; k++)                                                       \
            y[k * row->own] = x[k * row->other + row->list[k * row->list_step] * row->along];      \
    }
DEFINE_PICK(1, uint8_t)
DEFINE_PICK(2, uint16_t)
DEFINE_PICK(4, uint32_t)
DEFINE_PICK(8, uint64_t)

static void (*const picks[9])(const pick_row *) = {
    [1] = pick_1, [2] = pick_2, [4] = pick_4, [8] = pick_8};

typedef struct pick_op {
    axle_be_op base;
    const char *name;
    index_walk walk;
    index_operand index;
    int64_t limit, size;
} pick_op;

static axle_status support(const axle_op_desc *desc, axle_op_info *info, const char *name,
                           uint32_t axis)
{
    const axle_view *x = desc->in[0], *index = desc->in[1], *y = desc->out[0];
    if (!cpu_dtype_size(x->dtype) || y->dtype != x->dtype || !cpu_is_index(index->dtype) ||
        axis >= x->rank || y->rank != x->rank)
        return AXLE_OK;
    return cpu_op_support(info, name, cpu_workspace_size(cpu_index_list_size(index)));
}

static axle_status create(axle_be_device *device, const cpu_kernel *kernel,
                          const axle_op_desc *desc, const char *name, uint32_t axis, int vector,
                          axle_be_op **out, axle_error *error)
{
    pick_op *op = cpu_op_create(device, kernel, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    op->name = name;
    op->limit = desc->in[0]->dim[axis];
    op->size = cpu_dtype_size(desc->in[0]->dtype);
    op->index = cpu_index_operand(desc->in[1]);
    cpu_index_walk_init(&op->walk, desc->out[0], desc->in[0], axis, vector);
    *out = &op->base;
    return AXLE_OK;
}

typedef struct pick_call {
    const pick_op *op;
    const unsigned char *x;
    unsigned char *y;
    const int64_t *list;
    int64_t piece, pieces; /* of a row */
} pick_call;

static void pick_items(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const pick_call *call = arg;
    const pick_op *op = call->op;
    const index_walk *walk = &op->walk;
    const int32_t last = walk->rank - 1;
    (void)worker;
    for (int64_t item = begin; item < end; item++) {
        const int64_t first = item % call->pieces * call->piece;
        int64_t rest = item / call->pieces;
        int64_t own = first * walk->own[last], other = first * walk->other[last];
        int64_t list = first * walk->list[last];
        for (int32_t d = last - 1; d >= 0; d--) {
            const int64_t i = rest % walk->dim[d];
            rest /= walk->dim[d];
            own += i * walk->own[d];
            other += i * walk->other[d];
            list += i * walk->list[d];
        }
        const pick_row row = {
            .x = call->x + other * op->size,
            .y = call->y + own * op->size,
            .list = call->list + list,
            .own = walk->own[last],
            .other = walk->other[last],
            .list_step = walk->list[last],
            .along = walk->along,
            .n = cpu_min(call->piece, walk->dim[last] - first),
        };
        picks[op->size](&row);
    }
}

enum { PIECE = 16384 };

static axle_status pick_run(axle_be_op *base, const axle_op_args *args, axle_error *error)
{
    const pick_op *op = (const pick_op *)base;
    int64_t *list = (int64_t *)cpu_workspace(args);
    const axle_status status =
        cpu_index_load(&op->index, cpu_in_data(args, 1), op->name, op->limit, NULL, list, error);
    if (status != AXLE_OK || op->walk.count == 0)
        return status;
    pick_call call = {
        .op = op,
        .x = cpu_in_data(args, 0),
        .y = cpu_out_data(args, 0),
        .list = list,
        .piece = PIECE,
    };
    call.pieces = cpu_ceil_div(op->walk.dim[op->walk.rank - 1], PIECE);
    cpu_parallel(op->walk.rows * call.pieces, op->walk.count, pick_items, &call);
    return AXLE_OK;
}

static axle_status gather_query(const axle_op_desc *desc, axle_op_info *info)
{
    return support(desc, info, "gather", ((const axle_index_attrs *)desc->attrs)->axis);
}

static axle_status gather_prepare(axle_be_device *device, const axle_op_desc *desc,
                                  axle_be_op **out, axle_error *error)
{
    const axle_index_attrs *attrs = desc->attrs;
    return create(device, &cpu_kernel_gather, desc, "gather", attrs->axis, 0, out, error);
}

static axle_status select_query(const axle_op_desc *desc, axle_op_info *info)
{
    return support(desc, info, "index_select", ((const axle_index_attrs *)desc->attrs)->axis);
}

static axle_status select_prepare(axle_be_device *device, const axle_op_desc *desc,
                                  axle_be_op **out, axle_error *error)
{
    const axle_index_attrs *attrs = desc->attrs;
    return create(device, &cpu_kernel_index_select, desc, "index_select", attrs->axis, 1, out,
                  error);
}

static axle_status embedding_query(const axle_op_desc *desc, axle_op_info *info)
{
    return support(desc, info, "embedding", 0);
}

static axle_status embedding_prepare(axle_be_device *device, const axle_op_desc *desc,
                                     axle_be_op **out, axle_error *error)
{
    return create(device, &cpu_kernel_embedding, desc, "embedding", 0, 1, out, error);
}

const cpu_kernel cpu_kernel_gather = {
    .op = AXLE_OP_GATHER,
    .query = gather_query,
    .prepare = gather_prepare,
    .run = pick_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_index_select = {
    .op = AXLE_OP_INDEX_SELECT,
    .query = select_query,
    .prepare = select_prepare,
    .run = pick_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_embedding = {
    .op = AXLE_OP_EMBEDDING,
    .query = embedding_query,
    .prepare = embedding_prepare,
    .run = pick_run,
    .release = cpu_op_release,
};
