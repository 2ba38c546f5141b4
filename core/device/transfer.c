/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between the host and a device. */
#include <string.h>

#include "device/hook.h"

static void lock_queue(axle_device *device)
{
    if (!device->synchronous)
        pthread_mutex_lock(&device->queue_lock);
}

static void unlock_queue(axle_device *device)
{
    if (!device->synchronous)
        pthread_mutex_unlock(&device->queue_lock);
}

static int is_lost(const axle_device *device)
{
    if (!__atomic_load_n(&device->lost, __ATOMIC_RELAXED))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DEVICE_LOST, "%s: the device was lost by an earlier error",
                          device->plugin->name);
}

static int finish(axle_device *device)
{
    axle__error_buffer error;
    int code = is_lost(device);
    if (code || !AXLE_HAS(device->api, axle_device_api, queue_finish))
        return code;
    axle__error_buffer_init(&error);
    lock_queue(device);
    axle_status status = device->api->queue_finish(device->queue, &error.error);
    unlock_queue(device);
    return status == AXLE_OK ? AXLE_OK
                             : axle__device_failed(device, "finish", status, &error.error);
}

/* Begin a point. */
static int begin(axle__hook_kind kind, axle_device *device, uint64_t bytes, axle__hook_point *point)
{
    *point = (axle__hook_point){.kind = kind, .device = device, .bytes = bytes};
    return axle__hook_before(point);
}

int axle__device_finish(axle_device *device)
{
    axle__hook_point point;
    if (!axle__hooks_active())
        return finish(device);
    int status = begin(AXLE__HOOK_FINISH, device, 0, &point);
    return axle__hook_after(&point, status ? status : finish(device));
}

static int check_range(const axle__block *block, uint64_t offset, uint64_t size)
{
    if (offset <= block->size && size <= block->size - offset)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INTERNAL, "bytes %llu to %llu of a block of %llu",
                          (unsigned long long)offset, (unsigned long long)(offset + size),
                          (unsigned long long)block->size);
}

/* Copy through a mapping, for devices that offer no read or write. */
static axle_status copy_mapped(axle__block *block, uint64_t offset, void *to, const void *from,
                               uint64_t size, axle_error *error)
{
    axle_device *device = block->device;
    const axle_device_api *api = device->api;
    uint32_t flags = from ? AXLE_MAP_WRITE | AXLE_MAP_DISCARD : AXLE_MAP_READ;
    void *mapped = NULL;
    axle_status status = api->buffer_map(device->queue, block->buffer, block->offset + offset, size,
                                         flags, &mapped, error);
    if (status != AXLE_OK)
        return status;
    memcpy(from ? mapped : to, from ? from : mapped, size);
    return AXLE_HAS(api, axle_device_api, buffer_unmap)
               ? api->buffer_unmap(device->queue, block->buffer, mapped, error)
               : AXLE_OK;
}

static axle_status copy_out(axle__block *block, uint64_t offset, const void *data, uint64_t size,
                            axle_error *error)
{
    axle_device *device = block->device;
    if (!AXLE_HAS(device->api, axle_device_api, write))
        return copy_mapped(block, offset, NULL, data, size, error);
    return device->api->write(device->queue, block->buffer, block->offset + offset, data, size,
                              AXLE_HOST_DURING_CALL, error);
}

static axle_status copy_in(axle__block *block, uint64_t offset, void *data, uint64_t size,
                           axle_error *error)
{
    axle_device *device = block->device;
    if (!AXLE_HAS(device->api, axle_device_api, read))
        return copy_mapped(block, offset, data, NULL, size, error);
    return device->api->read(device->queue, block->buffer, block->offset + offset, data, size,
                             AXLE_HOST_DURING_CALL, error);
}

static int write_block(axle__block *block, uint64_t offset, const void *data, uint64_t size)
{
    axle__error_buffer error;
    axle_device *device = block->device;
    int code = check_range(block, offset, size);
    if (code || size == 0)
        return code;
    if (block->host) {
        code = device->synchronous ? AXLE_OK : finish(device);
        if (code == AXLE_OK)
            memcpy(block->host + offset, data, size);
        return code;
    }
    code = is_lost(device);
    if (code)
        return code;
    axle__error_buffer_init(&error);
    lock_queue(device);
    axle_status status = copy_out(block, offset, data, size, &error.error);
    unlock_queue(device);
    return status == AXLE_OK ? AXLE_OK : axle__device_failed(device, "write", status, &error.error);
}

static int read_block(axle__block *block, uint64_t offset, void *data, uint64_t size)
{
    axle__error_buffer error;
    axle_device *device = block->device;
    int code = check_range(block, offset, size);
    if (code || size == 0)
        return code;
    if (block->host) {
        code = device->synchronous ? AXLE_OK : finish(device);
        if (code == AXLE_OK)
            memcpy(data, block->host + offset, size);
        return code;
    }
    code = is_lost(device);
    if (code)
        return code;
    axle__error_buffer_init(&error);
    lock_queue(device);
    axle_status status = copy_in(block, offset, data, size, &error.error);
    unlock_queue(device);
    return status == AXLE_OK ? AXLE_OK : axle__device_failed(device, "read", status, &error.error);
}

int axle__block_write(axle__block *block, uint64_t offset, const void *data, uint64_t size)
{
    axle__hook_point point;
    if (!axle__hooks_active())
        return write_block(block, offset, data, size);
    int status = begin(AXLE__HOOK_WRITE, block->device, size, &point);
    return axle__hook_after(&point, status ? status : write_block(block, offset, data, size));
}

int axle__block_read(axle__block *block, uint64_t offset, void *data, uint64_t size)
{
    axle__hook_point point;
    if (!axle__hooks_active())
        return read_block(block, offset, data, size);
    int status = begin(AXLE__HOOK_READ, block->device, size, &point);
    return axle__hook_after(&point, status ? status : read_block(block, offset, data, size));
}
