/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hook "check": runs each operator with the reference kernels, too, and compares. Operands are
 * copied to the host before the device runs, since operators may change them; a difference is an
 * error of the operator, as if the backend had reported it.
 */
#include "device/hook.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "device/check.h"
#include "device/op_text.h"

enum { OPERANDS = AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT, FIRST_OUT = AXLE_OP_MAX_IN };

/* Memory of the host with a view of it. */
typedef struct copy {
    axle_view view;
    void *bytes;
    uint64_t size;
} copy;

/* A call on copies: inputs, and outputs from place FIRST_OUT. */
typedef struct shadow {
    axle__call call;
    copy operand[OPERANDS];
} shadow;

/* What was compared since the hook was turned on; atomic. */
static struct {
    uint64_t calls, elements, wrong; /* wrong: calls */
} compared;

typedef struct check {
    const axle__hook_point *point;
    axle_device *host;
    shadow run;  /* what the device is given; the reference runs it */
    shadow wide; /* absolute values in f64, of calls whose elements are sums */
} check;

/* Where operand `i` stands in a call; NULL where it is absent. */
static const axle_view **place_of(axle__call *call, uint32_t i)
{
    bool is_out = i >= FIRST_OUT;
    if (is_out ? i - FIRST_OUT >= call->n_out : i >= call->n_in)
        return NULL;
    const axle_view **place = is_out ? &call->out[i - FIRST_OUT] : &call->in[i];
    return *place ? place : NULL;
}

/* ------------------------------------------------------------------ copies */

static int read_device(axle_device *device, const axle_view *view, void *to, uint64_t size)
{
    axle__block block = {
        .device = device, .buffer = view->buffer, .offset = view->offset, .size = size};
    return axle__block_read(&block, 0, to, size);
}

/* Make the bytes of a copy memory of the host's device. */
static int import(axle_device *host, copy *c)
{
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    c->view.offset = 0;
    c->view.buffer = NULL;
    if (c->size == 0)
        return AXLE_OK;
    axle_status status =
        host->api->buffer_import(host->handle, c->bytes, c->size, &c->view.buffer, &error.error);
    return status ? axle__device_failed(host, "import", status, &error.error) : AXLE_OK;
}

static void copy_release(const axle_device *host, copy *c)
{
    if (c->view.buffer)
        host->api->buffer_destroy(c->view.buffer);
    axle__free(c->bytes);
    *c = (copy){.bytes = NULL};
}

/* Memory for a view of the same shape; it begins full of NaN. */
static int copy_make(axle_device *host, const axle_view *view, copy *out)
{
    out->view = *view;
    out->view.buffer = NULL;
    out->size = axle__view_bytes(view);
    out->bytes = axle__alloc(1, out->size);
    if (!out->bytes)
        return axle_error_code();
    memset(out->bytes, 0xff, out->size);
    return import(host, out);
}

static axle_view row_major(const axle_view *view, uint32_t dtype)
{
    axle_view out = {.dtype = dtype, .rank = view->rank};
    int64_t stride = 1;
    for (int d = (int)view->rank - 1; d >= 0; d--) {
        out.dim[d] = view->dim[d];
        out.stride[d] = stride;
        stride *= view->dim[d];
    }
    return out;
}

static int run_on_host(axle_device *host, uint32_t op, const axle_unary_attrs *attrs,
                       const axle_view *from, const axle_view *to)
{
    axle__call call = {.op = op,
                       .n_in = 1,
                       .n_out = 1,
                       .in = {from},
                       .out = {to},
                       .attrs = attrs,
                       .attrs_size = attrs ? sizeof(*attrs) : 0};
    return axle__dispatch(host, &call);
}

/* The elements of a view of the host in row-major order, as f64 or i64. */
static int widen(axle_device *host, const axle_view *view, uint32_t as, copy *out)
{
    axle_view wide = row_major(view, as);
    int status = copy_make(host, &wide, out);
    return status ? status : run_on_host(host, AXLE_OP_COPY, NULL, view, &out->view);
}

static int widen_absolute(axle_device *host, const axle_view *view, copy *out)
{
    static const axle_unary_attrs abs = {.struct_size = sizeof(abs), .kind = AXLE_UNARY_ABS};
    int status = widen(host, view, AXLE_DTYPE_F64, out);
    return status ? status : run_on_host(host, AXLE_OP_UNARY, &abs, &out->view, &out->view);
}

static bool is_float(const axle_view *view)
{
    return axle__dtype_tolerance(view->dtype) != NULL;
}

/* ------------------------------------------------------------------ before */

static void check_release(check *k)
{
    for (int i = 0; i < OPERANDS; i++) {
        copy_release(k->host, &k->run.operand[i]);
        copy_release(k->host, &k->wide.operand[i]);
    }
    axle__free(k);
}

/* Copy what the operator reads. */
static int copy_operands(check *k)
{
    axle__call *call = &k->run.call;
    int status = AXLE_OK;
    for (uint32_t i = 0; i < OPERANDS && !status; i++) {
        const axle_view **place = place_of(call, i);
        copy *c = &k->run.operand[i];
        if (!place)
            continue;
        status = copy_make(k->host, *place, c);
        if (!status && c->size && (i < FIRST_OUT || axle__call_reads_output(call, i - FIRST_OUT)))
            status = read_device(k->point->device, *place, c->bytes, c->size);
        *place = &c->view;
    }
    return status;
}

static int before(const axle__hook_point *point, axle__hook_state *state)
{
    state->memory = NULL;
    if (point->kind != AXLE__HOOK_RUN)
        return AXLE_OK;
    axle_device *host = axle_device_host();
    check *k = host ? axle__alloc(1, sizeof(*k)) : NULL;
    if (!k)
        return axle_error_code();
    k->point = point;
    k->host = host;
    k->run.call = *point->call;
    int status = copy_operands(k);
    if (status)
        check_release(k);
    else
        state->memory = k;
    return status;
}

/* ------------------------------------------------------------------ scales */

/* Run the call on absolute values, so that each element becomes the sum of its terms' magnitudes.
 * Done before the reference runs, while what outputs held is still there. */
static int run_magnitudes(check *k)
{
    _Alignas(8) unsigned char attrs[AXLE__ATTRS_MOST];
    int status = AXLE_OK;
    axle__call_of_magnitudes(&k->run.call, attrs, &k->wide.call);
    for (uint32_t i = 0; i < OPERANDS && !status; i++) {
        const axle_view **place = place_of(&k->wide.call, i);
        copy *c = &k->wide.operand[i];
        if (!place || !is_float(*place))
            continue;
        status = widen_absolute(k->host, *place, c);
        *place = &c->view;
    }
    return status ? status : axle__dispatch(k->host, &k->wide.call);
}

static double largest_of(const check *k, const axle_view *view)
{
    copy c = {.bytes = NULL};
    double largest = 0.0;
    if (view && is_float(view) && widen(k->host, view, AXLE_DTYPE_F64, &c) == AXLE_OK)
        largest = axle__largest(c.bytes, axle__view_elements(view));
    copy_release(k->host, &c);
    return largest;
}

/* What the elements of an output are measured by: the largest of them, and that of the operand of
 * which they are sums. */
static double scale_of(const check *k, const double *expected, uint64_t count)
{
    const axle__call *call = &k->run.call;
    double scale = axle__largest(expected, count), operand = 0.0;
    if (axle__call_scales_by_operand(call))
        operand = largest_of(k, call->in[0]);
    if (axle__call_divides_by_deviation(call)) {
        double rstd = largest_of(k, call->in[call->n_in - 1]);
        operand *= rstd > 1.0 ? rstd : 1.0;
    }
    return operand > scale ? operand : scale;
}

/* ------------------------------------------------------------------ the verdict */

static void place_text(axle__text *text, const axle_view *view, uint64_t number)
{
    uint64_t below = axle__view_elements(view);
    axle__text_add(text, "(");
    for (uint32_t d = 0; d < view->rank; d++) {
        below /= (uint64_t)view->dim[d];
        axle__text_add(text, "%s%llu", d ? ", " : "", (unsigned long long)(number / below));
        number %= below;
    }
    axle__text_add(text, ")");
}

static void value_text(axle__text *text, const axle__comparison *c, const void *values, uint64_t at)
{
    if (axle__dtype_tolerance(c->dtype))
        axle__text_add(text, "%.9g", ((const double *)values)[at]);
    else
        axle__text_add(text, "%lld", (long long)((const int64_t *)values)[at]);
}

static int report(const check *k, uint32_t out, const axle__comparison *c,
                  const axle__difference *found)
{
    const axle__call *call = &k->run.call;
    const char *phase = axle__phase_current();
    char buffer[900];
    axle__text text;
    axle__text_init(&text, buffer, sizeof(buffer));
    axle__text_add(&text, "expected ");
    value_text(&text, c, c->expected, found->worst);
    axle__text_add(&text, ", got ");
    value_text(&text, c, c->got, found->worst);
    axle__text_add(&text, " in output %u at ", out);
    place_text(&text, call->out[out], found->worst);
    if (found->allowed > 0.0)
        axle__text_add(&text, ", %.3g being allowed", found->allowed);
    axle__text_add(&text, "; %llu of %llu elements differ from the reference; ",
                   (unsigned long long)found->wrong, (unsigned long long)c->count);
    axle__views_text(&text, call->n_in, call->in);
    axle__text_add(&text, " -> ");
    axle__views_text(&text, call->n_out, call->out);
    return axle_error_set(AXLE_ERR_DEVICE, "%s: check: %s%s%s%s%s%s: %s",
                          k->point->device->plugin->name, axle__call_label(call),
                          *k->point->impl ? " by " : "", k->point->impl, phase ? " (" : "",
                          phase ? phase : "", phase ? ")" : "", buffer);
}

/* Compare output `out`, given what the device made of it, and the widened expectation. */
static int judge(const check *k, uint32_t out, const copy *expected, const copy *got,
                 const copy *source)
{
    const axle__call *call = &k->run.call;
    axle__comparison c = {.call = call,
                          .dtype = call->out[out]->dtype,
                          .count = axle__view_elements(call->out[out]),
                          .expected = expected->bytes,
                          .got = got->bytes,
                          .magnitude = k->wide.operand[FIRST_OUT + out].bytes,
                          .source = source->bytes};
    axle__difference found;
    if (axle__call_closeness(call) == AXLE__CLOSE_WHOLE && is_float(call->out[out]))
        c.scale = scale_of(k, c.expected, c.count);
    axle__compare(&c, &found);
    return found.wrong ? report(k, out, &c, &found) : AXLE_OK;
}

static int compare_output(check *k, uint32_t out)
{
    copy *reference = &k->run.operand[FIRST_OUT + out];
    const axle_view *device_view = k->point->call->out[out];
    uint32_t as = is_float(device_view) ? AXLE_DTYPE_F64 : AXLE_DTYPE_I64;
    copy narrow = {.bytes = NULL}, expected = narrow, got = narrow, source = narrow;
    int status = copy_make(k->host, device_view, &narrow);
    if (!status)
        status = read_device(k->point->device, device_view, narrow.bytes, narrow.size);
    if (!status)
        status = widen(k->host, &narrow.view, as, &got);
    if (!status)
        status = widen(k->host, &reference->view, as, &expected);
    if (!status && k->run.call.op == AXLE_OP_COPY && is_float(k->run.call.in[0]))
        status = widen(k->host, k->run.call.in[0], AXLE_DTYPE_F64, &source);
    if (!status)
        status = judge(k, out, &expected, &got, &source);
    __atomic_fetch_add(&compared.elements, axle__view_elements(device_view), __ATOMIC_RELAXED);
    copy_release(k->host, &narrow);
    copy_release(k->host, &expected);
    copy_release(k->host, &got);
    copy_release(k->host, &source);
    return status;
}

/* Sums of floats alone have magnitudes. */
static bool needs_magnitudes(const axle__call *call)
{
    if (axle__call_closeness(call) != AXLE__CLOSE_SUMMED)
        return false;
    for (uint32_t i = 0; i < call->n_out; i++)
        if (call->out[i] && is_float(call->out[i]))
            return true;
    return false;
}

static int compare_all(check *k)
{
    int status = axle__device_finish(k->point->device);
    if (!status && needs_magnitudes(&k->run.call))
        status = run_magnitudes(k);
    if (!status)
        status = axle__dispatch(k->host, &k->run.call);
    for (uint32_t i = 0; i < k->run.call.n_out && !status; i++)
        if (k->run.call.out[i] && k->run.operand[FIRST_OUT + i].size)
            status = compare_output(k, i);
    return status;
}

static int after(const axle__hook_point *point, axle__hook_state *state, int status)
{
    check *k = state->memory;
    (void)point;
    if (!k)
        return status;
    if (!status) {
        status = compare_all(k);
        __atomic_fetch_add(&compared.calls, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&compared.wrong, status != AXLE_OK, __ATOMIC_RELAXED);
    }
    check_release(k);
    return status;
}

static int start(void)
{
    memset(&compared, 0, sizeof(compared));
    return AXLE_OK;
}

/* Who asked for a check wants to hear that there was one. */
static void stop(void)
{
    char wrong[40] = "none differs";
    if (compared.wrong)
        snprintf(wrong, sizeof(wrong), "%llu failed", (unsigned long long)compared.wrong);
    axle__info("check",
               "%llu calls of operators, with %llu elements, compared with the reference: %s",
               (unsigned long long)compared.calls, (unsigned long long)compared.elements, wrong);
}

const axle__hook axle__hook_check = {
    .name = "check", .start = start, .stop = stop, .before = before, .after = after};
