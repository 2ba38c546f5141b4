/* SPDX-License-Identifier: Apache-2.0 */
/* In-order command queues, and the record of an index out of range that each has. */
#include "slots.h"

#include <inttypes.h>
#include <stdlib.h>

static axle_status queue_fill(axle_be_queue *queue, axle_error *error)
{
    const axle_be_device *device = queue->device;
    ocl_fault none = {0};
    cl_int code;
    queue->handle = clCreateCommandQueue(device->context, device->about.id, 0, &code);
    if (!queue->handle)
        return ocl_fail_cl(error, code, "clCreateCommandQueue");
    queue->fault = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                  sizeof(none), &none, &code);
    return queue->fault ? AXLE_OK : ocl_fail_cl(error, code, "clCreateBuffer");
}

axle_status ocl_queue_create(axle_be_device *device, uint32_t role, axle_be_queue **out,
                             axle_error *error)
{
    (void)role; /* Both roles are served by the same kind of queue. */
    axle_be_queue *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return ocl_fail(error, AXLE_ERR_NOMEM, "opencl: no memory for a queue");
    queue->device = device;
    const axle_status status = queue_fill(queue, error);
    if (status != AXLE_OK) {
        ocl_queue_destroy(queue);
        return status;
    }
    *out = queue;
    return AXLE_OK;
}

void ocl_queue_destroy(axle_be_queue *queue)
{
    if (!queue)
        return;
    if (queue->handle) {
        clFinish(queue->handle);
        clReleaseCommandQueue(queue->handle);
    }
    if (queue->fault)
        clReleaseMemObject(queue->fault);
    free(queue);
}

axle_status ocl_queue_flush(axle_be_queue *queue, axle_error *error)
{
    const cl_int code = clFlush(queue->handle);
    return code == CL_SUCCESS ? AXLE_OK : ocl_fail_cl(error, code, "clFlush");
}

static const char *op_name(cl_int op)
{
    static const char *const names[AXLE_OP_LIMIT] = {
#define NAME(number, name, text, n_in, n_out) [number] = text,
        AXLE_OP_LIST(NAME)
#undef NAME
    };
    return op > 0 && op < AXLE_OP_LIMIT && names[op] ? names[op] : "operator";
}

/* Look at the record, and clear it where it holds something. */
static axle_status fault_take(axle_be_queue *queue, axle_error *error)
{
    ocl_fault fault, none = {0};
    if (!queue->may_fault)
        return AXLE_OK;
    cl_int code = clEnqueueReadBuffer(queue->handle, queue->fault, CL_TRUE, 0, sizeof(fault),
                                      &fault, 0, NULL, NULL);
    if (code == CL_SUCCESS && fault.raised)
        code = clEnqueueWriteBuffer(queue->handle, queue->fault, CL_TRUE, 0, sizeof(none), &none, 0,
                                    NULL, NULL);
    if (code != CL_SUCCESS)
        return ocl_fail_cl(error, code, "reading the record of faults");
    queue->may_fault = 0;
    if (!fault.raised)
        return AXLE_OK;
    return ocl_fail(error, AXLE_ERR_INDEX, "%s: index %" PRId64 " is outside [0, %" PRId64 ")",
                    op_name(fault.op), (int64_t)fault.value, (int64_t)fault.limit);
}

axle_status ocl_queue_finish(axle_be_queue *queue, axle_error *error)
{
    const cl_int code = clFinish(queue->handle);
    return code == CL_SUCCESS ? fault_take(queue, error) : ocl_fail_cl(error, code, "clFinish");
}
