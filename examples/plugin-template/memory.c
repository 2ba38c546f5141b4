/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers. Replace: your driver's allocations. The core asks for few and large ones and cuts them
 * up itself; a tensor is a buffer and an offset in bytes. */
#include "template.h"

axle_status template_buffer_create(axle_be_device *device, uint32_t kind, uint64_t size,
                                   axle_be_buffer **out, axle_error *error)
{
    axle_be_buffer *buffer = template_host->alloc(template_host->ctx, sizeof(*buffer), 16);
    (void)device, (void)kind; /* pinned host memory, if `kind` asks for it, is no different */
    if (!buffer || !(buffer->data = template_host->alloc(template_host->ctx, size, 64))) {
        template_host->free(template_host->ctx, buffer);
        return template_fail(error, AXLE_ERR_NOMEM, "no memory for %llu bytes",
                             (unsigned long long)size);
    }
    *out = buffer;
    return AXLE_OK;
}

void template_buffer_destroy(axle_be_buffer *buffer)
{
    template_host->free(template_host->ctx, buffer->data);
    template_host->free(template_host->ctx, buffer);
}

/* AXLE_CAP_HOST_VISIBLE promises that this is free and that the pointer stays valid. Memory that
 * the host cannot address has the slots `read` and `write` instead. */
axle_status template_buffer_map(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                                uint64_t size, uint32_t flags, void **out, axle_error *error)
{
    (void)queue, (void)size, (void)flags, (void)error;
    *out = buffer->data + offset;
    return AXLE_OK;
}

float *template_data(const axle_view *view)
{
    return view && view->buffer ? (float *)(void *)(view->buffer->data + view->offset) : NULL;
}
