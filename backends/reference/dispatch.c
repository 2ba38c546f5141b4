/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an operator's number to the code that does it. Kernels take the whole call; elementwise
 * operators choose a loop for their types, and their dims are merged, when they are prepared.
 */
#include "map.h"
#include "slots.h"

#include <stdio.h>
#include <string.h>

/* Arrays ended by op = 0, one at the end of each file of kernels. */
#define KERNEL_FILES(X)                                                                            \
    X(reduce)                                                                                      \
    X(arg_reduce)                                                                                  \
    X(matmul)                                                                                      \
    X(conv)                                                                                        \
    X(pool)                                                                                        \
    X(interpolate)                                                                                 \
    X(softmax)                                                                                     \
    X(cross_entropy)                                                                               \
    X(layer_norm)                                                                                  \
    X(batch_norm)                                                                                  \
    X(group_norm)                                                                                  \
    X(embedding)                                                                                   \
    X(index)                                                                                       \
    X(one_hot)                                                                                     \
    X(attention)
#define ELEMENTWISE_FILES(X)                                                                       \
    X(copy)                                                                                        \
    X(fill)                                                                                        \
    X(random)                                                                                      \
    X(unary)                                                                                       \
    X(unary_backward)                                                                              \
    X(binary)                                                                                      \
    X(where)                                                                                       \
    X(optimizer)

#define DECLARE_KERNELS(file) extern const ref_entry ref_entries_##file[];
#define DECLARE_ELEMENTWISE(file) extern const ref_elementwise ref_elementwise_##file[];
KERNEL_FILES(DECLARE_KERNELS)
ELEMENTWISE_FILES(DECLARE_ELEMENTWISE)

/* Operators that have attributes: X(NAME, struct). */
#define ATTRIBUTES(X)                                                                              \
    X(FILL, axle_fill_attrs)                                                                       \
    X(ARANGE, axle_arange_attrs)                                                                   \
    X(RANDOM, axle_random_attrs)                                                                   \
    X(UNARY, axle_unary_attrs)                                                                     \
    X(UNARY_BACKWARD, axle_unary_attrs)                                                            \
    X(BINARY, axle_binary_attrs)                                                                   \
    X(REDUCE, axle_reduce_attrs)                                                                   \
    X(ARG_REDUCE, axle_arg_reduce_attrs)                                                           \
    X(MATMUL, axle_matmul_attrs)                                                                   \
    X(CONV, axle_conv_attrs)                                                                       \
    X(CONV_BACKWARD_DATA, axle_conv_attrs)                                                         \
    X(CONV_BACKWARD_WEIGHT, axle_conv_attrs)                                                       \
    X(POOL, axle_pool_attrs)                                                                       \
    X(POOL_BACKWARD, axle_pool_attrs)                                                              \
    X(SOFTMAX, axle_softmax_attrs)                                                                 \
    X(SOFTMAX_BACKWARD, axle_softmax_attrs)                                                        \
    X(CROSS_ENTROPY, axle_cross_entropy_attrs)                                                     \
    X(CROSS_ENTROPY_BACKWARD, axle_cross_entropy_attrs)                                            \
    X(LAYER_NORM, axle_layer_norm_attrs)                                                           \
    X(LAYER_NORM_BACKWARD, axle_layer_norm_attrs)                                                  \
    X(BATCH_NORM, axle_batch_norm_attrs)                                                           \
    X(BATCH_NORM_BACKWARD, axle_batch_norm_attrs)                                                  \
    X(GROUP_NORM, axle_group_norm_attrs)                                                           \
    X(GROUP_NORM_BACKWARD, axle_group_norm_attrs)                                                  \
    X(DROPOUT, axle_dropout_attrs)                                                                 \
    X(EMBEDDING, axle_embedding_attrs)                                                             \
    X(EMBEDDING_BACKWARD, axle_embedding_attrs)                                                    \
    X(GATHER, axle_index_attrs)                                                                    \
    X(SCATTER, axle_index_attrs)                                                                   \
    X(INDEX_SELECT, axle_index_attrs)                                                              \
    X(INDEX_ADD, axle_index_attrs)                                                                 \
    X(ATTENTION, axle_attention_attrs)                                                             \
    X(ATTENTION_BACKWARD, axle_attention_attrs)                                                    \
    X(SGD, axle_sgd_attrs)                                                                         \
    X(ADAM, axle_adam_attrs)                                                                       \
    X(RMSPROP, axle_rmsprop_attrs)

typedef union attributes {
    uint32_t struct_size;
#define MEMBER(name, type) type name;
    ATTRIBUTES(MEMBER)
#undef MEMBER
} attributes;

/* What is known of an operator. */
typedef struct op_row {
    const char *name;
    uint32_t most_in, most_out, attrs_size;
    const ref_entry *kernel;
    const ref_elementwise *elementwise;
} op_row;

static op_row table[AXLE_OP_LIMIT] = {
#define ROW(number, op, text, n_in, n_out)                                                         \
    [number] = {.name = text, .most_in = n_in, .most_out = n_out},
    AXLE_OP_LIST(ROW)
#undef ROW
};

void ref_op_table_build(void)
{
#define ADD_KERNELS(file)                                                                          \
    for (const ref_entry *e = ref_entries_##file; e->op; e++)                                      \
        table[e->op].kernel = e;
    KERNEL_FILES(ADD_KERNELS)
#define ADD_ELEMENTWISE(file)                                                                      \
    for (const ref_elementwise *e = ref_elementwise_##file; e->op; e++)                            \
        table[e->op].elementwise = e;
    ELEMENTWISE_FILES(ADD_ELEMENTWISE)
#define ADD_ATTRIBUTES(name, type) table[AXLE_OP_##name].attrs_size = sizeof(type);
    ATTRIBUTES(ADD_ATTRIBUTES)
}

struct axle_be_op {
    const axle_host *host;
    const op_row *row;
    ref_loop loop; /* elementwise */
    ref_map map;
    attributes attrs;
};

/* A description with an operand, absent or not, in every place, and with attributes of the size
 * that the kernels know: what a shorter struct lacks is 0. */
typedef struct request {
    axle_op_desc desc;
    const op_row *row;
    const axle_view *in[AXLE_OP_MAX_IN], *out[AXLE_OP_MAX_OUT];
    attributes attrs;
} request;

static int request_read(const axle_op_desc *desc, request *r)
{
    memset(r, 0, sizeof(*r));
    if (desc->op == 0 || desc->op >= AXLE_OP_LIMIT)
        return 0;
    r->row = &table[desc->op];
    if (desc->n_in > r->row->most_in || desc->n_out > r->row->most_out ||
        (r->row->attrs_size && !desc->attrs))
        return 0;
    r->desc = *desc;
    r->desc.in = r->in;
    r->desc.out = r->out;
    if (desc->n_in)
        memcpy(r->in, desc->in, desc->n_in * sizeof(r->in[0]));
    if (desc->n_out)
        memcpy(r->out, desc->out, desc->n_out * sizeof(r->out[0]));
    if (r->row->attrs_size) {
        const uint32_t given = *(const uint32_t *)desc->attrs;
        memcpy(&r->attrs, desc->attrs, given < r->row->attrs_size ? given : r->row->attrs_size);
        r->desc.attrs = &r->attrs;
    }
    return 1;
}

static int same_dims(const axle_view *view, const axle_view *other)
{
    return !other || (view->rank == other->rank &&
                      memcmp(view->dim, other->dim, view->rank * sizeof(view->dim[0])) == 0);
}

/* The loop of an elementwise operator whose operands all have the first output's dims. */
static ref_loop choose_loop(const request *r)
{
    const axle_view *first = r->out[0];
    if (!first)
        return NULL;
    for (uint32_t k = 0; k < r->desc.n_in; k++)
        if (!same_dims(first, r->in[k]))
            return NULL;
    for (uint32_t k = 1; k < r->desc.n_out; k++)
        if (!same_dims(first, r->out[k]))
            return NULL;
    return r->row->elementwise->choose(&r->desc);
}

static int supported(const request *r)
{
    if (r->row->elementwise)
        return choose_loop(r) != NULL;
    return r->row->kernel && r->row->kernel->accepts(&r->desc);
}

axle_status ref_op_query(axle_be_device *device, const axle_op_desc *desc, axle_op_info *info)
{
    request r;
    (void)device;
    if (!request_read(desc, &r) || !supported(&r)) {
        info->support = AXLE_SUPPORT_NO;
        return AXLE_OK;
    }
    info->support = AXLE_SUPPORT_YES;
    if (info->struct_size >= AXLE_FIELD_END(axle_op_info, impl))
        snprintf(info->impl, sizeof(info->impl), "ref:%s", r.row->name);
    return AXLE_OK;
}

/* Outputs first, and every place taken, so that loops know their operands by number. */
static void prepare_map(axle_be_op *op, const request *r)
{
    ref_map_init(&op->map, r->out[0]);
    for (uint32_t k = 0; k < r->row->most_out; k++)
        ref_map_add(&op->map, r->out[k]);
    for (uint32_t k = 0; k < r->row->most_in; k++)
        ref_map_add(&op->map, r->in[k]);
    ref_map_merge(&op->map);
}

axle_status ref_op_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                           axle_error *error)
{
    request r;
    if (!request_read(desc, &r))
        return ref_fail(error, AXLE_ERR_UNSUPPORTED,
                        "reference: operator %u with %u inputs and %u outputs%s is not known",
                        desc->op, desc->n_in, desc->n_out, desc->attrs ? "" : " and no attributes");
    if (!supported(&r))
        return ref_decline(&r.desc, r.row->name, error);
    axle_be_op *op = ref_alloc(device->host, sizeof(*op));
    if (!op)
        return ref_fail(error, AXLE_ERR_NOMEM, "%s: no memory to prepare it", r.row->name);
    op->host = device->host;
    op->row = r.row;
    op->attrs = r.attrs;
    op->loop = NULL;
    if (r.row->elementwise) {
        op->loop = choose_loop(&r);
        prepare_map(op, &r);
    }
    *out = op;
    return AXLE_OK;
}

static void run_loop(const axle_be_op *op, const axle_op_args *args)
{
    const uint32_t first_in = op->row->most_out;
    if (op->map.count == 0)
        return;
    ref_span span = {.attrs = &op->attrs, .args = args};
    for (uint32_t k = 0; k < args->n_out && k < first_in; k++)
        span.p[k] = ref_data(args->out[k]);
    for (uint32_t k = 0; k < args->n_in && k < op->row->most_in; k++)
        span.p[first_in + k] = ref_data(args->in[k]);
    if (op->map.rank > 1 || op->map.count >= 2 * REF_GRAIN) {
        ref_map_run(&op->map, op->host, REF_GRAIN, op->loop, &span);
        return;
    }
    span.n = op->map.count;
    for (uint32_t k = 0; k < op->map.operands; k++)
        span.step[k] = op->map.step[k][0];
    op->loop(&span);
}

axle_status ref_op_run(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                       axle_error *error)
{
    (void)queue;
    if (op->loop) {
        run_loop(op, args);
        return AXLE_OK;
    }
    const ref_call call = {.host = op->host, .attrs = &op->attrs, .args = args, .error = error};
    return op->row->kernel->run(&call);
}

void ref_op_release(axle_be_op *op)
{
    if (op)
        ref_free(op->host, op);
}
