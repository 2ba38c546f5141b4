/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend that breaks one rule, which the option broken.mode names; without it, it is a device of
 * plain host memory. Its name is that of option broken.name, so that copies can go by other names.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axle/backend.h"

struct axle_be_device {
    uint32_t index;
};

struct axle_be_buffer {
    unsigned char *data;
};

static const axle_host *host;
static axle_plugin plugin;
static axle_device_api api;
static char plugin_name[64];

static const char *option(const char *key, const char *fallback)
{
    const char *value = host->option(host->ctx, key);
    return value ? value : fallback;
}

static int mode_is(const char *mode)
{
    return strcmp(option("broken.mode", ""), mode) == 0;
}

static axle_status fail(axle_error *error, axle_status status, const char *message)
{
    if (error && error->message_capacity > strlen(message))
        strcpy(error->message, message);
    return status;
}

static void crash(void)
{
    volatile int *volatile unmapped = (volatile int *)64;
    *unmapped = 1;
}

static int overflow_stack(int depth)
{
    volatile char frame[4096];
    frame[depth % 4096] = 1;
    return depth < 0 ? 0 : overflow_stack(depth + 1) + frame[depth % 4096];
}

/* ------------------------------------------------------------------ the device */

static axle_status buffer_create(axle_be_device *device, uint32_t kind, uint64_t size,
                                 axle_be_buffer **out, axle_error *error)
{
    (void)device;
    (void)kind;
    axle_be_buffer *buffer = malloc(sizeof(*buffer));
    if (!buffer || !(buffer->data = host->alloc(host->ctx, size, 64))) {
        free(buffer);
        return fail(error, AXLE_ERR_NOMEM, "no more");
    }
    *out = buffer;
    return AXLE_OK;
}

static void buffer_destroy(axle_be_buffer *buffer)
{
    host->free(host->ctx, buffer->data);
    free(buffer);
}

static axle_status buffer_map(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                              uint64_t size, uint32_t flags, void **out, axle_error *error)
{
    (void)queue;
    (void)size;
    (void)flags;
    (void)error;
    *out = buffer->data + offset;
    return AXLE_OK;
}

static const axle_device_api *device_api(axle_be_device *device)
{
    (void)device;
    api = (axle_device_api){.struct_size = sizeof(api)};
    api.buffer_create = mode_is("no-buffers") ? NULL : buffer_create;
    api.buffer_destroy = buffer_destroy;
    api.buffer_map = mode_is("no-map") ? NULL : buffer_map;
    return mode_is("no-table") ? NULL : &api;
}

static axle_status device_open(uint32_t index, axle_be_device **out, axle_error *error)
{
    if (mode_is("open-fails"))
        return fail(error, AXLE_ERR_DEVICE, "the cable is out");
    axle_be_device *device = malloc(sizeof(*device));
    if (!device)
        return fail(error, AXLE_ERR_NOMEM, "no memory");
    device->index = index;
    *out = device;
    return AXLE_OK;
}

static void device_close(axle_be_device *device)
{
    free(device);
}

/* ------------------------------------------------------------------ the plugin */

static int32_t probe(void)
{
    if (mode_is("probe-crashes"))
        crash();
    if (mode_is("probe-aborts"))
        abort();
    if (mode_is("probe-overflows"))
        return overflow_stack(0);
    while (mode_is("probe-hangs"))
        usleep(1000);
    return mode_is("of-no-use") ? 0 : atoi(option("broken.score", "5"));
}

static axle_status device_count(uint32_t *out, axle_error *error)
{
    if (mode_is("count-fails"))
        return fail(error, AXLE_ERR_IO, "the bus is silent");
    *out = mode_is("no-device") ? 0 : 2;
    return AXLE_OK;
}

static axle_status device_info(uint32_t index, axle_device_info *out, axle_error *error)
{
    (void)error;
    if (mode_is("info-crashes"))
        crash();
    out->kind = AXLE_DEVICE_GPU;
    out->caps = AXLE_CAP_HOST_VISIBLE;
    out->base_align = 64;
    out->compute_dtypes = AXLE_DTYPE_BIT(AXLE_DTYPE_F32);
    out->storage_dtypes = out->compute_dtypes;
    if (mode_is("long-names"))
        memset(out->name, 'x', sizeof(out->name));
    else
        strcpy(out->name, index == 0 ? "Radish 100" : "Turnip 200");
    return AXLE_OK;
}

static void shutdown_plugin(void)
{
    host->log(host->ctx, AXLE_LOG_WARN, "broken", "shut down");
}

static void fill_table(void)
{
    strncpy(plugin_name, option("broken.name", "broken"), sizeof(plugin_name) - 1);
    plugin = (axle_plugin){
        .struct_size = sizeof(plugin),
        .abi_major = AXLE_ABI_MAJOR,
        .abi_minor = mode_is("newer-minor") ? 77 : AXLE_ABI_MINOR,
        .name = plugin_name,
        .version = "0.1",
        .probe = probe,
        .device_count = device_count,
        .device_info = mode_is("no-info") ? NULL : device_info,
        .device_open = mode_is("no-open") ? NULL : device_open,
        .device_close = device_close,
        .device_api = mode_is("no-api") ? NULL : device_api,
        .shutdown = shutdown_plugin,
    };
    if (mode_is("newer-major"))
        plugin.abi_major = AXLE_ABI_MAJOR + 1;
    if (mode_is("tiny-table"))
        plugin.struct_size = 8;
    if (mode_is("huge-table"))
        plugin.struct_size = UINT32_MAX;
    if (mode_is("short-table"))
        plugin.struct_size = AXLE_FIELD_END(axle_plugin, device_count);
    if (mode_is("no-name"))
        plugin.name = NULL;
    if (mode_is("wild-name"))
        plugin.name = (const char *)16;
}

AXLE_PLUGIN_DEFINE(services, error)
{
    host = services;
    if (mode_is("init-crashes"))
        crash();
    if (mode_is("declines")) {
        fail(error, AXLE_ERR_DEVICE, "no licence for this moon");
        return NULL;
    }
    if (mode_is("wild-table"))
        return (const axle_plugin *)16;
    fill_table();
    return &plugin;
}
