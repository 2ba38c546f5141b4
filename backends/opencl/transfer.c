/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between host and buffers and among buffers. */
#include "slots.h"

#include <inttypes.h>

static axle_status check_range(const axle_be_buffer *buffer, uint64_t offset, uint64_t size,
                               const char *what, axle_error *error)
{
    if (offset <= buffer->size && size <= buffer->size - offset)
        return AXLE_OK;
    return ocl_fail(error, AXLE_ERR_INVALID,
                    "opencl: %s of %" PRIu64 " bytes at %" PRIu64 " in a buffer of %" PRIu64, what,
                    size, offset, buffer->size);
}

axle_status ocl_buffer_write(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                             const void *from, uint64_t size, uint32_t when, axle_error *error)
{
    const axle_status status = check_range(buffer, offset, size, "write", error);
    if (status != AXLE_OK || size == 0)
        return status;
    const cl_int code =
        clEnqueueWriteBuffer(queue->handle, buffer->handle, when == AXLE_HOST_DURING_CALL, offset,
                             size, from, 0, NULL, NULL);
    return code == CL_SUCCESS ? AXLE_OK : ocl_fail_cl(error, code, "clEnqueueWriteBuffer");
}

axle_status ocl_buffer_read(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset, void *to,
                            uint64_t size, uint32_t when, axle_error *error)
{
    const int wait = when == AXLE_HOST_DURING_CALL;
    const axle_status status = check_range(buffer, offset, size, "read", error);
    if (status != AXLE_OK || size == 0)
        return status;
    const cl_int code =
        clEnqueueReadBuffer(queue->handle, buffer->handle, wait, offset, size, to, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return ocl_fail_cl(error, code, "clEnqueueReadBuffer");
    return wait ? ocl_queue_finish(queue, error) : AXLE_OK;
}

axle_status ocl_buffer_copy(axle_be_queue *queue, axle_be_buffer *dst, uint64_t dst_offset,
                            axle_be_buffer *src, uint64_t src_offset, uint64_t size,
                            axle_error *error)
{
    axle_status status = check_range(dst, dst_offset, size, "copy", error);
    if (status == AXLE_OK)
        status = check_range(src, src_offset, size, "copy", error);
    if (status != AXLE_OK || size == 0)
        return status;
    const cl_int code = clEnqueueCopyBuffer(queue->handle, src->handle, dst->handle, src_offset,
                                            dst_offset, size, 0, NULL, NULL);
    return code == CL_SUCCESS ? AXLE_OK : ocl_fail_cl(error, code, "clEnqueueCopyBuffer");
}

axle_status ocl_buffer_fill(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                            uint64_t size, const void *pattern, uint32_t pattern_size,
                            axle_error *error)
{
    const axle_status status = check_range(buffer, offset, size, "fill", error);
    if (status != AXLE_OK || size == 0)
        return status;
    if (pattern_size == 0 || pattern_size > 8 || (pattern_size & (pattern_size - 1)) ||
        size % pattern_size || offset % pattern_size)
        return ocl_fail(error, AXLE_ERR_INVALID,
                        "opencl: fill of %" PRIu64 " bytes at %" PRIu64
                        " with a pattern of %" PRIu32,
                        size, offset, pattern_size);
    const cl_int code = clEnqueueFillBuffer(queue->handle, buffer->handle, pattern, pattern_size,
                                            offset, size, 0, NULL, NULL);
    return code == CL_SUCCESS ? AXLE_OK : ocl_fail_cl(error, code, "clEnqueueFillBuffer");
}
