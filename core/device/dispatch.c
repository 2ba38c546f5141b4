/* SPDX-License-Identifier: Apache-2.0 */
#include "device/dispatch.h"

#include <string.h>

#include "device/fallback.h"
#include "device/hook.h"
#include "device/op_cache.h"

static const char *const op_names[AXLE_OP_LIMIT] = {
#define OP_NAME(number, name, text, n_in, n_out) [number] = text,
    AXLE_OP_LIST(OP_NAME)
#undef OP_NAME
};

const char *axle__op_name(uint32_t op)
{
    return op < AXLE_OP_LIMIT && op_names[op] ? op_names[op] : "unknown operator";
}

/* The description that plugins get: views without buffers. */
typedef struct description {
    axle_op_desc desc;
    axle_view view[AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT];
    const axle_view *in[AXLE_OP_MAX_IN], *out[AXLE_OP_MAX_OUT];
} description;

static const axle_view *without_buffer(axle_view *copy, const axle_view *view)
{
    if (!view)
        return NULL;
    *copy = *view;
    copy->buffer = NULL;
    copy->offset = 0;
    return copy;
}

static void describe(description *d, const axle__call *call)
{
    for (uint32_t k = 0; k < call->n_in; k++)
        d->in[k] = without_buffer(&d->view[k], call->in[k]);
    for (uint32_t k = 0; k < call->n_out; k++)
        d->out[k] = without_buffer(&d->view[AXLE_OP_MAX_IN + k], call->out[k]);
    d->desc = (axle_op_desc){.struct_size = sizeof(axle_op_desc),
                             .op = call->op,
                             .n_in = call->n_in,
                             .n_out = call->n_out,
                             .in = d->in,
                             .out = d->out,
                             .attrs = call->attrs,
                             .flags = call->flags};
}

static axle_op_info query(axle_device *device, const axle_op_desc *desc)
{
    axle_op_info info = {.struct_size = sizeof(info)};
    if (!AXLE_HAS(device->api, axle_device_api, op_query) ||
        !AXLE_HAS(device->api, axle_device_api, op_prepare) ||
        !AXLE_HAS(device->api, axle_device_api, op_run) ||
        device->api->op_query(device->handle, desc, &info) != AXLE_OK)
        info.support = AXLE_SUPPORT_NO;
    return info;
}

bool axle__dispatch_supported(axle_device *device, const axle__call *call)
{
    description d;
    describe(&d, call);
    return query(device, &d.desc).support != AXLE_SUPPORT_NO;
}

bool axle__view_is_row_major(const axle_view *view)
{
    int64_t expected = 1;
    bool good = true;
    for (int k = (int)view->rank - 1; k >= 0; k--) {
        if (view->dim[k] == 0)
            return true;
        good = good && (view->dim[k] == 1 || view->stride[k] == expected);
        expected *= view->dim[k];
    }
    return good;
}

static bool all_row_major(const axle_op_desc *desc)
{
    for (uint32_t k = 0; k < desc->n_in; k++)
        if (desc->in[k] && !axle__view_is_row_major(desc->in[k]))
            return false;
    for (uint32_t k = 0; k < desc->n_out; k++)
        if (desc->out[k] && !axle__view_is_row_major(desc->out[k]))
            return false;
    return true;
}

static int prepare(axle_device *device, const axle_op_desc *desc, axle__op_entry *entry)
{
    axle_op_info info = query(device, desc);
    if (info.support == AXLE_SUPPORT_CONTIGUOUS && all_row_major(desc))
        info.support = AXLE_SUPPORT_YES;
    entry->workspace_size = info.workspace_size;
    entry->layout = info.layout;
    memcpy(entry->impl, info.impl, sizeof(entry->impl) - 1);
    if (info.support != AXLE_SUPPORT_YES && device != axle_device_host()) {
        entry->route =
            info.support == AXLE_SUPPORT_CONTIGUOUS ? AXLE__ROUTE_CONTIGUOUS : AXLE__ROUTE_HOST;
        return AXLE_OK;
    }
    entry->route = AXLE__ROUTE_DEVICE;
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    axle_status status = device->api->op_prepare(device->handle, desc, &entry->op, &error.error);
    if (status != AXLE_OK)
        return axle__device_failed(device, axle__op_name(desc->op), status, &error.error);
    return AXLE_OK;
}

/* The cache's entry for a call; NULL and a recorded error on failure. */
static axle__op_entry *entry_of(axle_device *device, const axle__call *call)
{
    axle__op_key key;
    if (!axle__op_key_make(&key, call)) {
        axle_error_set(AXLE_ERR_INTERNAL, "%s: attributes of %u bytes", axle__op_name(call->op),
                       call->attrs_size);
        return NULL;
    }
    axle__op_entry *entry = axle__op_cache_find(device->cache, &key);
    if (entry)
        return entry;
    entry = axle__op_entry_create(device, &key);
    if (!entry)
        return NULL;
    description d;
    describe(&d, call);
    if (prepare(device, &d.desc, entry) == AXLE_OK)
        return axle__op_cache_insert(device->cache, entry);
    entry->op = NULL;
    axle__op_cache_discard(entry);
    return NULL;
}

uint32_t axle__dispatch_layout(axle_device *device, const axle__call *call)
{
    axle__op_entry *entry = entry_of(device, call);
    if (!entry)
        return AXLE_LAYOUT_ROW_MAJOR;
    uint32_t layout = entry->layout;
    axle__op_cache_leave(device->cache, entry);
    return layout;
}

static int run_prepared(axle_device *device, const axle__call *call, const axle__op_entry *entry)
{
    axle_op_args args = {.struct_size = sizeof(args),
                         .n_in = call->n_in,
                         .n_out = call->n_out,
                         .in = call->in,
                         .out = call->out,
                         .rng_seed = call->rng_seed,
                         .rng_offset = call->rng_offset,
                         .scalars = call->scalars};
    axle__block *workspace = NULL;
    if (entry->workspace_size) {
        workspace = axle__block_alloc(device, entry->workspace_size);
        if (!workspace)
            return axle_error_code();
        args.workspace = workspace->buffer;
        args.workspace_offset = workspace->offset;
    }
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    if (device->dry) {
        axle__block_free(workspace);
        return AXLE_OK;
    }
    if (!device->synchronous)
        pthread_mutex_lock(&device->queue_lock);
    axle_status status = device->api->op_run(device->queue, entry->op, &args, &error.error);
    if (!device->synchronous)
        pthread_mutex_unlock(&device->queue_lock);
    axle__block_free(workspace);
    __atomic_add_fetch(&device->op_runs, 1, __ATOMIC_RELAXED);
    if (status != AXLE_OK)
        return axle__device_failed(device, axle__op_name(call->op), status, &error.error);
    return AXLE_OK;
}

static int run_hooked(axle_device *device, const axle__call *call, const axle__op_entry *entry)
{
    axle__hook_point point = {
        .kind = AXLE__HOOK_RUN, .device = device, .call = call, .impl = entry->impl};
    int status = axle__hook_before(&point);
    if (!status)
        status = run_prepared(device, call, entry);
    return axle__hook_after(&point, status);
}

static bool has_element(const axle_view *view)
{
    for (uint32_t k = 0; k < view->rank; k++)
        if (view->dim[k] == 0)
            return false;
    return true;
}

static bool has_output(const axle__call *call)
{
    for (uint32_t k = 0; k < call->n_out; k++)
        if (call->out[k] && has_element(call->out[k]))
            return true;
    return false;
}

int axle__dispatch(axle_device *device, const axle__call *call)
{
    if (!has_output(call))
        return AXLE_OK;
    if (device->lost)
        return axle_error_set(AXLE_ERR_DEVICE_LOST, "%s: device %s was lost by an earlier error",
                              axle__op_name(call->op), device->info.name);
    axle__op_entry *entry = entry_of(device, call);
    if (!entry)
        return axle_error_code();
    int status;
    if (entry->route == AXLE__ROUTE_DEVICE)
        status = axle__hooks_active() ? run_hooked(device, call, entry)
                                      : run_prepared(device, call, entry);
    else if (entry->route == AXLE__ROUTE_CONTIGUOUS)
        status = axle__contiguous_run(device, call);
    else
        status = device->dry ? AXLE_OK : axle__fallback_run(device, call);
    axle__op_cache_leave(device->cache, entry);
    return status;
}
