/* SPDX-License-Identifier: Apache-2.0 */
/* The reference backend's plugin table: one device, the host itself, synchronous. */
#include "slots.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const axle_plugin *axle__reference_init(const axle_host *host, axle_error *error);

static const axle_host *the_host;

static int32_t probe(void)
{
    return 10;
}

static axle_status device_count(uint32_t *out, axle_error *error)
{
    (void)error;
    *out = 1;
    return AXLE_OK;
}

static axle_status check_index(uint32_t index, axle_error *error)
{
    if (index == 0)
        return AXLE_OK;
    return ref_fail(error, AXLE_ERR_DEVICE, "reference: there is no device %u, only 0", index);
}

static uint64_t pages(int name)
{
    const long count = sysconf(name), size = sysconf(_SC_PAGESIZE);
    return count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

static axle_status device_info(uint32_t index, axle_device_info *out, axle_error *error)
{
    axle_device_info info = {
        .struct_size = out->struct_size,
        .kind = AXLE_DEVICE_CPU,
        .caps = AXLE_CAP_HOST_VISIBLE | AXLE_CAP_IMPORT_HOST | AXLE_CAP_DETERMINISTIC,
        .mem_total = pages(_SC_PHYS_PAGES),
        .mem_free = pages(_SC_AVPHYS_PAGES),
        .base_align = 64,
    };
    if (check_index(index, error) != AXLE_OK)
        return AXLE_ERR_DEVICE;
#define BIT(name, number, bytes, text) | AXLE_DTYPE_BIT(number)
    info.storage_dtypes = info.compute_dtypes = 0 AXLE_DTYPE_LIST(BIT);
#undef BIT
    snprintf(info.name, sizeof(info.name), "reference CPU");
    snprintf(info.description, sizeof(info.description),
             "plain C kernels, the specification of every operator");
    snprintf(info.driver, sizeof(info.driver), "built in");
    memcpy(out, &info, out->struct_size < sizeof(info) ? out->struct_size : sizeof(info));
    return AXLE_OK;
}

static axle_status device_open(uint32_t index, axle_be_device **out, axle_error *error)
{
    if (check_index(index, error) != AXLE_OK)
        return AXLE_ERR_DEVICE;
    axle_be_device *device = ref_alloc(the_host, sizeof(*device));
    if (!device)
        return ref_fail(error, AXLE_ERR_NOMEM, "reference: no memory for a device");
    device->host = the_host;
    *out = device;
    return AXLE_OK;
}

static void device_close(axle_be_device *device)
{
    if (device)
        ref_free(device->host, device);
}

static const axle_device_api *device_api(axle_be_device *device)
{
    static const axle_device_api api = {
        .struct_size = sizeof(api),
        .buffer_create = ref_buffer_create,
        .buffer_import = ref_buffer_import,
        .buffer_destroy = ref_buffer_destroy,
        .buffer_map = ref_buffer_map,
        .buffer_unmap = ref_buffer_unmap,
        .write = ref_buffer_write,
        .read = ref_buffer_read,
        .copy = ref_buffer_copy,
        .fill = ref_buffer_fill,
        .op_query = ref_op_query,
        .op_prepare = ref_op_prepare,
        .op_run = ref_op_run,
        .op_release = ref_op_release,
    };
    (void)device;
    return &api;
}

/* The entry point; built into the library, it needs no exported name. */
const axle_plugin *axle__reference_init(const axle_host *host, axle_error *error)
{
    static const axle_plugin plugin = {
        .struct_size = sizeof(plugin),
        .abi_major = AXLE_ABI_MAJOR,
        .abi_minor = AXLE_ABI_MINOR,
        .name = "reference",
        .version = "1.0",
        .vendor = "Axle",
        .license = "Apache-2.0",
        .probe = probe,
        .device_count = device_count,
        .device_info = device_info,
        .device_open = device_open,
        .device_close = device_close,
        .device_api = device_api,
    };
    if (host && host->abi_major != AXLE_ABI_MAJOR) {
        ref_fail(error, AXLE_ERR_ABI, "reference: the host speaks interface %u, this is %u",
                 host->abi_major, AXLE_ABI_MAJOR);
        return NULL;
    }
    the_host = host;
    ref_op_table_build();
    return &plugin;
}
