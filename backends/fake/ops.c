/* SPDX-License-Identifier: Apache-2.0 */
/* The few operators of the fake backend, for f32 alone. */
#define _POSIX_C_SOURCE 200809L
#include "fake.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef float (*function)(float a, float b, const double *parameters);

#define FUNCTION(name, expression)                                                                 \
    static float name(float a, float b, const double *parameters)                                  \
    {                                                                                              \
        (void)a, (void)b, (void)parameters;                                                        \
        return (expression);                                                                       \
    }

FUNCTION(copy, a)
FUNCTION(constant, (float)parameters[0])
FUNCTION(negate, -a)
FUNCTION(absolute, fabsf(a))
FUNCTION(square, a *a)
FUNCTION(root, sqrtf(a))
FUNCTION(exponential, expf(a))
FUNCTION(rectify, a <= 0.0f ? 0.0f : a)
FUNCTION(affine, (float)parameters[0] * a + (float)parameters[1])
FUNCTION(add, a + (float)parameters[0] * b)
FUNCTION(subtract, a - b)
FUNCTION(multiply, a *b)
FUNCTION(divide, a / b)

/* `kind` is 0 where the operator has none. */
typedef struct entry {
    uint32_t op, kind;
    const char *name;
    function apply;
} entry;

static const entry entries[] = {
    {AXLE_OP_COPY, 0, "copy", copy},
    {AXLE_OP_FILL, 0, "fill", constant},
    {AXLE_OP_UNARY, AXLE_UNARY_NEG, "neg", negate},
    {AXLE_OP_UNARY, AXLE_UNARY_ABS, "abs", absolute},
    {AXLE_OP_UNARY, AXLE_UNARY_SQUARE, "square", square},
    {AXLE_OP_UNARY, AXLE_UNARY_SQRT, "sqrt", root},
    {AXLE_OP_UNARY, AXLE_UNARY_EXP, "exp", exponential},
    {AXLE_OP_UNARY, AXLE_UNARY_RELU, "relu", rectify},
    {AXLE_OP_UNARY, AXLE_UNARY_AFFINE, "affine", affine},
    {AXLE_OP_BINARY, AXLE_BINARY_ADD, "add", add},
    {AXLE_OP_BINARY, AXLE_BINARY_SUB, "sub", subtract},
    {AXLE_OP_BINARY, AXLE_BINARY_MUL, "mul", multiply},
    {AXLE_OP_BINARY, AXLE_BINARY_DIV, "div", divide},
};

struct axle_be_op {
    const entry *entry;
    double parameters[2];
};

static uint32_t kind_of(const axle_op_desc *desc)
{
    if (desc->op == AXLE_OP_UNARY)
        return ((const axle_unary_attrs *)desc->attrs)->kind;
    return desc->op == AXLE_OP_BINARY ? ((const axle_binary_attrs *)desc->attrs)->kind : 0;
}

static int is_f32(const axle_view *view)
{
    return view && view->dtype == AXLE_DTYPE_F32;
}

static const entry *find(const axle_op_desc *desc)
{
    for (uint32_t k = 0; k < desc->n_in; k++)
        if (!is_f32(desc->in[k]))
            return NULL;
    if (desc->n_out != 1 || !is_f32(desc->out[0]))
        return NULL;
    for (size_t k = 0; k < sizeof(entries) / sizeof(entries[0]); k++)
        if (entries[k].op == desc->op && entries[k].kind == kind_of(desc))
            return &entries[k];
    return NULL;
}

static int matches(const char *list, const entry *e)
{
    return fake_lists(list, e->name) || fake_lists(list, "all");
}

axle_status fake_op_query(axle_be_device *device, const axle_op_desc *desc, axle_op_info *info)
{
    (void)device;
    const entry *e = find(desc);
    info->support = e ? AXLE_SUPPORT_YES : AXLE_SUPPORT_NO;
    if (e && info->struct_size >= AXLE_FIELD_END(axle_op_info, impl))
        strcpy(info->impl, "fake");
    return AXLE_OK;
}

static void read_parameters(const axle_op_desc *desc, double *parameters)
{
    if (desc->op == AXLE_OP_FILL) {
        parameters[0] = ((const axle_fill_attrs *)desc->attrs)->value;
    } else if (desc->op == AXLE_OP_UNARY) {
        parameters[0] = ((const axle_unary_attrs *)desc->attrs)->alpha;
        parameters[1] = ((const axle_unary_attrs *)desc->attrs)->beta;
    } else if (desc->op == AXLE_OP_BINARY) {
        parameters[0] = ((const axle_binary_attrs *)desc->attrs)->alpha;
    }
}

axle_status fake_op_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                            axle_error *error)
{
    (void)device;
    const entry *e = find(desc);
    if (!e)
        return fake_fail(error, AXLE_ERR_UNSUPPORTED, "fake: operator %u is not there", desc->op);
    if (matches(fake.prepare_fail, e))
        return fake_fail(error, AXLE_ERR_COMPILE, "fake: %s does not compile", e->name);
    axle_be_op *op = calloc(1, sizeof(*op));
    if (!op)
        return fake_fail(error, AXLE_ERR_NOMEM, "fake: no memory for an operator");
    op->entry = e;
    read_parameters(desc, op->parameters);
    *out = op;
    return AXLE_OK;
}

void fake_op_release(axle_be_op *op)
{
    fake_queues_drain();
    free(op);
}

/* Elements from dim `level` inwards; b repeats a where there is none. */
static void walk(const axle_be_op *op, const axle_view *y, const axle_view *a, const axle_view *b,
                 uint32_t level, const int64_t at[3])
{
    if (level == y->rank) {
        const float *from = (const float *)(a->buffer->data + a->offset);
        const float *with = (const float *)(b->buffer->data + b->offset);
        float *to = (float *)(y->buffer->data + y->offset);
        to[at[0]] = op->entry->apply(from[at[1]], with[at[2]], op->parameters);
        return;
    }
    for (int64_t k = 0; k < y->dim[level]; k++) {
        const int64_t next[3] = {at[0] + k * y->stride[level], at[1] + k * a->stride[level],
                                 at[2] + k * b->stride[level]};
        walk(op, y, a, b, level + 1, next);
    }
}

static axle_status fail(const entry *e, axle_error *error)
{
    if (error && fake.sticky)
        error->flags |= AXLE_ERROR_STICKY;
    return fake_fail(error, (axle_status)fake.fail_code, "fake: %s fails, as asked", e->name);
}

/* The first element becomes one more than it is. */
static void spoil(const axle_view *y)
{
    float *first = (float *)(void *)(y->buffer->data + y->offset);
    *first += 1.0f;
}

/* The element behind the last one. */
static void overrun(const axle_view *y)
{
    int64_t last = 0;
    for (uint32_t k = 0; k < y->rank; k++)
        last += (y->dim[k] - 1) * y->stride[k];
    ((float *)(y->buffer->data + y->offset))[last + 1] = 7.0f;
}

static void drift(const axle_view *y)
{
    static _Atomic int runs;
    float *first = (float *)(y->buffer->data + y->offset);
    *first = nextafterf(*first, runs++ % 2 ? 100.0f : -100.0f);
}

static void play_tricks(const entry *e, const axle_view *y)
{
    if (matches(fake.op_wrong, e))
        spoil(y);
    if (matches(fake.op_overrun, e))
        overrun(y);
    if (matches(fake.op_drift, e))
        drift(y);
    fake_misbehave(matches(fake.op_crash, e) ? "crash" : matches(fake.op_hang, e) ? "hang" : "");
}

axle_status fake_op_execute(axle_be_op *op, const axle_op_args *args, axle_error *error)
{
    static _Atomic int64_t matched;
    if (fake.delay_ms > 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)(fake.delay_ms / 1000),
                                     .tv_nsec = (long)(fake.delay_ms % 1000) * 1000000},
                  NULL);
    if (matches(fake.op_fail, op->entry) && matched++ >= fake.op_fail_after)
        return fail(op->entry, error);
    const axle_view *y = args->out[0];
    const axle_view *a = args->n_in > 0 ? args->in[0] : y, *b = args->n_in > 1 ? args->in[1] : a;
    if (y->buffer)
        walk(op, y, a, b, 0, (const int64_t[3]){0, 0, 0});
    if (y->buffer)
        play_tricks(op->entry, y);
    return AXLE_OK;
}

axle_status fake_op_run(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                        axle_error *error)
{
    return fake_queue_push(queue, op, args, error);
}
