/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: host memory, either allocated here or borrowed. All calls are done when they return. */
#include <config.h>

#include "slots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20 };

/* Memory that large products stream through wants few page-table entries, so buffers of several
 * huge pages begin on one and ask for more. That the kernel declines does no harm. */
static void *data_create(uint64_t size)
{
    const size_t align = size >= 2 * (uint64_t)HUGE_PAGE ? HUGE_PAGE : LINE;
    void *data;
    if (size > SIZE_MAX - HUGE_PAGE || posix_memalign(&data, align, size) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (align == HUGE_PAGE)
        (void)madvise(data, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
    return data;
}

static axle_status buffer_new(void *data, uint64_t size, int borrowed, axle_be_buffer **out,
                              axle_error *error)
{
    axle_be_buffer *buffer = malloc(sizeof(*buffer));
    if (!buffer)
        return blas_fail(error, AXLE_ERR_NOMEM, "openblas: no memory for a buffer's description");
    *buffer = (axle_be_buffer){.data = data, .size = size, .borrowed = borrowed};
    *out = buffer;
    return AXLE_OK;
}

axle_status blas_buffer_create(axle_be_device *device, uint32_t kind, uint64_t size,
                               axle_be_buffer **out, axle_error *error)
{
    (void)device, (void)kind; /* Device memory and staging memory are the same here. */
    void *data = data_create(size);
    if (!data)
        return blas_fail(error, AXLE_ERR_NOMEM,
                         "openblas: no memory for a buffer of %" PRIu64 " bytes", size);
    const axle_status status = buffer_new(data, size, 0, out, error);
    if (status != AXLE_OK)
        free(data);
    return status;
}

axle_status blas_buffer_import(axle_be_device *device, void *host, uint64_t size,
                               axle_be_buffer **out, axle_error *error)
{
    (void)device;
    if (!host)
        return blas_fail(error, AXLE_ERR_INVALID, "openblas: cannot import a null pointer");
    return buffer_new(host, size, 1, out, error);
}

void blas_buffer_destroy(axle_be_buffer *buffer)
{
    if (!buffer)
        return;
    if (!buffer->borrowed)
        free(buffer->data);
    free(buffer);
}

static axle_status check_range(const axle_be_buffer *buffer, uint64_t offset, uint64_t size,
                               const char *what, axle_error *error)
{
    if (offset <= buffer->size && size <= buffer->size - offset)
        return AXLE_OK;
    return blas_fail(error, AXLE_ERR_INVALID,
                     "openblas: %s of %" PRIu64 " bytes at %" PRIu64 " in a buffer of %" PRIu64,
                     what, size, offset, buffer->size);
}

axle_status blas_buffer_map(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                            uint64_t size, uint32_t flags, void **out, axle_error *error)
{
    (void)queue, (void)flags;
    const axle_status status = check_range(buffer, offset, size, "map", error);
    if (status == AXLE_OK)
        *out = buffer->data + offset;
    return status;
}

axle_status blas_buffer_unmap(axle_be_queue *queue, axle_be_buffer *buffer, void *p,
                              axle_error *error)
{
    (void)queue, (void)buffer, (void)p, (void)error;
    return AXLE_OK;
}

axle_status blas_buffer_write(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                              const void *from, uint64_t size, uint32_t when, axle_error *error)
{
    (void)queue, (void)when;
    const axle_status status = check_range(buffer, offset, size, "write", error);
    if (status == AXLE_OK && size > 0)
        memcpy(buffer->data + offset, from, size);
    return status;
}

axle_status blas_buffer_read(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                             void *to, uint64_t size, uint32_t when, axle_error *error)
{
    (void)queue, (void)when;
    const axle_status status = check_range(buffer, offset, size, "read", error);
    if (status == AXLE_OK && size > 0)
        memcpy(to, buffer->data + offset, size);
    return status;
}

axle_status blas_buffer_copy(axle_be_queue *queue, axle_be_buffer *dst, uint64_t dst_offset,
                             axle_be_buffer *src, uint64_t src_offset, uint64_t size,
                             axle_error *error)
{
    (void)queue;
    axle_status status = check_range(dst, dst_offset, size, "copy", error);
    if (status == AXLE_OK)
        status = check_range(src, src_offset, size, "copy", error);
    if (status == AXLE_OK && size > 0)
        memmove(dst->data + dst_offset, src->data + src_offset, size);
    return status;
}

axle_status blas_buffer_fill(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                             uint64_t size, const void *pattern, uint32_t pattern_size,
                             axle_error *error)
{
    (void)queue;
    const axle_status status = check_range(buffer, offset, size, "fill", error);
    if (status != AXLE_OK)
        return status;
    if (pattern_size == 0 || pattern_size > 8 || (pattern_size & (pattern_size - 1)) ||
        size % pattern_size)
        return blas_fail(error, AXLE_ERR_INVALID,
                         "openblas: fill of %" PRIu64 " bytes with a pattern of %" PRIu32, size,
                         pattern_size);
    /* One page is filled by doubling; the rest repeats it while it is in the cache. */
    unsigned char *to = buffer->data + offset;
    const uint64_t page = size < 4096 ? size : 4096;
    if (size > 0)
        memcpy(to, pattern, pattern_size);
    for (uint64_t done = pattern_size; done < page; done *= 2)
        memcpy(to + done, to, done < page - done ? done : page - done);
    for (uint64_t done = page; done < size; done += page)
        memcpy(to + done, to, page < size - done ? page : size - done);
    return AXLE_OK;
}
