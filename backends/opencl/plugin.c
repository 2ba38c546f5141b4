/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin's table: every usable OpenCL device of this machine. */
#include <config.h>

#include "slots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const axle_host *ocl_host;

static int32_t probe(void)
{
    const ocl_description *best = ocl_description_at(0);
    if (!best)
        return 0;
    return best->type & CL_DEVICE_TYPE_CPU ? 20 : 50;
}

static axle_status device_count(uint32_t *out, axle_error *error)
{
    (void)error;
    *out = ocl_description_count();
    return AXLE_OK;
}

static const ocl_description *description(uint32_t index, axle_error *error)
{
    const ocl_description *d = ocl_description_at(index);
    if (!d)
        ocl_fail(error, AXLE_ERR_DEVICE, "opencl: there is no device %" PRIu32 ", only %" PRIu32,
                 index, ocl_description_count());
    return d;
}

static uint32_t kind_of(const ocl_description *d)
{
    if (d->type & CL_DEVICE_TYPE_GPU)
        return AXLE_DEVICE_GPU;
    return d->type & CL_DEVICE_TYPE_CPU ? AXLE_DEVICE_CPU : AXLE_DEVICE_ACCELERATOR;
}

static axle_status device_info(uint32_t index, axle_device_info *out, axle_error *error)
{
    const ocl_description *d = description(index, error);
    if (!d)
        return AXLE_ERR_DEVICE;
    axle_device_info info = {
        .struct_size = out->struct_size,
        .kind = kind_of(d),
        .caps = AXLE_CAP_ASYNC | AXLE_CAP_EVENTS | AXLE_CAP_MULTI_QUEUE | AXLE_CAP_OWN_POOL |
                AXLE_CAP_DETERMINISTIC | AXLE_CAP_FORK_UNSAFE,
        .mem_total = d->memory,
        .max_alloc = d->max_alloc,
        .base_align = d->align > 64 ? d->align : 64,
    };
    if (d->shares_memory)
        info.caps |= AXLE_CAP_HOST_VISIBLE | AXLE_CAP_IMPORT_HOST;
#define BIT(name, number, bytes, text) | AXLE_DTYPE_BIT(number)
    info.storage_dtypes = 0 AXLE_DTYPE_LIST(BIT);
#undef BIT
    info.compute_dtypes = info.storage_dtypes;
    if (!d->has_f64)
        info.compute_dtypes &= ~AXLE_DTYPE_BIT(AXLE_DTYPE_F64);
    snprintf(info.name, sizeof(info.name), "%s", d->name);
    snprintf(info.description, sizeof(info.description), "%.120s, %.120s", d->platform_name,
             d->version);
    snprintf(info.driver, sizeof(info.driver), "%s", d->driver);
    const size_t size = out->struct_size < sizeof(info) ? out->struct_size : sizeof(info);
    memcpy(out, &info, size);
    return AXLE_OK;
}

static void device_close(axle_be_device *device)
{
    if (!device)
        return;
    ocl_programs_release(device);
    clReleaseContext(device->context);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

static axle_status device_create(const ocl_description *d, axle_be_device **out, axle_error *error)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)d->platform, 0};
    cl_int code;
    axle_be_device *device = calloc(1, sizeof(*device));
    if (!device)
        return ocl_fail(error, AXLE_ERR_NOMEM, "opencl: no memory for a device");
    device->about = *d;
    device->context = clCreateContext(properties, 1, &d->id, NULL, NULL, &code);
    if (!device->context) {
        char call[200];
        free(device);
        snprintf(call, sizeof(call), "%s: clCreateContext", d->name);
        return ocl_fail_cl(error, code, call);
    }
    pthread_mutex_init(&device->lock, NULL);
    *out = device;
    return AXLE_OK;
}

static axle_status device_open(uint32_t index, axle_be_device **out, axle_error *error)
{
    const ocl_description *d = description(index, error);
    axle_be_device *device = NULL;
    if (!d)
        return AXLE_ERR_DEVICE;
    axle_status status = device_create(d, &device, error);
    if (status != AXLE_OK)
        return status;
    if (ocl_option_number("opencl.selftest", 1))
        status = ocl_selftest(device, error);
    if (status != AXLE_OK) {
        device_close(device);
        return status;
    }
    *out = device;
    return AXLE_OK;
}

static axle_status native_handle(axle_be_device *device, const char *what, void **out)
{
    if (strcmp(what, "cl_context") == 0)
        *out = device->context;
    else if (strcmp(what, "cl_device_id") == 0)
        *out = device->about.id;
    else
        return AXLE_ERR_NOT_FOUND;
    return AXLE_OK;
}

static void *extension(const char *name)
{
    if (strcmp(name, AXLE_EXTENSION_OPTIONS) == 0)
        return (void *)(uintptr_t)ocl_option_names;
    if (strcmp(name, AXLE_EXTENSION_FINDINGS) != 0)
        return NULL;
    ocl_description_count();
    return (void *)(uintptr_t)ocl_findings();
}

/* Slots that all devices have; X(slot, function). */
#define SLOTS(X)                                                                                   \
    X(queue_create, ocl_queue_create)                                                              \
    X(queue_destroy, ocl_queue_destroy)                                                            \
    X(queue_flush, ocl_queue_flush)                                                                \
    X(queue_finish, ocl_queue_finish)                                                              \
    X(event_create, ocl_event_create)                                                              \
    X(event_destroy, ocl_event_destroy)                                                            \
    X(event_record, ocl_event_record)                                                              \
    X(queue_wait, ocl_queue_wait)                                                                  \
    X(event_query, ocl_event_query)                                                                \
    X(event_wait, ocl_event_wait)                                                                  \
    X(buffer_create, ocl_buffer_create)                                                            \
    X(buffer_destroy, ocl_buffer_destroy)                                                          \
    X(write, ocl_buffer_write)                                                                     \
    X(read, ocl_buffer_read)                                                                       \
    X(copy, ocl_buffer_copy)                                                                       \
    X(fill, ocl_buffer_fill)                                                                       \
    X(op_query, ocl_op_query)                                                                      \
    X(op_prepare, ocl_op_prepare)                                                                  \
    X(op_run, ocl_op_run)                                                                          \
    X(op_release, ocl_op_release)                                                                  \
    X(native_handle, native_handle)
#define SLOT(slot, function) .slot = (function),

static const axle_device_api *device_api(axle_be_device *device)
{
    static const axle_device_api separate = {.struct_size = sizeof(separate), SLOTS(SLOT)};
    static const axle_device_api shared = {.struct_size = sizeof(shared),
                                           SLOTS(SLOT).buffer_import = ocl_buffer_import,
                                           .buffer_map = ocl_buffer_map,
                                           .buffer_unmap = ocl_buffer_unmap};
    return device->about.shares_memory ? &shared : &separate;
}

static const axle_plugin plugin = {
    .struct_size = sizeof(axle_plugin),
    .abi_major = AXLE_ABI_MAJOR,
    .abi_minor = AXLE_ABI_MINOR,
    .name = "opencl",
    .version = "1.0",
    .vendor = "Axle",
    .license = "Apache-2.0",
    .probe = probe,
    .device_count = device_count,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .device_api = device_api,
    .extension = extension,
};

AXLE_PLUGIN_DEFINE(host, error)
{
    (void)error;
    ocl_host = host;
    return &plugin;
}
