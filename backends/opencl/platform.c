/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of all platforms in one order: GPUs, then accelerators, then CPUs, each by the name
 * of the platform and in the order in which that lists them. Loaders list platforms as the file
 * system has their files, which is no order. That there is no platform, or a platform without
 * devices, is a normal state; what was found or left out is noted for people (findings.c).
 */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLATFORMS = 32, MOST_DEVICES = 64 };

static ocl_description list[MOST_DEVICES];
static uint32_t count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Cut to what fits: some drivers have long names. */
static void text_of(cl_device_id id, cl_device_info what, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    if (clGetDeviceInfo(id, what, 0, NULL, &length) != CL_SUCCESS || length == 0)
        return;
    char *text = calloc(length + 1, 1);
    if (text && clGetDeviceInfo(id, what, length, text, NULL) == CL_SUCCESS)
        snprintf(out, size, "%.*s", (int)(size - 1), text + strspn(text, " "));
    free(text);
}

/* The value of a fixed size, or 0 where the device has none. */
#define VALUE_OF(type, id, what)                                                                   \
    static type what##_of(cl_device_id id)                                                         \
    {                                                                                              \
        type value = 0;                                                                            \
        return clGetDeviceInfo(id, what, sizeof(value), &value, NULL) == CL_SUCCESS ? value : 0;   \
    }
VALUE_OF(cl_bool, id, CL_DEVICE_AVAILABLE)
VALUE_OF(cl_bool, id, CL_DEVICE_COMPILER_AVAILABLE)
VALUE_OF(cl_bool, id, CL_DEVICE_ENDIAN_LITTLE)
VALUE_OF(cl_bool, id, CL_DEVICE_HOST_UNIFIED_MEMORY)
VALUE_OF(cl_device_type, id, CL_DEVICE_TYPE)
VALUE_OF(cl_device_fp_config, id, CL_DEVICE_DOUBLE_FP_CONFIG)
VALUE_OF(cl_ulong, id, CL_DEVICE_GLOBAL_MEM_SIZE)
VALUE_OF(cl_ulong, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE)
VALUE_OF(cl_ulong, id, CL_DEVICE_LOCAL_MEM_SIZE)
VALUE_OF(cl_uint, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN)
VALUE_OF(cl_uint, id, CL_DEVICE_MAX_COMPUTE_UNITS)
VALUE_OF(size_t, id, CL_DEVICE_MAX_WORK_GROUP_SIZE)

/* "OpenCL C 1.2 ..." is 120. */
static int c_version_of(cl_device_id id)
{
    char text[128];
    int major = 0, minor = 0;
    text_of(id, CL_DEVICE_OPENCL_C_VERSION, text, sizeof(text));
    return sscanf(text, "OpenCL C %d.%d", &major, &minor) == 2 ? 100 * major + 10 * minor : 0;
}

static int has_extension(cl_device_id id, const char *name)
{
    size_t size = 0;
    int found = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return 0;
    char *text = calloc(size + 1, 1);
    if (text && clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, text, NULL) == CL_SUCCESS)
        for (char *save = NULL, *word = strtok_r(text, " ", &save); word && !found;
             word = strtok_r(NULL, " ", &save))
            found = strcmp(word, name) == 0;
    free(text);
    return found;
}

/* A limit, or a lower one that an option asks for. */
static uint64_t lowered(uint64_t limit, const char *option)
{
    const long wanted = ocl_option_number(option, 0);
    return wanted > 0 && (uint64_t)wanted < limit ? (uint64_t)wanted : limit;
}

/* Most work-items along the first dim of a group. */
static size_t max_local_of(cl_device_id id)
{
    size_t sizes[16] = {0}, limit = CL_DEVICE_MAX_WORK_GROUP_SIZE_of(id);
    if (clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(sizes), sizes, NULL) ==
            CL_SUCCESS &&
        sizes[0] > 0 && sizes[0] < limit)
        limit = sizes[0];
    limit = (size_t)lowered(limit, "opencl.max_local");
    return limit > 0 ? limit : 1;
}

/* Why a device can not be used; NULL where it can. */
static const char *defect_of(cl_device_id id, const ocl_description *d)
{
    if (!CL_DEVICE_AVAILABLE_of(id))
        return "it is not available";
    if (!CL_DEVICE_COMPILER_AVAILABLE_of(id))
        return "it has no compiler";
    if (!CL_DEVICE_ENDIAN_LITTLE_of(id))
        return "its bytes are in big-endian order";
    return d->c_version < 120 ? "its OpenCL C is older than 1.2" : NULL;
}

static void platform_name(cl_platform_id platform, char *out, size_t size)
{
    char text[1024];
    size_t length = 0;
    const int known =
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(text), text, &length) == CL_SUCCESS &&
        length > 1;
    text[known ? length - 1 : 0] = '\0';
    snprintf(out, size, "%.*s", (int)(size - 1), known ? text : "unnamed platform");
}

static int describe(cl_platform_id platform, cl_device_id id, ocl_description *out)
{
    ocl_description d = {.platform = platform, .id = id};
    d.c_version = c_version_of(id);
    text_of(id, CL_DEVICE_NAME, d.name, sizeof(d.name));
    platform_name(platform, d.platform_name, sizeof(d.platform_name));
    const char *defect = defect_of(id, &d);
    if (defect) {
        ocl_note("platform %s: device %s is left out: %s", d.platform_name, d.name, defect);
        return 0;
    }
    d.type = CL_DEVICE_TYPE_of(id);
    d.has_f64 = CL_DEVICE_DOUBLE_FP_CONFIG_of(id) != 0 && has_extension(id, "cl_khr_fp64");
    d.memory = CL_DEVICE_GLOBAL_MEM_SIZE_of(id);
    d.max_alloc = lowered(CL_DEVICE_MAX_MEM_ALLOC_SIZE_of(id), "opencl.max_alloc");
    d.local_memory = CL_DEVICE_LOCAL_MEM_SIZE_of(id);
    d.align = CL_DEVICE_MEM_BASE_ADDR_ALIGN_of(id) / 8;
    d.units = CL_DEVICE_MAX_COMPUTE_UNITS_of(id);
    d.max_local = max_local_of(id);
    text_of(id, CL_DRIVER_VERSION, d.driver, sizeof(d.driver));
    text_of(id, CL_DEVICE_VERSION, d.version, sizeof(d.version));
    /* PoCL's CPU devices work on host memory in place; of others it is not known. */
    d.shares_memory = (d.type & CL_DEVICE_TYPE_CPU) && CL_DEVICE_HOST_UNIFIED_MEMORY_of(id) &&
                      strcmp(d.platform_name, "Portable Computing Language") == 0;
    *out = d;
    return 1;
}

static int class_of(const ocl_description *d)
{
    if (d->type & CL_DEVICE_TYPE_GPU)
        return 0;
    return d->type & CL_DEVICE_TYPE_CPU ? 2 : 1;
}

static int comes_before(const ocl_description *a, const ocl_description *b)
{
    const int classes = class_of(a) - class_of(b);
    return classes ? classes < 0 : strcmp(a->platform_name, b->platform_name) < 0;
}

/* Insert behind all that it does not come before. */
static void insert(const ocl_description *d)
{
    uint32_t at = count;
    if (count == MOST_DEVICES) {
        ocl_note("platform %s: device %s is left out: there are more than %d", d->platform_name,
                 d->name, MOST_DEVICES);
        return;
    }
    for (; at > 0 && comes_before(d, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = *d;
    count++;
}

/* Mesa's rusticl shows no device until it is told which of its drivers may have one. */
static void note_no_device(cl_platform_id platform, cl_int code)
{
    char name[128];
    platform_name(platform, name, sizeof(name));
    if (code != CL_SUCCESS && code != CL_DEVICE_NOT_FOUND)
        ocl_note("platform %s can not list its devices: error %d", name, code);
    else
        ocl_note("platform %s has no device%s", name,
                 strstr(name, "rusticl") && !getenv("RUSTICL_ENABLE")
                     ? "; RUSTICL_ENABLE names the drivers that it may use, as in "
                       "RUSTICL_ENABLE=llvmpipe"
                     : "");
}

static void enumerate_platform(cl_platform_id platform)
{
    cl_device_id ids[MOST_DEVICES];
    cl_uint n = 0;
    ocl_description d;
    const cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &n);
    if (code != CL_SUCCESS || n == 0) {
        note_no_device(platform, code);
        return;
    }
    for (cl_uint k = 0; k < n && k < MOST_DEVICES; k++)
        if (describe(platform, ids[k], &d))
            insert(&d);
}

static void enumerate(void)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint n = 0;
    const cl_int code = clGetPlatformIDs(MOST_PLATFORMS, platforms, &n);
    ocl_note_vendors();
    if (code != CL_SUCCESS || n == 0)
        ocl_note("there is no OpenCL platform");
    for (cl_uint p = 0; code == CL_SUCCESS && p < n && p < MOST_PLATFORMS; p++)
        enumerate_platform(platforms[p]);
}

uint32_t ocl_description_count(void)
{
    pthread_once(&once, enumerate);
    return count;
}

const ocl_description *ocl_description_at(uint32_t index)
{
    return index < ocl_description_count() ? &list[index] : NULL;
}
