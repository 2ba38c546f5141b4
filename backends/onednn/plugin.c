/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin's table: one device, the CPU of this machine. */
#include <config.h>

#include "compat.h"
#include "slots.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const axle_host *the_host;

/* oneDNN generates code for SSE4.1 and later; below that only its plain C++ code is left, which the
 * reference kernels are no worse than. */
static int cpu_is_served(void)
{
#if defined(__x86_64__) || defined(__i386__)
    if (!__builtin_cpu_supports("sse4.1"))
        return 0;
#endif
    return dnn_engine() != NULL;
}

static int32_t probe(void)
{
    return cpu_is_served() ? 40 : 0;
}

static axle_status device_count(uint32_t *out, axle_error *error)
{
    (void)error;
    *out = cpu_is_served();
    return AXLE_OK;
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

static int thread_count(void)
{
    const int workers =
        AXLE_HAS(the_host, axle_host, num_workers) ? the_host->num_workers(the_host->ctx) : 0;
    return workers > 0 ? workers : omp_get_max_threads();
}

static axle_status check_index(uint32_t index, axle_error *error)
{
    if (index == 0 && cpu_is_served())
        return AXLE_OK;
    return cpu_fail(error, AXLE_ERR_DEVICE, "onednn: there is no device %" PRIu32, index);
}

static axle_status device_info(uint32_t index, axle_device_info *out, axle_error *error)
{
    if (check_index(index, error) != AXLE_OK)
        return AXLE_ERR_DEVICE;
    axle_device_info info = {
        .struct_size = out->struct_size,
        .kind = AXLE_DEVICE_CPU,
        .caps = AXLE_CAP_HOST_VISIBLE | AXLE_CAP_IMPORT_HOST | AXLE_CAP_DETERMINISTIC |
                AXLE_CAP_OWN_POOL | AXLE_CAP_FORK_UNSAFE,
        .mem_total = memory_bytes(_SC_PHYS_PAGES),
        .mem_free = memory_bytes(_SC_AVPHYS_PAGES),
        .base_align = 64,
    };
#define BIT(name, number, bytes, text) | AXLE_DTYPE_BIT(number)
    info.storage_dtypes = 0 AXLE_DTYPE_LIST(BIT);
#undef BIT
    info.compute_dtypes = info.storage_dtypes & ~AXLE_DTYPE_BIT(AXLE_DTYPE_F64);
    const dnnl_version_t *version = dnnl_version();
    cpu_name(info.name, sizeof(info.name));
    const int threads = thread_count();
    snprintf(info.description, sizeof(info.description), "oneDNN and OpenMP on %d thread%s",
             threads, threads == 1 ? "" : "s");
    snprintf(info.driver, sizeof(info.driver), "oneDNN %d.%d.%d, %s", version->major,
             version->minor, version->patch, dnn_isa_name());
    const size_t size = out->struct_size < sizeof(info) ? out->struct_size : sizeof(info);
    memcpy(out, &info, size);
    return AXLE_OK;
}

static axle_status device_open(uint32_t index, axle_be_device **out, axle_error *error)
{
    if (check_index(index, error) != AXLE_OK)
        return AXLE_ERR_DEVICE;
    axle_be_device *device = malloc(sizeof(*device));
    if (!device)
        return cpu_fail(error, AXLE_ERR_NOMEM, "onednn: no memory for a device");
    *device = (axle_be_device){.host = the_host, .threads = thread_count()};
    *out = device;
    return AXLE_OK;
}

static void device_close(axle_be_device *device)
{
    free(device);
}

static axle_status native_handle(axle_be_device *device, const char *what, void **out)
{
    (void)device;
    if (strcmp(what, "dnnl_engine") != 0)
        return AXLE_ERR_NOT_FOUND;
    *out = dnn_engine();
    return AXLE_OK;
}

static const axle_device_api *device_api(axle_be_device *device)
{
    (void)device;
    static const axle_device_api api = {
        .struct_size = sizeof(axle_device_api),
        .buffer_create = cpu_buffer_create,
        .buffer_import = cpu_buffer_import,
        .buffer_destroy = cpu_buffer_destroy,
        .buffer_map = cpu_buffer_map,
        .buffer_unmap = cpu_buffer_unmap,
        .write = cpu_buffer_write,
        .read = cpu_buffer_read,
        .copy = cpu_buffer_copy,
        .fill = cpu_buffer_fill,
        .op_query = cpu_op_query,
        .op_prepare = cpu_op_prepare,
        .op_run = cpu_op_run,
        .op_release = cpu_op_destroy,
        .native_handle = native_handle,
    };
    return &api;
}

static void *extension(const char *name)
{
    static const char options[] = "onednn.isa";
    return strcmp(name, AXLE_EXTENSION_OPTIONS) == 0 ? (void *)(uintptr_t)options : NULL;
}

static const axle_plugin plugin = {
    .struct_size = sizeof(axle_plugin),
    .abi_major = AXLE_ABI_MAJOR,
    .abi_minor = AXLE_ABI_MINOR,
    .name = "onednn",
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
    the_host = host;
    return &plugin;
}
