/* SPDX-License-Identifier: Apache-2.0 */
/* The mock's platforms and devices: reading MOCK_OPENCL and answering questions about them. */
#include "mock_icd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/types.h"

cl_icd_dispatch mock_dispatch;

static struct _cl_platform_id platforms[MOCK_PLATFORMS];
static struct _cl_device_id devices[MOCK_DEVICES];
static cl_uint n_platforms, n_devices;

cl_int mock_answer(const void *value, size_t size, size_t capacity, void *out, size_t *out_size)
{
    if (out && capacity < size)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, size);
    if (out_size)
        *out_size = size;
    return CL_SUCCESS;
}

/* ------------------------------------------------------------------ the description */

static void make_name_long(char *name, size_t size)
{
    const size_t length = strlen(name);
    for (size_t k = length; k + 1 < size; k++)
        name[k] = name[k - length];
    name[size - 1] = '\0';
}

static void read_word(struct _cl_device_id *device, const char *word)
{
    const struct {
        const char *name;
        cl_ulong *value;
    } known[] = {
        {"unavailable", &device->is_unavailable},
        {"no-compiler", &device->has_no_compiler},
        {"big-endian", &device->is_big_endian},
        {"no-context", &device->has_no_context},
        {"no-binary", &device->refuses_binaries},
        {"fp64", &device->has_fp64},
        {"c", &device->c_version},
        {"memory", &device->memory},
        {"alloc", &device->alloc},
        {"local", &device->local},
    };
    const size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : "1";
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
        if (strlen(known[k].name) == length && strncmp(known[k].name, word, length) == 0)
            *known[k].value = strtoull(value, NULL, 10);
    if (strcmp(word, "long-name") == 0)
        make_name_long(device->name, sizeof(device->name));
    if (strncmp(word, "driver=", 7) == 0)
        snprintf(device->driver, sizeof(device->driver), "%s", value);
}

static cl_device_type type_of(const char *word)
{
    if (strcmp(word, "gpu") == 0)
        return CL_DEVICE_TYPE_GPU;
    return strcmp(word, "cpu") == 0 ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_ACCELERATOR;
}

static void read_item(char *item)
{
    char *save = NULL, *kind = strtok_r(item, " ", &save), *name = strtok_r(NULL, " ", &save);
    if (!kind || !name)
        return;
    if (strcmp(kind, "platform") == 0 && n_platforms < MOCK_PLATFORMS) {
        struct _cl_platform_id *platform = &platforms[n_platforms++];
        platform->dispatch = &mock_dispatch;
        snprintf(platform->name, sizeof(platform->name), "%s", name);
    } else if (n_platforms > 0 && n_devices < MOCK_DEVICES) {
        struct _cl_device_id *device = &devices[n_devices++];
        *device = (struct _cl_device_id){.dispatch = &mock_dispatch,
                                         .platform = &platforms[n_platforms - 1],
                                         .driver = "mock 1",
                                         .type = type_of(kind),
                                         .memory = 1 << 30,
                                         .alloc = 1 << 28,
                                         .local = 256,
                                         .c_version = 120};
        snprintf(device->name, sizeof(device->name), "%s", name);
        for (char *word; (word = strtok_r(NULL, " ", &save)) != NULL;)
            read_word(device, word);
    }
}

static void read_description(void)
{
    const char *given = getenv("MOCK_OPENCL");
    char text[4096], *save = NULL;
    snprintf(text, sizeof(text), "%s", given ? given : "");
    for (char *item = strtok_r(text, ";", &save); item; item = strtok_r(NULL, ";", &save))
        read_item(item);
}

/* ------------------------------------------------------------------ questions */

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what,
                                        size_t capacity, void *out, size_t *size)
{
    const char *text = what == CL_PLATFORM_NAME             ? platform->name
                       : what == CL_PLATFORM_VERSION        ? "OpenCL 1.2 mock"
                       : what == CL_PLATFORM_EXTENSIONS     ? "cl_khr_icd"
                       : what == CL_PLATFORM_PROFILE        ? "FULL_PROFILE"
                       : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "MOCK"
                                                            : "mock";
    return mock_answer(text, strlen(text) + 1, capacity, out, size);
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint capacity,
                                     cl_device_id *out, cl_uint *count)
{
    cl_uint n = 0;
    for (cl_uint k = 0; k < n_devices; k++)
        if (devices[k].platform == platform && (devices[k].type & type)) {
            if (out && n < capacity)
                out[n] = &devices[k];
            n++;
        }
    if (n == 0)
        return CL_DEVICE_NOT_FOUND;
    if (count)
        *count = n;
    return CL_SUCCESS;
}

static cl_int device_text(cl_device_id device, cl_device_info what, size_t capacity, void *out,
                          size_t *size)
{
    char version[64];
    const char *text = version;
    snprintf(version, sizeof(version), "OpenCL %s%d.%d mock",
             what == CL_DEVICE_OPENCL_C_VERSION ? "C " : "", (int)device->c_version / 100,
             (int)device->c_version / 10 % 10);
    if (what == CL_DEVICE_NAME)
        text = device->name;
    else if (what == CL_DRIVER_VERSION)
        text = device->driver;
    else if (what == CL_DEVICE_EXTENSIONS)
        text = device->has_fp64 ? "cl_khr_fp64 cl_khr_icd" : "cl_khr_icd";
    return mock_answer(text, strlen(text) + 1, capacity, out, size);
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t capacity,
                                      void *out, size_t *size)
{
    const size_t local = device->local, sizes[3] = {local, local, local};
    const cl_bool available = !device->is_unavailable, compiler = !device->has_no_compiler,
                  little = !device->is_big_endian, unified = CL_FALSE;
    const cl_device_fp_config fp64 = device->has_fp64 ? CL_FP_FMA | CL_FP_INF_NAN : 0;
    const cl_ulong local_memory = 32768;
    const cl_uint align = 1024, units = 4;
    const struct {
        cl_device_info what;
        const void *value;
        size_t size;
    } known[] = {
        {CL_DEVICE_TYPE, &device->type, sizeof(device->type)},
        {CL_DEVICE_PLATFORM, &device->platform, sizeof(device->platform)},
        {CL_DEVICE_AVAILABLE, &available, sizeof(available)},
        {CL_DEVICE_COMPILER_AVAILABLE, &compiler, sizeof(compiler)},
        {CL_DEVICE_ENDIAN_LITTLE, &little, sizeof(little)},
        {CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof(unified)},
        {CL_DEVICE_DOUBLE_FP_CONFIG, &fp64, sizeof(fp64)},
        {CL_DEVICE_GLOBAL_MEM_SIZE, &device->memory, sizeof(device->memory)},
        {CL_DEVICE_MAX_MEM_ALLOC_SIZE, &device->alloc, sizeof(device->alloc)},
        {CL_DEVICE_LOCAL_MEM_SIZE, &local_memory, sizeof(local_memory)},
        {CL_DEVICE_MEM_BASE_ADDR_ALIGN, &align, sizeof(align)},
        {CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof(units)},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, &local, sizeof(local)},
        {CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes, sizeof(sizes)},
    };
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
        if (known[k].what == what)
            return mock_answer(known[k].value, known[k].size, capacity, out, size);
    return device_text(device, what, capacity, out, size);
}

/* ------------------------------------------------------------------ what the loader calls */

static cl_int CL_API_CALL platform_ids(cl_uint capacity, cl_platform_id *out, cl_uint *count)
{
    if (n_platforms == 0)
        read_description();
    mock_dispatch.clGetPlatformInfo = platform_info;
    mock_dispatch.clGetDeviceIDs = device_ids;
    mock_dispatch.clGetDeviceInfo = device_info;
    mock_objects_fill(&mock_dispatch);
    for (cl_uint k = 0; out && k < n_platforms && k < capacity; k++)
        out[k] = &platforms[k];
    if (count)
        *count = n_platforms;
    return n_platforms > 0 ? CL_SUCCESS : CL_PLATFORM_NOT_FOUND_KHR;
}

/* ISO C has no cast from a function to what this returns. */
#define AS_POINTER(fn, out)                                                                        \
    do {                                                                                           \
        void (*function)(void) = (void (*)(void))(fn);                                             \
        memcpy(&(out), &function, sizeof(out));                                                    \
    } while (0)

AXLE_API CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    void *address = NULL;
    if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
        AS_POINTER(platform_ids, address);
    else if (strcmp(name, "clGetPlatformInfo") == 0)
        AS_POINTER(platform_info, address);
    return address;
}

AXLE_API CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint capacity,
                                                                cl_platform_id *out, cl_uint *count)
{
    return platform_ids(capacity, out, count);
}

AXLE_API CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                           cl_platform_info what, size_t capacity,
                                                           void *out, size_t *size)
{
    return platform_info(platform, what, capacity, out, size);
}
