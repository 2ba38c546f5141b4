/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operator: forward, or for NAME_backward the backward pass through it. Beside one that is
 * bound by memory stands a copy within the device of as many bytes: half of them read, half
 * written.
 */
#define _GNU_SOURCE 1
#include "bench_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "option_value.h"

enum { MOST_NAMES = 128, NAME_SIZE = 32 };
#define BACKWARD "_backward"

typedef struct copier {
    axle_tensor *from, *to;
    axle_device *device;
} copier;

typedef struct op_call {
    const op_entry *entry;
    op_operands operands;
    axle_tensor *y, *dy; /* backward */
    axle_device *device;
    copier copier;
} op_call;

/* What to make. */
typedef struct op_wish {
    const op_entry *entry;
    int backward, dtype;
    int64_t dim[BENCH_MOST_NUMBERS];
    int rank;
} op_wish;

/* ------------------------------------------------------------------ names */

static char text[MOST_NAMES][NAME_SIZE];
static const char *names[MOST_NAMES + 1];

/* Name number k is of entry of[k]. */
static int of[MOST_NAMES];

static void add_name(int *count, int entry, const char *ending)
{
    snprintf(text[*count], NAME_SIZE, "%s%s", op_entries[entry].name, ending);
    names[*count] = text[*count];
    of[(*count)++] = entry;
}

const char *const *bench_op_names(void)
{
    int count = 0;
    if (names[0])
        return names;
    for (int k = 0; k < op_entry_count && count + 2 <= MOST_NAMES; k++) {
        add_name(&count, k, "");
        if (op_entries[k].gradient)
            add_name(&count, k, BACKWARD);
    }
    return names;
}

static int is_backward(const char *name)
{
    size_t length = strlen(name), ending = strlen(BACKWARD);
    return length > ending && strcmp(name + length - ending, BACKWARD) == 0;
}

/* ------------------------------------------------------------------ runs */

static int forward(void *user)
{
    op_call *c = user;
    if (axle_scope_push())
        return -1;
    axle_no_grad_push();
    int failed = !c->entry->apply(&c->operands) || axle_device_synchronize(c->device);
    axle_no_grad_pop();
    axle_scope_pop();
    return failed;
}

static int backward(void *user)
{
    op_call *c = user;
    int code = AXLE_OK;
    for (int k = 0; k < OP_MOST_OPERANDS && !code; k++)
        if (c->operands.in[k] && axle_tensor_requires_grad(c->operands.in[k]))
            code = axle_tensor_set_grad(c->operands.in[k], NULL);
    if (!code)
        code = axle_tensor_backward(c->y, c->dy, 1);
    return code ? code : axle_device_synchronize(c->device);
}

static int step(void *user)
{
    op_call *c = user;
    int code = axle_optimizer_step(c->operands.optimizer);
    return code ? code : axle_device_synchronize(c->device);
}

static int copy(void *user)
{
    const copier *c = user;
    int code = axle_tensor_assign(c->to, c->from);
    return code ? code : axle_device_synchronize(c->device);
}

/* ------------------------------------------------------------------ making */

static double bytes_of(const axle_tensor *x)
{
    return x ? (double)axle_tensor_count(x) * (double)axle_dtype_size(axle_tensor_dtype(x)) : 0.0;
}

/* Forward reads the operands and writes the result. Backward reads operands and the result's
 * gradient, and writes the operands' gradients. */
static double moved_bytes(const op_call *c, const axle_tensor *y)
{
    const op_operands *o = &c->operands;
    if (c->entry->passes) {
        double count = (double)axle_dtype_size(o->dtype) * c->entry->passes;
        for (int k = 0; k < o->rank; k++)
            count *= (double)o->dim[k];
        return count;
    }
    double bytes = bytes_of(y);
    for (int k = 0; k < OP_MOST_OPERANDS; k++)
        if (o->in[k])
            bytes += bytes_of(o->in[k]) * (c->y && axle_tensor_requires_grad(o->in[k]) ? 2.0 : 1.0);
    return bytes;
}

static int create_copier(op_call *c, double bytes)
{
    int64_t elements = (int64_t)(bytes / 2.0 / sizeof(float));
    elements = elements ? elements : 1;
    c->copier = (copier){.from = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(elements), 0.5),
                         .to = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(elements)),
                         .device = c->device};
    return c->copier.from && c->copier.to ? AXLE_OK : axle_error_code();
}

/* The graph that backward passes go through, and the gradient that they begin with. */
static int record(op_call *c)
{
    int code = AXLE_OK;
    for (int k = 0; k < OP_MOST_OPERANDS && !code; k++) {
        axle_tensor *x = c->operands.in[k];
        if (x && axle_dtype_is_float(axle_tensor_dtype(x)))
            code = axle_tensor_set_requires_grad(x, 1);
    }
    if (code)
        return code;
    c->y = c->entry->apply(&c->operands);
    if (c->y)
        c->dy =
            axle_full(axle_tensor_dtype(c->y), axle_tensor_rank(c->y), axle_tensor_dims(c->y), 0.5);
    return c->dy ? AXLE_OK : axle_error_code();
}

/* Bytes of a forward pass; negative where it fails. */
static double try_forward(op_call *c)
{
    if (axle_scope_push())
        return -1.0;
    axle_no_grad_push();
    axle_tensor *y = c->entry->apply(&c->operands);
    double bytes = y ? moved_bytes(c, y) : -1.0;
    axle_no_grad_pop();
    axle_scope_pop();
    return bytes;
}

static int fill_in(op_call *c, const op_wish *wish, bench_pair *out)
{
    op_operands *o = &c->operands;
    c->entry->make(o);
    if (axle_error_code())
        return axle_error_code();
    int (*run)(void *) = wish->backward ? backward : c->entry->apply ? forward : step;
    int code = wish->backward ? record(c) : AXLE_OK;
    out->bytes = c->y              ? moved_bytes(c, c->y)
                 : c->entry->apply ? try_forward(c)
                                   : moved_bytes(c, NULL);
    if (code || out->bytes < 0.0)
        return code ? code : axle_error_code();
    out->work = (bench_work){run, c, c->device};
    if (c->entry->flops) {
        out->flops = c->entry->flops(o) * (wish->backward ? 2.0 : 1.0);
        out->bytes = 0.0;
        return AXLE_OK;
    }
    code = create_copier(c, out->bytes);
    out->limit = (bench_work){copy, &c->copier, c->device};
    return code;
}

static int create(const bench_subject *subject, const bench_backend *backend, bench_pair *out)
{
    const op_wish *wish = subject->params;
    op_call *c = calloc(1, sizeof(*c));
    if (!c)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    out->work = (bench_work){NULL, c, backend->device};
    c->entry = wish->entry;
    c->device = backend->device;
    c->operands.rank = wish->rank;
    c->operands.dtype = wish->dtype;
    memcpy(c->operands.dim, wish->dim, sizeof(wish->dim));
    if (!axle_device_supports(backend->device, wish->dtype))
        return axle_error_set(AXLE_ERR_DTYPE, "%s does not compute in %s",
                              axle_device_backend(backend->device), axle_dtype_name(wish->dtype));
    return fill_in(c, wish, out);
}

static void release(bench_pair *pair)
{
    op_call *c = pair->work.user;
    if (c)
        axle_optimizer_release(c->operands.optimizer);
    free(c);
}

/* ------------------------------------------------------------------ the benchmark */

static int measure(const bench_settings *settings, const char *name, const char *shape)
{
    op_wish wish = {.entry = &op_entries[of[names_find(bench_op_names(), name)]],
                    .backward = is_backward(name),
                    .dtype = bench_dtype(settings)};
    char about[96];
    wish.rank = bench_parse_shape(shape ? shape : wish.entry->shape, wish.entry->least,
                                  wish.entry->most, wish.entry->form, wish.dim);
    if (wish.rank < 0)
        return wish.rank;
    snprintf(about, sizeof(about), "%s %s", name, shape ? shape : wish.entry->shape);
    bench_subject subject = {
        .what = "op",
        .about = about,
        .unit = BENCH_MS,
        .params = &wish,
        .create = create,
        .release = release,
        .limit = "a copy of these bytes",
        .more = json_pack("{s:s, s:s}", "op", name, "dtype", axle_dtype_name(wish.dtype))};
    int code = bench_compare(settings, &subject);
    json_decref(subject.more);
    return code;
}

static int measure_shapes(const bench_settings *settings, const char *name)
{
    int code = settings->shapes.count ? AXLE_OK : measure(settings, name, NULL);
    for (int k = 0; k < settings->shapes.count && !code; k++)
        code = measure(settings, name, settings->shapes.item[k]);
    return code;
}

static int check_name(const char *name)
{
    const char *const *all = bench_op_names();
    if (names_find(all, name) >= 0)
        return AXLE_OK;
    char problem[PROBLEM_SIZE];
    option_value_unknown(name, all, problem);
    return axle_error_set(AXLE_ERR_NOT_FOUND, "%s", problem);
}

int bench_op(const bench_settings *settings)
{
    int code = AXLE_OK;
    for (int k = 0; k < settings->ops.count && !code; k++)
        code = check_name(settings->ops.item[k]);
    for (int k = 0; k < settings->ops.count && !code; k++)
        code = measure_shapes(settings, settings->ops.item[k]);
    for (const char *const *name = bench_op_names(); *name && !settings->ops.count && !code; name++)
        code = measure_shapes(settings, *name);
    return code;
}
