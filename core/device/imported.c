/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks over memory of the program's, which the allocator neither counts nor keeps. */
#include "device/allocator.h"

#include "base/memory.h"

typedef struct axle__imported {
    axle__node node;
    void (*release)(void *user);
    void *user;
} axle__imported;

static int import_buffer(axle_device *device, void *host, uint64_t size, axle_be_buffer **out)
{
    axle__error_buffer error;
    axle__error_buffer_init(&error);
    if (!axle__device_is_direct(device) || !(device->info.caps & AXLE_CAP_IMPORT_HOST) ||
        !AXLE_HAS(device->api, axle_device_api, buffer_import))
        return axle_error_set(AXLE_ERR_DEVICE, "%s does not compute in the program's memory",
                              device->info.name);
    axle_status status = device->api->buffer_import(device->handle, host, size, out, &error.error);
    return status == AXLE_OK
               ? AXLE_OK
               : axle__device_failed(device, "can not use memory", status, &error.error);
}

axle__block *axle__block_import(axle_device *device, void *host, uint64_t size,
                                void (*release)(void *user), void *user)
{
    axle_be_buffer *buffer;
    axle__imported *imported = axle__alloc(1, sizeof(*imported));
    if (!imported)
        return NULL;
    if (import_buffer(device, host, size, &buffer)) {
        axle__free(imported);
        return NULL;
    }
    imported->node.kind = AXLE__IMPORTED;
    imported->node.block =
        (axle__block){.device = device, .buffer = buffer, .size = size, .host = host};
    imported->release = release;
    imported->user = user;
    return &imported->node.block;
}

void axle__imported_free(axle__node *node)
{
    axle__imported *imported = (axle__imported *)node;
    node->block.device->api->buffer_destroy(node->block.buffer);
    if (imported->release)
        imported->release(imported->user);
    axle__free(imported);
}
