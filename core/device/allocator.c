/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator's outer side: which kind of block serves a size, the lock, the books. */
#include "device/allocator.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "device/hook.h"

enum { UNIT_MIN_SHIFT = 6, UNIT_MAX_SHIFT = 12 };

static const double mib = 1024.0 * 1024.0;

/* ------------------------------------------------------------------ memory of the device */

static axle_status make_buffer(axle__allocator *allocator, uint64_t size, axle__memory *out,
                               axle_error *error)
{
    axle_device *device = allocator->device;
    axle__memory memory = {.size = size};
    axle_status status =
        device->api->buffer_create(device->handle, AXLE_BUFFER_DEVICE, size, &memory.buffer, error);
    if (status != AXLE_OK)
        return status;
    if (device->host_visible) {
        void *host = NULL;
        status = device->api->buffer_map(device->queue, memory.buffer, 0, size,
                                         AXLE_MAP_READ | AXLE_MAP_WRITE, &host, error);
        memory.host = host;
    }
    if (status != AXLE_OK) {
        device->api->buffer_destroy(memory.buffer);
        return status;
    }
    allocator->reserved += size;
    axle__poison(memory.host, size);
    *out = memory;
    return AXLE_OK;
}

static axle_status create_buffer(axle__allocator *allocator, uint64_t size, axle__memory *out,
                                 axle_error *error)
{
    if (!axle__hooks_active())
        return make_buffer(allocator, size, out, error);
    axle__hook_point point = {
        .kind = AXLE__HOOK_ALLOCATE, .device = allocator->device, .bytes = size};
    int status = axle__hook_before(&point);
    return axle__hook_after(&point, status ? status : make_buffer(allocator, size, out, error));
}

/* The allocator's own limit counts as the device's. */
static axle_status try_take(axle__allocator *allocator, uint64_t size, axle__memory *out,
                            axle__error_buffer *error)
{
    axle__error_buffer_init(error);
    if (size <= allocator->limit && allocator->reserved <= allocator->limit - size)
        return create_buffer(allocator, size, out, &error->error);
    strcpy(error->text, "AXLE_MEMORY_LIMIT is reached");
    return AXLE_ERR_NOMEM;
}

static void trim_all(axle__allocator *allocator)
{
    axle__large_trim(allocator, UINT64_MAX);
    axle__small_trim(allocator);
    axle__range_trim(allocator);
}

static int report(axle__allocator *allocator, uint64_t size, axle_status status,
                  const axle__error_buffer *error)
{
    if (status != AXLE_ERR_NOMEM)
        return axle__device_failed(allocator->device, "can not make a buffer", status,
                                   &error->error);
    return axle_error_set(
        AXLE_ERR_NOMEM, "%s: out of device memory: %.2f MiB asked for, %.2f MiB in use: %s",
        allocator->device->plugin->name, (double)size / mib, (double)allocator->in_use / mib,
        error->text[0] ? error->text : "the device has no more");
}

/* What the plugin's own allocations record on the way is no news to the caller: the last try
 * counts. */
int axle__memory_take(axle__allocator *allocator, uint64_t wanted, uint64_t least,
                      axle__memory *out)
{
    axle__error_record outer, inner;
    axle__error_buffer error;
    axle__error_take(&outer);
    axle_status status = try_take(allocator, wanted, out, &error);
    if (status == AXLE_ERR_NOMEM && least < wanted)
        status = try_take(allocator, least, out, &error);
    if (status == AXLE_ERR_NOMEM) {
        trim_all(allocator);
        status = try_take(allocator, least, out, &error);
    }
    axle__error_take(&inner);
    axle__error_restore(&outer);
    return status == AXLE_OK ? AXLE_OK : report(allocator, least, status, &error);
}

void axle__memory_give(axle__allocator *allocator, const axle__memory *memory)
{
    axle__unpoison(memory->host, memory->size);
    allocator->reserved -= memory->size;
    axle__hook_point point = {
        .kind = AXLE__HOOK_RELEASE, .device = allocator->device, .bytes = memory->size};
    bool hooked = axle__hooks_active() && axle__hook_before(&point) == AXLE_OK;
    allocator->device->api->buffer_destroy(memory->buffer);
    if (hooked)
        axle__hook_after(&point, AXLE_OK);
}

/* ------------------------------------------------------------------ blocks */

static axle__block *too_large(const axle_device *device, uint64_t size)
{
    axle_error_set(AXLE_ERR_NOMEM,
                   "%s: %.2f MiB asked for, but the device's largest buffer is %.2f MiB",
                   device->plugin->name, (double)size / mib, (double)device->info.max_alloc / mib);
    return NULL;
}

/* A device of tiny buffers has no room for slabs. */
static bool needs_own_buffer(const axle_device *device, uint64_t size)
{
    uint64_t most = device->info.max_alloc;
    return size >= AXLE__LARGE_MIN ||
           (most && (most < AXLE__SLAB_MIN || axle__round_up(size, AXLE__PAGE) > most));
}

static axle__block *alloc_locked(axle__allocator *allocator, uint64_t size)
{
    if (needs_own_buffer(allocator->device, size))
        return axle__large_alloc(allocator, size);
    if (size <= AXLE__SMALL_MAX)
        return axle__small_alloc(allocator, size);
    return axle__range_alloc(allocator, size);
}

axle__block *axle__block_alloc(axle_device *device, uint64_t size)
{
    axle__allocator *allocator = device->allocator;
    size += size == 0;
    if (device->info.max_alloc && size > device->info.max_alloc)
        return too_large(device, size);
    pthread_mutex_lock(&allocator->lock);
    axle__block *block = alloc_locked(allocator, size);
    if (block) {
        allocator->in_use += block->size;
        if (allocator->in_use > allocator->peak)
            allocator->peak = allocator->in_use;
        axle__unpoison(block->host, size);
    }
    pthread_mutex_unlock(&allocator->lock);
    return block;
}

void axle__block_free(axle__block *block)
{
    if (!block)
        return;
    axle__node *node = (axle__node *)block;
    axle__allocator *allocator = block->device->allocator;
    if (node->kind == AXLE__IMPORTED) {
        axle__imported_free(node);
        return;
    }
    pthread_mutex_lock(&allocator->lock);
    axle__poison(block->host, block->size);
    allocator->in_use -= block->size;
    if (node->kind == AXLE__SMALL)
        axle__small_free(allocator, node);
    else if (node->kind == AXLE__RANGE)
        axle__range_free(allocator, node);
    else
        axle__large_free(allocator, node);
    pthread_mutex_unlock(&allocator->lock);
}

/* ------------------------------------------------------------------ the whole */

/* The alignment that the device likes, within reason: a power of two of 64 to 4096 bytes. */
static uint32_t unit_shift(const axle_device *device)
{
    uint32_t shift = UNIT_MIN_SHIFT;
    while (shift < UNIT_MAX_SHIFT && (UINT32_C(1) << shift) < device->info.base_align)
        shift++;
    return shift;
}

int axle__allocator_create(axle_device *device, axle__allocator **out)
{
    axle__allocator *allocator = axle__alloc(1, sizeof(*allocator));
    if (!allocator)
        return AXLE_ERR_NOMEM;
    int64_t limit = axle__setting_integer(AXLE_SETTING_MEMORY_LIMIT);
    allocator->device = device;
    allocator->unit_shift = unit_shift(device);
    allocator->limit = limit > 0 && limit < INT64_MAX >> 20 ? (uint64_t)limit << 20 : UINT64_MAX;
    device->host_visible = (device->info.caps & AXLE_CAP_HOST_VISIBLE) != 0 &&
                           AXLE_HAS(device->api, axle_device_api, buffer_map);
    pthread_mutex_init(&allocator->lock, NULL);
    *out = allocator;
    return AXLE_OK;
}

void axle__allocator_destroy(axle__allocator *allocator)
{
    axle__small_destroy(allocator);
    axle__range_destroy(allocator);
    axle__large_destroy(allocator);
    pthread_mutex_destroy(&allocator->lock);
    axle__free(allocator);
}

void axle__allocator_trim(axle__allocator *allocator)
{
    pthread_mutex_lock(&allocator->lock);
    trim_all(allocator);
    pthread_mutex_unlock(&allocator->lock);
}

void axle__allocator_reset_peak(axle__allocator *allocator)
{
    pthread_mutex_lock(&allocator->lock);
    allocator->peak = allocator->in_use;
    pthread_mutex_unlock(&allocator->lock);
}

void axle__allocator_stats(const axle__allocator *allocator, axle_device_stats *out)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&allocator->lock; /* only the books are const here */
    pthread_mutex_lock(lock);
    out->bytes_in_use = allocator->in_use;
    out->bytes_reserved = allocator->reserved;
    out->bytes_peak = allocator->peak;
    pthread_mutex_unlock(lock);
}
