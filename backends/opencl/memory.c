/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers. Where kernels work on the host's memory in place (ocl_description.shares_memory), the
 * memory is allocated here and lent to OpenCL, so its address is known and stays; elsewhere it is
 * the driver's, and the host reads and writes.
 */
#include "slots.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PAGE = 4096 };

static axle_status buffer_new(axle_be_device *device, void *host, int borrowed, uint64_t size,
                              cl_mem_flags flags, axle_be_buffer **out, axle_error *error)
{
    cl_int code;
    if (size > device->about.max_alloc)
        return ocl_fail(error, AXLE_ERR_NOMEM,
                        "opencl: a buffer of %" PRIu64 " bytes is more than %s can have, %" PRIu64,
                        size, device->about.name, device->about.max_alloc);
    axle_be_buffer *buffer = malloc(sizeof(*buffer));
    if (!buffer)
        return ocl_fail(error, AXLE_ERR_NOMEM, "opencl: no memory for a buffer's description");
    *buffer = (axle_be_buffer){.device = device, .host = host, .borrowed = borrowed, .size = size};
    buffer->handle = clCreateBuffer(device->context, CL_MEM_READ_WRITE | flags, size, host, &code);
    if (!buffer->handle) {
        free(buffer);
        if (code == CL_INVALID_BUFFER_SIZE || code == CL_MEM_OBJECT_ALLOCATION_FAILURE)
            return ocl_fail(error, AXLE_ERR_NOMEM,
                            "opencl: no memory for a buffer of %" PRIu64 " bytes on %s", size,
                            device->about.name);
        return ocl_fail_cl(error, code, "clCreateBuffer");
    }
    *out = buffer;
    return AXLE_OK;
}

axle_status ocl_buffer_create(axle_be_device *device, uint32_t kind, uint64_t size,
                              axle_be_buffer **out, axle_error *error)
{
    void *host = NULL;
    if (!device->about.shares_memory)
        return buffer_new(device, NULL, 1, size,
                          kind == AXLE_BUFFER_STAGING ? CL_MEM_ALLOC_HOST_PTR : 0, out, error);
    if (size > SIZE_MAX - PAGE || posix_memalign(&host, PAGE, size) != 0)
        return ocl_fail(error, AXLE_ERR_NOMEM,
                        "opencl: no memory for a buffer of %" PRIu64 " bytes", size);
    const axle_status status = buffer_new(device, host, 0, size, CL_MEM_USE_HOST_PTR, out, error);
    if (status != AXLE_OK)
        free(host);
    return status;
}

axle_status ocl_buffer_import(axle_be_device *device, void *host, uint64_t size,
                              axle_be_buffer **out, axle_error *error)
{
    if (!host)
        return ocl_fail(error, AXLE_ERR_INVALID, "opencl: cannot import a null pointer");
    return buffer_new(device, host, 1, size, CL_MEM_USE_HOST_PTR, out, error);
}

static void CL_CALLBACK host_memory_free(cl_mem handle, void *host)
{
    (void)handle;
    free(host);
}

/* Enqueued commands hold a reference to the memory object, so it goes when they are done, and the
 * memory behind it goes with it. */
void ocl_buffer_destroy(axle_be_buffer *buffer)
{
    if (!buffer)
        return;
    if (!buffer->borrowed && buffer->host &&
        clSetMemObjectDestructorCallback(buffer->handle, host_memory_free, buffer->host) !=
            CL_SUCCESS)
        ocl_log(AXLE_LOG_WARN, "a buffer of %" PRIu64 " bytes cannot be freed", buffer->size);
    clReleaseMemObject(buffer->handle);
    free(buffer);
}

axle_status ocl_buffer_map(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                           uint64_t size, uint32_t flags, void **out, axle_error *error)
{
    (void)flags;
    if (offset > buffer->size || size > buffer->size - offset)
        return ocl_fail(error, AXLE_ERR_INVALID,
                        "opencl: map of %" PRIu64 " bytes at %" PRIu64 " in a buffer of %" PRIu64,
                        size, offset, buffer->size);
    const axle_status status = queue ? ocl_queue_finish(queue, error) : AXLE_OK;
    if (status == AXLE_OK)
        *out = (unsigned char *)buffer->host + offset;
    return status;
}

axle_status ocl_buffer_unmap(axle_be_queue *queue, axle_be_buffer *buffer, void *p,
                             axle_error *error)
{
    (void)queue, (void)buffer, (void)p, (void)error;
    return AXLE_OK;
}
