/* SPDX-License-Identifier: Apache-2.0 */
#include "device/fallback.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/settings.h"
#include "device/hook.h"
#include "device/op_text.h"

/* One operand as the host sees it. */
typedef struct host_operand {
    axle_view view;
    axle_be_buffer *buffer; /* of the host's device */
    unsigned char *copy;    /* content, where the device's memory is not visible */
    uint64_t size;
    bool writes;
} host_operand;

typedef struct host_call {
    axle_device *device, *host;
    axle__call call;
    host_operand operand[AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT];
    int count;
} host_call;

static int device_copy(axle_device *device, const axle_view *view, void *data, uint64_t size,
                       bool to_device)
{
    axle__block block = {
        .device = device, .buffer = view->buffer, .offset = view->offset, .size = size};
    return to_device ? axle__block_write(&block, 0, data, size)
                     : axle__block_read(&block, 0, data, size);
}

/* Address of the operand's first element in host memory, copied there if need be. */
static int bring(host_call *c, host_operand *o, const axle_view *view, void **address)
{
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    if (c->device->host_visible) {
        axle_status status =
            c->device->api->buffer_map(c->device->queue, view->buffer, view->offset, o->size,
                                       AXLE_MAP_READ | AXLE_MAP_WRITE, address, &error.error);
        return status ? axle__device_failed(c->device, "map", status, &error.error) : AXLE_OK;
    }
    o->copy = axle__alloc(1, o->size);
    if (!o->copy)
        return AXLE_ERR_NOMEM;
    *address = o->copy;
    return device_copy(c->device, view, o->copy, o->size, false);
}

static int add_operand(host_call *c, const axle_view *view, bool writes, const axle_view **out)
{
    *out = NULL;
    if (!view)
        return AXLE_OK;
    host_operand *o = &c->operand[c->count++];
    o->view = *view;
    o->view.buffer = NULL;
    o->view.offset = 0;
    o->size = axle__view_bytes(view);
    o->writes = writes;
    *out = &o->view;
    if (o->size == 0)
        return AXLE_OK;
    void *address = NULL;
    int status = bring(c, o, view, &address);
    if (status)
        return status;
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    status =
        c->host->api->buffer_import(c->host->handle, address, o->size, &o->buffer, &error.error);
    if (status)
        return axle__device_failed(c->host, "import", status, &error.error);
    o->view.buffer = o->buffer;
    return AXLE_OK;
}

static int bring_all(host_call *c, const axle__call *call)
{
    int status = AXLE_OK;
    c->call = *call;
    for (uint32_t k = 0; k < call->n_in && !status; k++)
        status = add_operand(c, call->in[k], false, &c->call.in[k]);
    for (uint32_t k = 0; k < call->n_out && !status; k++)
        status = add_operand(c, call->out[k], true, &c->call.out[k]);
    return status;
}

static int write_back(host_call *c, const axle__call *call)
{
    int status = AXLE_OK;
    host_operand *o = c->operand + c->count - 1;
    for (int k = (int)call->n_out - 1; k >= 0; k--) {
        if (!call->out[k])
            continue;
        if (o->copy && !status)
            status = device_copy(c->device, call->out[k], o->copy, o->size, true);
        o--;
    }
    return status;
}

static void release_all(host_call *c)
{
    for (int k = 0; k < c->count; k++) {
        if (c->operand[k].buffer)
            c->host->api->buffer_destroy(c->operand[k].buffer);
        axle__free(c->operand[k].copy);
    }
}

static int count_fallback(axle_device *device, uint32_t op)
{
    const char *name = axle__op_name(op), *setting = axle__setting(AXLE_SETTING_FALLBACK);
    if (strcmp(setting, "error") != 0 && strcmp(setting, "allow") != 0)
        return axle_error_set(AXLE_ERR_INVALID, "AXLE_FALLBACK=%s: it is allow or error", setting);
    if (strcmp(setting, "error") == 0)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "%s: %s does not support these operands, and AXLE_FALLBACK=error "
                              "forbids the host to run it",
                              name, device->plugin->name);
    __atomic_add_fetch(&device->fallbacks, 1, __ATOMIC_RELAXED);
    uint64_t bit = UINT64_C(1) << (op % 64);
    if (!(__atomic_fetch_or(&device->fallback_logged[op / 64 % 2], bit, __ATOMIC_RELAXED) & bit))
        axle__info("device", "%s: operator %s runs on the host", device->plugin->name, name);
    return AXLE_OK;
}

static int run_on_host(axle_device *device, const axle__call *call)
{
    int status = count_fallback(device, call->op);
    if (!status && !device->synchronous)
        status = axle__device_finish(device);
    if (status)
        return status;
    host_call c = {.device = device, .host = axle_device_host()};
    status = c.host ? bring_all(&c, call) : AXLE_ERR_NOMEM;
    if (!status)
        status = axle__dispatch(c.host, &c.call);
    if (!status)
        status = write_back(&c, call);
    release_all(&c);
    return status;
}

int axle__fallback_run(axle_device *device, const axle__call *call)
{
    if (!axle__hooks_active())
        return run_on_host(device, call);
    axle__hook_point point = {.kind = AXLE__HOOK_FALLBACK, .device = device, .call = call};
    int status = axle__hook_before(&point);
    if (!status)
        status = run_on_host(device, call);
    return axle__hook_after(&point, status);
}

/* ------------------------------------------------------------------ row-major copies */

typedef struct packed_operand {
    axle_view view;
    axle__block *block;
} packed_operand;

static int copy_view(axle_device *device, const axle_view *from, const axle_view *to)
{
    axle__call call = {.op = AXLE_OP_COPY, .n_in = 1, .n_out = 1, .in = {from}, .out = {to}};
    return axle__dispatch(device, &call);
}

/* Replace an operand by a row-major copy; the operator COPY itself must take strides. */
static int pack(axle_device *device, packed_operand *p, const axle_view **operand)
{
    const axle_view *view = *operand;
    if (!view || axle__view_is_row_major(view))
        return AXLE_OK;
    int64_t count = 1;
    p->view = *view;
    for (int k = (int)view->rank - 1; k >= 0; k--) {
        p->view.stride[k] = count;
        count *= view->dim[k];
    }
    p->block = axle__block_alloc(device, (uint64_t)count * axle_dtype_size((int)view->dtype));
    if (!p->block)
        return axle_error_code();
    p->view.buffer = p->block->buffer;
    p->view.offset = p->block->offset;
    *operand = &p->view;
    return copy_view(device, view, &p->view);
}

int axle__contiguous_run(axle_device *device, const axle__call *call)
{
    if (call->op == AXLE_OP_COPY)
        return axle__fallback_run(device, call);
    packed_operand packed[AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT] = {0};
    axle__call row_major = *call;
    int status = AXLE_OK;
    for (uint32_t k = 0; k < call->n_in && !status; k++)
        status = pack(device, &packed[k], &row_major.in[k]);
    for (uint32_t k = 0; k < call->n_out && !status; k++)
        status = pack(device, &packed[AXLE_OP_MAX_IN + k], &row_major.out[k]);
    if (!status)
        status = axle__dispatch(device, &row_major);
    for (uint32_t k = 0; k < call->n_out && !status; k++)
        if (row_major.out[k] != call->out[k])
            status = copy_view(device, row_major.out[k], call->out[k]);
    for (int k = 0; k < AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT; k++)
        axle__block_free(packed[k].block);
    return status;
}
