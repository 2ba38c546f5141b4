/* SPDX-License-Identifier: Apache-2.0 */
/* One open device: making and closing it, what it says about itself, and its failures. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "device/hook.h"
#include "device/registry.h"

void axle__error_buffer_init(axle__error_buffer *buffer)
{
    buffer->text[0] = '\0';
    buffer->error = (axle_error){.struct_size = sizeof(buffer->error),
                                 .message_capacity = sizeof(buffer->text),
                                 .message = buffer->text};
}

/* What a plugin returns is one of our codes, or it is its mistake. */
static int known_code(axle_status status)
{
    return status < 0 && status >= AXLE_ERR_INTERRUPTED ? status : AXLE_ERR_INTERNAL;
}

int axle__device_failed(axle_device *device, const char *doing, axle_status status,
                        const axle_error *error)
{
    int code = known_code(status);
    bool sticky = error && (error->flags & AXLE_ERROR_STICKY) != 0;
    if (sticky || code == AXLE_ERR_DEVICE_LOST)
        __atomic_store_n(&device->lost, true, __ATOMIC_RELAXED);
    const char *why =
        error && error->message && error->message[0] ? error->message : axle_status_text(code);
    if (error && error->native_code)
        return axle_error_set(code, "%s: %s: %s (code %lld)", device->plugin->name, doing, why,
                              (long long)error->native_code);
    return axle_error_set(code, "%s: %s: %s", device->plugin->name, doing, why);
}

/* ------------------------------------------------------------------ making and closing */

/* Without these a device could hold nothing. */
static int check_api(const axle_device *device)
{
    const axle_device_api *api = device->api;
    const char *missing = NULL;
    bool mapped = AXLE_HAS(api, axle_device_api, buffer_map);
    if (!mapped && !AXLE_HAS(api, axle_device_api, read))
        missing = "read";
    if (!mapped && !AXLE_HAS(api, axle_device_api, write))
        missing = "write";
    if (!AXLE_HAS(api, axle_device_api, buffer_destroy))
        missing = "buffer_destroy";
    if (!AXLE_HAS(api, axle_device_api, buffer_create))
        missing = "buffer_create";
    if (missing)
        return axle_error_set(AXLE_ERR_ABI, "%s: the device lacks the slot %s",
                              device->plugin->name, missing);
    return AXLE_OK;
}

static int open_handle(axle_device *device)
{
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    axle_status status = device->plugin->device_open(device->index, &device->handle, &error.error);
    if (status != AXLE_OK)
        return axle__device_failed(device, "can not open the device", status, &error.error);
    device->api = device->plugin->device_api(device->handle);
    return check_api(device);
}

static int create_queue(axle_device *device)
{
    axle__error_buffer error;
    if (!AXLE_HAS(device->api, axle_device_api, queue_create))
        return AXLE_OK;
    axle__error_buffer_init(&error);
    axle_status status = device->api->queue_create(device->handle, 0, &device->queue, &error.error);
    return status == AXLE_OK
               ? AXLE_OK
               : axle__device_failed(device, "can not make a queue", status, &error.error);
}

static int set_up(axle_device *device)
{
    int code = open_handle(device);
    if (code == AXLE_OK)
        code = create_queue(device);
    if (code == AXLE_OK)
        code = axle__allocator_create(device, &device->allocator);
    return code ? code : axle__op_cache_create(&device->cache);
}

int axle__device_create(const axle__backend *backend, uint32_t index, axle_device **out)
{
    axle_device *device = axle__alloc(1, sizeof(*device));
    if (!device)
        return AXLE_ERR_NOMEM;
    device->plugin = backend->plugin;
    device->index = index;
    device->info = backend->devices[index];
    device->synchronous = (device->info.caps & AXLE_CAP_ASYNC) == 0;
    pthread_mutex_init(&device->queue_lock, NULL);
    int code = set_up(device);
    if (code) {
        axle__device_destroy(device);
        return code;
    }
    *out = device;
    return AXLE_OK;
}

/* Everything that was made goes, in the reverse order; what was not is NULL. */
void axle__device_destroy(axle_device *device)
{
    const axle_device_api *api = device->api;
    axle__hooks_forget(device);
    if (device->allocator && AXLE_HAS(api, axle_device_api, queue_finish))
        api->queue_finish(device->queue, NULL);
    if (device->cache)
        axle__op_cache_destroy(device->cache);
    if (device->allocator)
        axle__allocator_destroy(device->allocator);
    if (device->queue && AXLE_HAS(api, axle_device_api, queue_destroy))
        api->queue_destroy(device->queue);
    if (device->handle && AXLE_HAS(device->plugin, axle_plugin, device_close))
        device->plugin->device_close(device->handle);
    pthread_mutex_destroy(&device->queue_lock);
    axle__free(device);
}

/* ------------------------------------------------------------------ what it says about itself */

const char *axle_device_backend(const axle_device *device)
{
    return device ? device->plugin->name : "";
}

const char *axle_device_name(const axle_device *device)
{
    return device ? device->info.name : "";
}

int axle_device_supports(const axle_device *device, int dtype)
{
    return device && axle_dtype_name(dtype) &&
           (device->info.compute_dtypes & AXLE_DTYPE_BIT(dtype)) != 0;
}

int axle_device_synchronize(axle_device *device)
{
    if (!device)
        return axle_error_set(AXLE_ERR_INVALID, "axle_device_synchronize: there is no device");
    return axle__device_finish(device);
}

int axle_device_get_stats(const axle_device *device, axle_device_stats *out)
{
    if (!device || !out || out->struct_size < sizeof(out->struct_size))
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_device_get_stats: no device, or statistics without a size");
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    axle__allocator_stats(device->allocator, &stats);
    stats.op_runs = __atomic_load_n(&device->op_runs, __ATOMIC_RELAXED);
    stats.fallbacks = __atomic_load_n(&device->fallbacks, __ATOMIC_RELAXED);
    stats.prepared_ops = axle__op_cache_count(device->cache);
    size_t size = out->struct_size < sizeof(stats) ? out->struct_size : sizeof(stats);
    stats.struct_size = out->struct_size;
    memcpy(out, &stats, size);
    return AXLE_OK;
}

void axle_device_reset_peak(axle_device *device)
{
    axle__allocator_reset_peak(device->allocator);
}

void axle_device_dry_run(axle_device *device, int on)
{
    device->dry = on != 0;
}

void axle_device_trim(axle_device *device)
{
    if (device)
        axle__allocator_trim(device->allocator);
}
