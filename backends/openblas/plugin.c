/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin's table: one device, the CPU of this machine. */
#include <config.h>

#include "library.h"
#include "slots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const axle_host *the_host;

/* Whether the library is there is found out when a device is opened; see library.h. */
static int32_t probe(void)
{
    return 30;
}

static uint64_t memory_bytes(int name)
{
    const long count = sysconf(name), size = sysconf(_SC_PAGESIZE);
    return count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

/* The text behind the colon of a line of /proc/cpuinfo that begins with `key`; 0 if it is another
 * line. */
static int cpuinfo_value(const char *line, const char *key, char *out, size_t size)
{
    if (strncmp(line, key, strlen(key)) != 0)
        return 0;
    const char *value = strchr(line, ':');
    if (!value)
        return 0;
    value += 1 + strspn(value + 1, " \t");
    snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
    return out[0] != '\0';
}

static void cpu_name(char *out, size_t size)
{
    snprintf(out, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return;
    char line[512];
    while (fgets(line, sizeof(line), file))
        if (cpuinfo_value(line, "model name", out, size))
            break;
    fclose(file);
}

static int32_t worker_count(void)
{
    const int32_t workers =
        AXLE_HAS(the_host, axle_host, num_workers) ? the_host->num_workers(the_host->ctx) : 1;
    return workers > 0 ? workers : 1;
}

static axle_status check_index(uint32_t index, axle_error *error)
{
    if (index == 0)
        return AXLE_OK;
    return blas_fail(error, AXLE_ERR_DEVICE, "openblas: there is no device %" PRIu32, index);
}

static axle_status device_info(uint32_t index, axle_device_info *out, axle_error *error)
{
    if (check_index(index, error) != AXLE_OK)
        return AXLE_ERR_DEVICE;
    axle_device_info info = {
        .struct_size = out->struct_size,
        .kind = AXLE_DEVICE_CPU,
        .caps = AXLE_CAP_HOST_VISIBLE | AXLE_CAP_IMPORT_HOST | AXLE_CAP_DETERMINISTIC,
        .mem_total = memory_bytes(_SC_PHYS_PAGES),
        .mem_free = memory_bytes(_SC_AVPHYS_PAGES),
        .base_align = 64,
    };
#define BIT(name, number, bytes, text) | AXLE_DTYPE_BIT(number)
    info.storage_dtypes = 0 AXLE_DTYPE_LIST(BIT);
#undef BIT
    info.compute_dtypes = AXLE_DTYPE_BIT(AXLE_DTYPE_F32) | AXLE_DTYPE_BIT(AXLE_DTYPE_F64);
    cpu_name(info.name, sizeof(info.name));
    const int32_t workers = worker_count();
    snprintf(info.description, sizeof(info.description), "CBLAS on %" PRId32 " thread%s", workers,
             workers == 1 ? "" : "s");
    snprintf(info.driver, sizeof(info.driver), "%s", blas_library_name(the_host));
    const size_t size = out->struct_size < sizeof(info) ? out->struct_size : sizeof(info);
    memcpy(out, &info, size);
    return AXLE_OK;
}

static axle_status device_open(uint32_t index, axle_be_device **out, axle_error *error)
{
    if (check_index(index, error) != AXLE_OK)
        return AXLE_ERR_DEVICE;
    const blas_library *library;
    const axle_status status = blas_library_open(the_host, &library, error);
    if (status != AXLE_OK)
        return status;
    axle_be_device *device = malloc(sizeof(*device));
    if (!device)
        return blas_fail(error, AXLE_ERR_NOMEM, "openblas: no memory for a device");
    *device = (axle_be_device){.host = the_host, .library = library, .workers = worker_count()};
    *out = device;
    return AXLE_OK;
}

static void device_close(axle_be_device *device)
{
    free(device);
}

static const axle_device_api *device_api(axle_be_device *device)
{
    (void)device;
    static const axle_device_api api = {
        .struct_size = sizeof(axle_device_api),
        .buffer_create = blas_buffer_create,
        .buffer_import = blas_buffer_import,
        .buffer_destroy = blas_buffer_destroy,
        .buffer_map = blas_buffer_map,
        .buffer_unmap = blas_buffer_unmap,
        .write = blas_buffer_write,
        .read = blas_buffer_read,
        .copy = blas_buffer_copy,
        .fill = blas_buffer_fill,
        .op_query = blas_op_query,
        .op_prepare = blas_op_prepare,
        .op_run = blas_op_run,
        .op_release = blas_op_destroy,
    };
    return &api;
}

static void *extension(const char *name)
{
    static const char options[] = "openblas.library";
    return strcmp(name, AXLE_EXTENSION_OPTIONS) == 0 ? (void *)(uintptr_t)options : NULL;
}

static const axle_plugin plugin = {
    .struct_size = sizeof(axle_plugin),
    .abi_major = AXLE_ABI_MAJOR,
    .abi_minor = AXLE_ABI_MINOR,
    .name = "openblas",
    .version = "1.0",
    .vendor = "Axle",
    .license = "Apache-2.0",
    .probe = probe,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .device_api = device_api,
    .extension = extension,
};

AXLE_PLUGIN_DEFINE(host, error)
{
    (void)error;
    the_host = host;
    return &plugin;
}
