/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of the fake backend: plain memory, and the ways to run out of it. */
#include "fake.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int64_t buffers_made;
static _Atomic uint64_t bytes_used;

static axle_status out_of_memory(uint64_t size, const char *why, axle_error *error)
{
    return fake_fail(error, AXLE_ERR_NOMEM, "fake: no memory for %" PRIu64 " bytes: %s", size, why);
}

static axle_status buffer_new(void *data, uint64_t size, int borrowed, axle_be_buffer **out,
                              axle_error *error)
{
    axle_be_buffer *buffer = malloc(sizeof(*buffer));
    if (!buffer)
        return out_of_memory(sizeof(*buffer), "malloc failed", error);
    *buffer = (axle_be_buffer){.data = data, .size = size, .borrowed = borrowed};
    *out = buffer;
    return AXLE_OK;
}

axle_status fake_buffer_create(axle_be_device *device, uint32_t kind, uint64_t size,
                               axle_be_buffer **out, axle_error *error)
{
    (void)device, (void)kind;
    if (fake.max_alloc > 0 && size > (uint64_t)fake.max_alloc)
        return out_of_memory(size, "max_alloc", error);
    if (fake.mem_total > 0 && bytes_used + size > (uint64_t)fake.mem_total)
        return out_of_memory(size, "mem_total", error);
    if (fake.alloc_fail_after >= 0 && buffers_made >= fake.alloc_fail_after)
        return out_of_memory(size, "alloc_fail_after", error);
    void *data = malloc(size);
    if (!data)
        return out_of_memory(size, "malloc failed", error);
    memset(data, 0xff, size); /* NaN, so that nobody relies on zeros */
    const axle_status status = buffer_new(data, size, 0, out, error);
    if (status != AXLE_OK) {
        free(data);
        return status;
    }
    buffers_made++;
    bytes_used += size;
    return AXLE_OK;
}

axle_status fake_buffer_import(axle_be_device *device, void *host, uint64_t size,
                               axle_be_buffer **out, axle_error *error)
{
    (void)device;
    return buffer_new(host, size, 1, out, error);
}

void fake_buffer_destroy(axle_be_buffer *buffer)
{
    if (!buffer)
        return;
    fake_queues_drain();
    if (!buffer->borrowed) {
        bytes_used -= buffer->size;
        free(buffer->data);
    }
    free(buffer);
}

/* What the host is to see must have been computed. */
axle_status fake_buffer_map(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                            uint64_t size, uint32_t flags, void **out, axle_error *error)
{
    (void)size, (void)flags;
    const axle_status status = fake_queue_finish(queue, error);
    if (status == AXLE_OK)
        *out = buffer->data + offset;
    return status;
}

axle_status fake_buffer_unmap(axle_be_queue *queue, axle_be_buffer *buffer, void *p,
                              axle_error *error)
{
    (void)queue, (void)buffer, (void)p, (void)error;
    return AXLE_OK;
}

static axle_status ready(axle_be_queue *queue, const axle_be_buffer *buffer, uint64_t offset,
                         uint64_t size, axle_error *error)
{
    if (offset > buffer->size || size > buffer->size - offset)
        return fake_fail(error, AXLE_ERR_INVALID,
                         "fake: %" PRIu64 " bytes at %" PRIu64 " in a buffer of %" PRIu64, size,
                         offset, buffer->size);
    return fake_queue_finish(queue, error);
}

axle_status fake_write(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                       const void *from, uint64_t size, uint32_t when, axle_error *error)
{
    (void)when;
    const axle_status status = ready(queue, buffer, offset, size, error);
    if (status == AXLE_OK)
        memcpy(buffer->data + offset, from, size);
    return status;
}

axle_status fake_read(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset, void *to,
                      uint64_t size, uint32_t when, axle_error *error)
{
    (void)when;
    const axle_status status = ready(queue, buffer, offset, size, error);
    if (status == AXLE_OK)
        memcpy(to, buffer->data + offset, size);
    return status;
}

axle_status fake_copy(axle_be_queue *queue, axle_be_buffer *dst, uint64_t dst_offset,
                      axle_be_buffer *src, uint64_t src_offset, uint64_t size, axle_error *error)
{
    axle_status status = ready(queue, dst, dst_offset, size, error);
    if (status == AXLE_OK)
        status = ready(queue, src, src_offset, size, error);
    if (status == AXLE_OK)
        memmove(dst->data + dst_offset, src->data + src_offset, size);
    return status;
}

axle_status fake_fill(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset, uint64_t size,
                      const void *pattern, uint32_t pattern_size, axle_error *error)
{
    const axle_status status = ready(queue, buffer, offset, size, error);
    for (uint64_t k = 0; k < size && status == AXLE_OK; k += pattern_size)
        memcpy(buffer->data + offset + k, pattern, pattern_size);
    return status;
}
