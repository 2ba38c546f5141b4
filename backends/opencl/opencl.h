/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenCL backend: what its files share.
 *
 * Everything is enqueued on in-order queues and nothing waits for it but finish, read and map.
 * Kernels report an index out of range in a record of their queue, which those three look at.
 */
#ifndef AXLE_OPENCL_H
#define AXLE_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>

#include "axle/backend.h"
#include "axle/backend_ops.h"

/* What the platform says of a device; known without a context. */
typedef struct ocl_description {
    cl_platform_id platform;
    cl_device_id id;
    cl_device_type type;
    int c_version; /* of OpenCL C, 120 for 1.2 */
    int has_f64;
    int shares_memory; /* kernels work on the host's memory in place */
    uint64_t memory, max_alloc, local_memory;
    uint32_t align; /* bytes */
    uint32_t units;
    size_t max_local; /* work-items of a group along the first dim */
    char name[128], platform_name[128], driver[128], version[128];
} ocl_description;

typedef struct ocl_program ocl_program;

struct axle_be_device {
    ocl_description about;
    cl_context context;
    pthread_mutex_t lock; /* over the list of programs */
    ocl_program *programs;
    int compiles;   /* it was told that kernels are compiled */
    int keeps_none; /* there is no cache that binaries could be kept in */
};

/* What a kernel leaves behind when an index is out of range; kernels/prelude.cl has its twin. */
typedef struct ocl_fault {
    cl_int raised, op;
    cl_long value, limit;
} ocl_fault;

struct axle_be_queue {
    axle_be_device *device;
    cl_command_queue handle;
    cl_mem fault;
    int may_fault; /* a kernel that can raise a fault was enqueued since the last look */
};

struct axle_be_buffer {
    axle_be_device *device;
    cl_mem handle;
    void *host; /* where kernels and host share memory; else NULL */
    int borrowed;
    uint64_t size;
};

extern const axle_host *ocl_host;

/* error.c */
/* Fill an error and return its code. */
axle_status ocl_fail(axle_error *error, axle_status code, const char *format, ...)
    AXLE_PRINTF(3, 4);
/* The same for a failed call of OpenCL, whose name and number go into the message. */
axle_status ocl_fail_cl(axle_error *error, cl_int code, const char *call);
void ocl_log(int32_t level, const char *format, ...) AXLE_PRINTF(2, 3);

/* platform.c: all usable devices of all platforms in one order: GPUs, accelerators, CPUs. */
uint32_t ocl_description_count(void);
const ocl_description *ocl_description_at(uint32_t index);

/* findings.c: what was met while devices were looked for, a line each, for people. */
void ocl_note(const char *format, ...) AXLE_PRINTF(1, 2);
/* Note the folder that the loader reads, and the drivers in it that can not be loaded. */
void ocl_note_vendors(void);
const char *ocl_findings(void);

/* options.c */
/* The number behind a key of the host's options; `absent` where there is none. */
/* Names of all options, as AXLE_EXTENSION_OPTIONS wants them. */
extern const char ocl_option_names[];
long ocl_option_number(const char *key, long absent);

/* program.c */
/*
 * The program of the sources named in `files` (separated by blanks, the prelude first), built with
 * `options`. Programs stay with the device, so each is built once.
 */
axle_status ocl_program_get(axle_be_device *device, const char *files, const char *options,
                            cl_program *out, axle_error *error);
void ocl_programs_release(axle_be_device *device);

/* selftest.c: run a few operators and compare with values computed here. */
axle_status ocl_selftest(axle_be_device *device, axle_error *error);

/* philox.c: the uniform number of an element of a draw. */
double ocl_philox_uniform(uint64_t seed, uint64_t element);

#endif
