/* SPDX-License-Identifier: Apache-2.0 */
/* The mock's contexts, queues, memory, programs, kernels and events. */
#include "mock_icd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Objects of all kinds look alike; each has the fields that its kind needs. */
typedef struct object {
    MOCK_OBJECT;
    int references;
    cl_device_id device;
    unsigned char *memory;
    int is_borrowed;
    size_t size;
    void(CL_CALLBACK *destroyed)(cl_mem, void *);
    void *destroyed_with;
    char *source;
} object;

static object *object_new(cl_device_id device, cl_int *code)
{
    object *o = calloc(1, sizeof(*o));
    if (code)
        *code = o ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (o) {
        o->dispatch = &mock_dispatch;
        o->references = 1;
        o->device = device;
    }
    return o;
}

static cl_int object_release(object *o)
{
    if (__atomic_sub_fetch(&o->references, 1, __ATOMIC_ACQ_REL) > 0)
        return CL_SUCCESS;
    if (o->destroyed)
        o->destroyed((cl_mem)(void *)o, o->destroyed_with);
    if (!o->is_borrowed)
        free(o->memory);
    free(o->source);
    free(o);
    return CL_SUCCESS;
}

/* The functions that only count references; X(name, type). */
#define RELEASES(X)                                                                                \
    X(clReleaseContext, cl_context)                                                                \
    X(clReleaseCommandQueue, cl_command_queue)                                                     \
    X(clReleaseMemObject, cl_mem)                                                                  \
    X(clReleaseProgram, cl_program)                                                                \
    X(clReleaseKernel, cl_kernel)                                                                  \
    X(clReleaseEvent, cl_event)
#define RELEASE(name, type)                                                                        \
    static cl_int CL_API_CALL mock_##name(type o)                                                  \
    {                                                                                              \
        return object_release((object *)(void *)o);                                                \
    }
RELEASES(RELEASE)

/* ------------------------------------------------------------------ contexts, queues, events */

static cl_context CL_API_CALL create_context(
    const cl_context_properties *properties, cl_uint n, const cl_device_id *devices,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *code)
{
    (void)properties, (void)n, (void)notify, (void)user;
    if (devices[0]->has_no_context) {
        *code = CL_OUT_OF_RESOURCES;
        return NULL;
    }
    return (cl_context)(void *)object_new(devices[0], code);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties,
                                                 cl_int *code)
{
    (void)context, (void)properties;
    return (cl_command_queue)(void *)object_new(device, code);
}

static cl_int CL_API_CALL nothing_to_do(cl_command_queue queue)
{
    (void)queue;
    return CL_SUCCESS;
}

static cl_int done(cl_event *event)
{
    cl_int code = CL_SUCCESS;
    if (event)
        *event = (cl_event)(void *)object_new(NULL, &code);
    return code;
}

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_uint n, const cl_event *events,
                                 cl_event *event)
{
    (void)queue, (void)n, (void)events;
    return done(event);
}

static cl_int CL_API_CALL retain_event(cl_event event)
{
    __atomic_add_fetch(&((object *)(void *)event)->references, 1, __ATOMIC_ACQ_REL);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL wait_for_events(cl_uint n, const cl_event *events)
{
    (void)n, (void)events;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t capacity, void *out,
                                     size_t *size)
{
    const cl_int state = CL_COMPLETE;
    (void)event, (void)what;
    return mock_answer(&state, sizeof(state), capacity, out, size);
}

/* ------------------------------------------------------------------ memory */

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
                                        void *host, cl_int *code)
{
    const cl_device_id device = ((object *)(void *)context)->device;
    if (size == 0 || size > device->alloc) {
        *code = CL_INVALID_BUFFER_SIZE;
        return NULL;
    }
    object *o = object_new(device, code);
    if (!o)
        return NULL;
    o->size = size;
    o->is_borrowed = (flags & CL_MEM_USE_HOST_PTR) != 0;
    o->memory = o->is_borrowed ? host : calloc(1, size);
    if (o->memory && (flags & CL_MEM_COPY_HOST_PTR))
        memcpy(o->memory, host, size);
    if (o->memory)
        return (cl_mem)(void *)o;
    free(o);
    *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

static cl_int CL_API_CALL set_destructor(cl_mem memory, void(CL_CALLBACK *notify)(cl_mem, void *),
                                         void *user)
{
    object *o = (object *)(void *)memory;
    o->destroyed = notify;
    o->destroyed_with = user;
    return CL_SUCCESS;
}

static int fits(const object *o, size_t offset, size_t size)
{
    return size > 0 && offset <= o->size && size <= o->size - offset;
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem memory, cl_bool block,
                                      size_t offset, size_t size, void *out, cl_uint n,
                                      const cl_event *events, cl_event *event)
{
    const object *o = (object *)(void *)memory;
    (void)queue, (void)block, (void)n, (void)events;
    if (!fits(o, offset, size))
        return CL_INVALID_VALUE;
    memcpy(out, o->memory + offset, size);
    return done(event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem memory, cl_bool block,
                                       size_t offset, size_t size, const void *in, cl_uint n,
                                       const cl_event *events, cl_event *event)
{
    object *o = (object *)(void *)memory;
    (void)queue, (void)block, (void)n, (void)events;
    if (!fits(o, offset, size))
        return CL_INVALID_VALUE;
    memcpy(o->memory + offset, in, size);
    return done(event);
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                      size_t from_offset, size_t to_offset, size_t size, cl_uint n,
                                      const cl_event *events, cl_event *event)
{
    object *a = (object *)(void *)from, *b = (object *)(void *)to;
    (void)queue, (void)n, (void)events;
    if (!fits(a, from_offset, size) || !fits(b, to_offset, size))
        return CL_INVALID_VALUE;
    memmove(b->memory + to_offset, a->memory + from_offset, size);
    return done(event);
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                                      size_t pattern_size, size_t offset, size_t size, cl_uint n,
                                      const cl_event *events, cl_event *event)
{
    object *o = (object *)(void *)memory;
    (void)queue, (void)n, (void)events;
    if (!fits(o, offset, size) || pattern_size == 0 || size % pattern_size != 0)
        return CL_INVALID_VALUE;
    for (size_t at = 0; at < size; at += pattern_size)
        memcpy(o->memory + offset + at, pattern, pattern_size);
    return done(event);
}

/* ------------------------------------------------------------------ programs and kernels */

static cl_program CL_API_CALL create_program(cl_context context, cl_uint n, const char **text,
                                             const size_t *lengths, cl_int *code)
{
    object *o = object_new(((object *)(void *)context)->device, code);
    size_t size = 1;
    (void)lengths; /* The backend's texts end in zero. */
    for (cl_uint k = 0; k < n; k++)
        size += strlen(text[k]);
    char *to = o ? calloc(1, size) : NULL;
    if (!to)
        return NULL;
    o->source = to;
    for (cl_uint k = 0; k < n; k++)
        to = stpcpy(to, text[k]);
    return (cl_program)(void *)o;
}

/* A binary is the driver's version; that of another driver is refused. */
static cl_program CL_API_CALL create_program_of_binary(cl_context context, cl_uint n,
                                                       const cl_device_id *devices,
                                                       const size_t *sizes,
                                                       const unsigned char **binaries,
                                                       cl_int *states, cl_int *code)
{
    (void)context, (void)n, (void)states;
    if (!devices[0]->refuses_binaries && sizes[0] == sizeof(devices[0]->driver) &&
        memcmp(binaries[0], devices[0]->driver, sizes[0]) == 0)
        return (cl_program)(void *)object_new(devices[0], code);
    *code = CL_INVALID_BINARY;
    return NULL;
}

/* Leave a file in the folder of records, if there is one, under a name that no other takes. */
static void record(const char *ending, const char *options, const char *source)
{
    static unsigned count;
    const char *folder = getenv("MOCK_OPENCL_RECORD");
    char path[1024];
    if (!folder)
        return;
    snprintf(path, sizeof(path), "%s/%ld-%u.%s", folder, (long)getpid(),
             __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED), ending);
    FILE *file = fopen(path, "wx");
    if (!file)
        return;
    fprintf(file, "//%s\n%s", options, source);
    fclose(file);
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint n, const cl_device_id *devices,
                                        const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    const object *o = (object *)(void *)program;
    (void)n, (void)devices, (void)notify, (void)user;
    if (o->source)
        record("cl", options, o->source);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL program_info(cl_program program, cl_program_info what, size_t capacity,
                                       void *out, size_t *size)
{
    const cl_device_id device = ((object *)(void *)program)->device;
    const size_t binary_size = sizeof(device->driver);
    if (what == CL_PROGRAM_BINARY_SIZES)
        return mock_answer(&binary_size, sizeof(binary_size), capacity, out, size);
    if (what != CL_PROGRAM_BINARIES || capacity < sizeof(unsigned char *))
        return CL_INVALID_VALUE;
    memcpy(*(unsigned char **)out, device->driver, binary_size);
    record("binary", device->driver, "");
    return CL_SUCCESS;
}

static cl_int CL_API_CALL build_info(cl_program program, cl_device_id device,
                                     cl_program_build_info what, size_t capacity, void *out,
                                     size_t *size)
{
    (void)program, (void)device, (void)what;
    return mock_answer("", 1, capacity, out, size);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code)
{
    (void)name;
    return (cl_kernel)(void *)object_new(((object *)(void *)program)->device, code);
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint k, size_t size, const void *value)
{
    (void)kernel, (void)k, (void)size, (void)value;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL group_info(cl_kernel kernel, cl_device_id device,
                                     cl_kernel_work_group_info what, size_t capacity, void *out,
                                     size_t *size)
{
    const size_t local = device->local;
    (void)kernel, (void)what;
    return mock_answer(&local, sizeof(local), capacity, out, size);
}

static cl_int CL_API_CALL run_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint n, const cl_event *events,
                                     cl_event *event)
{
    const cl_device_id device = ((object *)(void *)queue)->device;
    (void)kernel, (void)offset, (void)n, (void)events;
    for (cl_uint k = 0; k < dims; k++)
        if (global[k] == 0 || (local && (local[k] > device->local || global[k] % local[k] != 0)))
            return CL_INVALID_WORK_GROUP_SIZE;
    return done(event);
}

void mock_objects_fill(cl_icd_dispatch *dispatch)
{
#define FILL(name, type) dispatch->name = mock_##name;
    RELEASES(FILL)
#undef FILL
    dispatch->clCreateContext = create_context;
    dispatch->clCreateCommandQueue = create_queue;
    dispatch->clFlush = nothing_to_do;
    dispatch->clFinish = nothing_to_do;
    dispatch->clEnqueueMarkerWithWaitList = marker;
    dispatch->clEnqueueBarrierWithWaitList = marker;
    dispatch->clRetainEvent = retain_event;
    dispatch->clWaitForEvents = wait_for_events;
    dispatch->clGetEventInfo = event_info;
    dispatch->clCreateBuffer = create_buffer;
    dispatch->clSetMemObjectDestructorCallback = set_destructor;
    dispatch->clEnqueueReadBuffer = read_buffer;
    dispatch->clEnqueueWriteBuffer = write_buffer;
    dispatch->clEnqueueCopyBuffer = copy_buffer;
    dispatch->clEnqueueFillBuffer = fill_buffer;
    dispatch->clCreateProgramWithSource = create_program;
    dispatch->clCreateProgramWithBinary = create_program_of_binary;
    dispatch->clBuildProgram = build_program;
    dispatch->clGetProgramInfo = program_info;
    dispatch->clGetProgramBuildInfo = build_info;
    dispatch->clCreateKernel = create_kernel;
    dispatch->clSetKernelArg = set_argument;
    dispatch->clGetKernelWorkGroupInfo = group_info;
    dispatch->clEnqueueNDRangeKernel = run_kernel;
}
