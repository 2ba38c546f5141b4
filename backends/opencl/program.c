/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs: built once a device and set of options, from the binary that an earlier process left
 * in the host's cache or from source. A binary that the driver refuses is dropped.
 */
#include "opencl.h"
#include "sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 5, MOST_OPTIONS = 768 };

struct ocl_program {
    ocl_program *next;
    cl_program handle;
    char *key; /* files and options */
};

/* What a build is made of. */
typedef struct recipe {
    const char *text[MOST_FILES];
    cl_uint n;
    char options[MOST_OPTIONS];
} recipe;

static const char *source_of(const char *name, size_t length)
{
    for (const ocl_source *s = ocl_sources; s->name; s++)
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0)
            return s->text;
    return NULL;
}

static int recipe_read(const axle_be_device *device, const char *files, const char *options,
                       recipe *r)
{
    r->n = 0;
    while (*files) {
        const size_t length = strcspn(files, " ");
        if (r->n == MOST_FILES || !(r->text[r->n++] = source_of(files, length)))
            return 0;
        files += length + strspn(files + length, " ");
    }
    const int written =
        snprintf(r->options, sizeof(r->options), "-cl-std=CL1.2 -w%s%s %s",
                 device->about.has_f64 ? " -DHAVE_F64" : "",
                 device->about.type & CL_DEVICE_TYPE_CPU ? " -DON_CPU" : "", options);
    return written > 0 && (size_t)written < sizeof(r->options);
}

/* The key of a binary: everything that it depends on, each part ended by a zero byte. */
static char *cache_key(const axle_be_device *device, const recipe *r, size_t *size)
{
    const ocl_description *d = &device->about;
    const char *part[5 + MOST_FILES] = {"opencl 1", r->options, d->platform_name, d->name,
                                        d->driver};
    char version[160];
    size_t n = 5, length = 0;
    snprintf(version, sizeof(version), "%s, C %d", d->version, d->c_version);
    for (cl_uint k = 0; k < r->n; k++)
        part[n++] = r->text[k];
    for (size_t k = 0; k < n; k++)
        length += strlen(part[k]) + 1;
    char *key = malloc(length + strlen(version) + 1), *to = key;
    if (!key)
        return NULL;
    for (size_t k = 0; k < n; k++)
        to = stpcpy(to, part[k]) + 1;
    stpcpy(to, version);
    *size = length + strlen(version) + 1;
    return key;
}

static cl_program build_binary(axle_be_device *device, const recipe *r, const void *blob,
                               uint64_t blob_size)
{
    const unsigned char *binary = blob;
    const size_t size = blob_size;
    cl_int code;
    cl_program program = clCreateProgramWithBinary(device->context, 1, &device->about.id, &size,
                                                   &binary, NULL, &code);
    if (program &&
        clBuildProgram(program, 1, &device->about.id, r->options, NULL, NULL) != CL_SUCCESS) {
        clReleaseProgram(program);
        program = NULL;
    }
    return program;
}

static cl_program from_cache(axle_be_device *device, const recipe *r, const char *key, size_t size)
{
    void *blob = NULL;
    uint64_t blob_size = 0;
    if (!key || !AXLE_HAS(ocl_host, axle_host, cache_get) ||
        ocl_host->cache_get(ocl_host->ctx, key, size, &blob, &blob_size) != AXLE_OK)
        return NULL;
    cl_program program = build_binary(device, r, blob, blob_size);
    ocl_host->free(ocl_host->ctx, blob);
    if (!program && AXLE_HAS(ocl_host, axle_host, cache_drop)) {
        ocl_log(AXLE_LOG_INFO, "the driver refuses a cached binary; building from source");
        ocl_host->cache_drop(ocl_host->ctx, key, size);
    }
    return program;
}

/* The program's binary, from malloc(). */
static unsigned char *binary_of(cl_program program, size_t *size)
{
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(*size), size, NULL) !=
            CL_SUCCESS ||
        *size == 0)
        return NULL;
    unsigned char *binary = malloc(*size);
    if (binary &&
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL) == CL_SUCCESS)
        return binary;
    free(binary);
    return NULL;
}

/* Keep a new program for later processes, and go on with what they will run; a binary that the
 * driver takes back is one to keep. PoCL compiles all kernels for a binary, which takes as long as
 * to build the program and to compile for the sizes of work-groups that run, and is in vain where
 * nothing can be kept. */
static void to_cache(axle_be_device *device, const recipe *r, const char *key, size_t key_size,
                     cl_program *program)
{
    size_t size = 0;
    if (!key || device->keeps_none || !AXLE_HAS(ocl_host, axle_host, cache_put))
        return;
    unsigned char *binary = binary_of(*program, &size);
    cl_program same = binary ? build_binary(device, r, binary, size) : NULL;
    if (same) {
        device->keeps_none =
            ocl_host->cache_put(ocl_host->ctx, key, key_size, binary, size) != AXLE_OK;
        clReleaseProgram(*program);
        *program = same;
    }
    free(binary);
}

static axle_status compile_failed(axle_be_device *device, cl_program program, const char *files,
                                  const recipe *r, cl_int code, axle_error *error)
{
    char *log = NULL;
    size_t size = 0;
    clGetProgramBuildInfo(program, device->about.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    if (size > 0 && (log = calloc(size + 1, 1)))
        clGetProgramBuildInfo(program, device->about.id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    ocl_fail(error, AXLE_ERR_COMPILE, "opencl: %s with %s does not compile (%d): %.600s", files,
             r->options, code, log ? log : "no log");
    free(log);
    return AXLE_ERR_COMPILE;
}

static axle_status build_source(axle_be_device *device, const char *files, recipe *r,
                                cl_program *out, axle_error *error)
{
    cl_int code;
    cl_program program = clCreateProgramWithSource(device->context, r->n, r->text, NULL, &code);
    if (!program)
        return ocl_fail_cl(error, code, "clCreateProgramWithSource");
    code = clBuildProgram(program, 1, &device->about.id, r->options, NULL, NULL);
    if (code == CL_SUCCESS) {
        *out = program;
        return AXLE_OK;
    }
    const axle_status status = compile_failed(device, program, files, r, code, error);
    clReleaseProgram(program);
    return status;
}

/* Drivers keep caches of their own, and PoCL's fails a build now and then while another process
 * builds the same (it says no more than that it failed). The other one is done soon: wait a little,
 * processes not all alike, and try again. A program that does not compile fails every time. */
enum { BUILD_TRIES = 5, BUILD_PAUSE_MS = 40 };

static void pause_before_try(int number)
{
    long ms = ((long)BUILD_PAUSE_MS << number) + (long)getpid() % BUILD_PAUSE_MS;
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static axle_status build_patiently(axle_be_device *device, const char *files, recipe *r,
                                   cl_program *out, axle_error *error)
{
    axle_status status = build_source(device, files, r, out, error);
    for (int k = 0; k + 1 < BUILD_TRIES && status == AXLE_ERR_COMPILE; k++) {
        pause_before_try(k);
        status = build_source(device, files, r, out, error);
    }
    return status;
}

/* Once a process: a first run would otherwise seem to hang. */
static void tell_of_compiling(axle_be_device *device)
{
    if (!device->compiles)
        ocl_log(AXLE_LOG_INFO, "compiling kernels for %s; later runs find them in AXLE_CACHE_DIR",
                device->about.name);
    device->compiles = 1;
}

/* Other processes that want the same program wait for its binary meanwhile. It is not only faster:
 * PoCL puts into a binary what it finds in a folder of its own, where others that build the same
 * may be writing, and stops the process that reads an incomplete one. */
static void *lock_others_out(axle_be_device *device, const char *key, size_t size)
{
    void *lock = NULL;
    if (key && !device->keeps_none && AXLE_HAS(ocl_host, axle_host, cache_lock))
        device->keeps_none = ocl_host->cache_lock(ocl_host->ctx, key, size, &lock) != AXLE_OK;
    return lock;
}

static axle_status build_new(axle_be_device *device, const char *files, recipe *r, const char *key,
                             size_t size, cl_program *out, axle_error *error)
{
    tell_of_compiling(device);
    void *lock = lock_others_out(device, key, size);
    axle_status status = AXLE_OK;
    *out = lock ? from_cache(device, r, key, size) : NULL;
    if (!*out) {
        status = build_patiently(device, files, r, out, error);
        if (status == AXLE_OK)
            to_cache(device, r, key, size, out);
    }
    if (lock)
        ocl_host->cache_unlock(ocl_host->ctx, lock);
    return status;
}

static axle_status build(axle_be_device *device, const char *files, const char *options,
                         cl_program *out, axle_error *error)
{
    recipe r;
    size_t size = 0;
    if (!recipe_read(device, files, options, &r))
        return ocl_fail(error, AXLE_ERR_INTERNAL, "opencl: no program of '%s' with '%s'", files,
                        options);
    char *key = cache_key(device, &r, &size);
    axle_status status = AXLE_OK;
    *out = from_cache(device, &r, key, size);
    if (!*out)
        status = build_new(device, files, &r, key, size, out, error);
    free(key);
    return status;
}

static axle_status get_locked(axle_be_device *device, const char *key, const char *files,
                              const char *options, cl_program *out, axle_error *error)
{
    for (ocl_program *p = device->programs; p; p = p->next)
        if (strcmp(p->key, key) == 0) {
            *out = p->handle;
            return AXLE_OK;
        }
    ocl_program *p = calloc(1, sizeof(*p));
    if (!p || !(p->key = strdup(key))) {
        free(p);
        return ocl_fail(error, AXLE_ERR_NOMEM, "opencl: no memory for a program");
    }
    const axle_status status = build(device, files, options, &p->handle, error);
    if (status != AXLE_OK) {
        free(p->key);
        free(p);
        return status;
    }
    p->next = device->programs;
    device->programs = p;
    *out = p->handle;
    return AXLE_OK;
}

axle_status ocl_program_get(axle_be_device *device, const char *files, const char *options,
                            cl_program *out, axle_error *error)
{
    char key[MOST_OPTIONS + 64];
    snprintf(key, sizeof(key), "%s|%s", files, options);
    pthread_mutex_lock(&device->lock);
    const axle_status status = get_locked(device, key, files, options, out, error);
    pthread_mutex_unlock(&device->lock);
    return status;
}

void ocl_programs_release(axle_be_device *device)
{
    while (device->programs) {
        ocl_program *p = device->programs;
        device->programs = p->next;
        clReleaseProgram(p->handle);
        free(p->key);
        free(p);
    }
}
