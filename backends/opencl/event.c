/* SPDX-License-Identifier: Apache-2.0 */
/* Events: markers in a queue. An event that was never recorded counts as reached. */
#include "slots.h"

#include <stdlib.h>
#include <time.h>

struct axle_be_event {
    pthread_mutex_t lock;
    cl_event marker;
};

axle_status ocl_event_create(axle_be_device *device, axle_be_event **out, axle_error *error)
{
    (void)device;
    axle_be_event *event = calloc(1, sizeof(*event));
    if (!event)
        return ocl_fail(error, AXLE_ERR_NOMEM, "opencl: no memory for an event");
    pthread_mutex_init(&event->lock, NULL);
    *out = event;
    return AXLE_OK;
}

void ocl_event_destroy(axle_be_event *event)
{
    if (!event)
        return;
    if (event->marker)
        clReleaseEvent(event->marker);
    pthread_mutex_destroy(&event->lock);
    free(event);
}

/* The marker with a reference for the caller; NULL where there is none. */
static cl_event marker_of(axle_be_event *event)
{
    pthread_mutex_lock(&event->lock);
    cl_event marker = event->marker;
    if (marker)
        clRetainEvent(marker);
    pthread_mutex_unlock(&event->lock);
    return marker;
}

axle_status ocl_event_record(axle_be_queue *queue, axle_be_event *event, axle_error *error)
{
    cl_event marker;
    const cl_int code = clEnqueueMarkerWithWaitList(queue->handle, 0, NULL, &marker);
    if (code != CL_SUCCESS)
        return ocl_fail_cl(error, code, "clEnqueueMarkerWithWaitList");
    /* Whoever waits on another queue must not wait for work that was never sent off. */
    clFlush(queue->handle);
    pthread_mutex_lock(&event->lock);
    cl_event before = event->marker;
    event->marker = marker;
    pthread_mutex_unlock(&event->lock);
    if (before)
        clReleaseEvent(before);
    return AXLE_OK;
}

axle_status ocl_queue_wait(axle_be_queue *queue, axle_be_event *event, axle_error *error)
{
    cl_event marker = marker_of(event);
    if (!marker)
        return AXLE_OK;
    const cl_int code = clEnqueueBarrierWithWaitList(queue->handle, 1, &marker, NULL);
    clReleaseEvent(marker);
    return code == CL_SUCCESS ? AXLE_OK : ocl_fail_cl(error, code, "clEnqueueBarrierWithWaitList");
}

static axle_status marker_query(cl_event marker, axle_error *error)
{
    cl_int state;
    const cl_int code =
        clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state, NULL);
    if (code != CL_SUCCESS)
        return ocl_fail_cl(error, code, "clGetEventInfo");
    if (state < 0)
        return ocl_fail_cl(error, state, "a command before an event");
    return state == CL_COMPLETE ? AXLE_OK : AXLE_ERR_NOT_READY;
}

axle_status ocl_event_query(axle_be_event *event, axle_error *error)
{
    cl_event marker = marker_of(event);
    if (!marker)
        return AXLE_OK;
    const axle_status status = marker_query(marker, error);
    clReleaseEvent(marker);
    return status;
}

/* OpenCL has no wait with a limit, so look every 50 microseconds. */
static axle_status wait_for(cl_event marker, int64_t timeout_ns, axle_error *error)
{
    enum { PAUSE = 50000 };
    for (int64_t waited = 0;; waited += PAUSE) {
        const axle_status status = marker_query(marker, error);
        if (status != AXLE_ERR_NOT_READY)
            return status;
        if (waited >= timeout_ns)
            return ocl_fail(error, AXLE_ERR_TIMEOUT, "opencl: an event was not reached in time");
        nanosleep(&(struct timespec){0, PAUSE}, NULL);
    }
}

axle_status ocl_event_wait(axle_be_event *event, int64_t timeout_ns, axle_error *error)
{
    cl_event marker = marker_of(event);
    axle_status status = AXLE_OK;
    if (!marker)
        return AXLE_OK;
    if (timeout_ns >= 0) {
        status = wait_for(marker, timeout_ns, error);
    } else {
        const cl_int code = clWaitForEvents(1, &marker);
        if (code != CL_SUCCESS)
            status = ocl_fail_cl(error, code, "clWaitForEvents");
    }
    clReleaseEvent(marker);
    return status;
}
