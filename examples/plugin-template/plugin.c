/* SPDX-License-Identifier: Apache-2.0 */
/* What Axle is told of this backend and of its device. */
#include "template.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const axle_host *template_host;

axle_status template_fail(axle_error *error, axle_status code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (error) {
        error->code = code;
        vsnprintf(error->message, error->message_capacity, format, list);
    }
    va_end(list);
    return code;
}

/* Replace: 0 where your hardware is missing, 50 for a GPU. 5 is below the built-in backend. */
static int32_t probe(void)
{
    return 5;
}

/* Replace: what your driver says of the device, before it is opened. */
static axle_status device_info(uint32_t index, axle_device_info *out, axle_error *error)
{
    const axle_device_info info = {
        .struct_size = out->struct_size,
        .kind = AXLE_DEVICE_CPU,
        /* Where the host can address the memory it runs what we lack without copies. */
        .caps = AXLE_CAP_HOST_VISIBLE | AXLE_CAP_DETERMINISTIC,
        .base_align = 64,
#define TEMPLATE_BIT(name, number, bytes, text) | AXLE_DTYPE_BIT(number)
        .storage_dtypes = 0 AXLE_DTYPE_LIST(TEMPLATE_BIT), /* memory holds every type */
#undef TEMPLATE_BIT
        .compute_dtypes = AXLE_DTYPE_BIT(AXLE_DTYPE_F32),
        .name = "plain C in host memory",
    };
    if (index > 0)
        return template_fail(error, AXLE_ERR_DEVICE, "there is no device %u", index);
    /* Axle may be older than these headers, and its struct smaller. */
    memcpy(out, &info, out->struct_size < sizeof(info) ? out->struct_size : sizeof(info));
    return AXLE_OK;
}

static axle_status device_open(uint32_t index, axle_be_device **out, axle_error *error)
{
    if (index > 0)
        return template_fail(error, AXLE_ERR_DEVICE, "there is no device %u", index);
    axle_be_device *device = template_host->alloc(template_host->ctx, sizeof(*device), 16);
    if (!device)
        return template_fail(error, AXLE_ERR_NOMEM, "no memory for device %u", index);
    device->index = index;
    *out = device;
    return AXLE_OK;
}

static void device_close(axle_be_device *device)
{
    template_host->free(template_host->ctx, device);
}

/* The one exported function. */
AXLE_PLUGIN_DEFINE(host, error)
{
    static const axle_plugin plugin = {
        .struct_size = sizeof(axle_plugin),
        .abi_major = AXLE_ABI_MAJOR,
        .abi_minor = AXLE_ABI_MINOR,
        .name = "template", /* Replace: the name of the file, less .so */
        .version = "1.0",
        .vendor = "your name",
        .license = "Apache-2.0",
        .probe = probe,
        .device_info = device_info,
        .device_open = device_open,
        .device_close = device_close,
        .device_api = template_device_api,
    };
    (void)error;
    template_host = host;
    return &plugin;
}
