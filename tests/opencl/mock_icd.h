/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL implementation that computes nothing, for tests: the loader finds it through an .icd
 * file, and the platforms and devices that it has are those that MOCK_OPENCL describes.
 *
 *     MOCK_OPENCL='platform Acme; gpu Alpha; cpu Beta unavailable; platform Empty'
 *
 * Each device belongs to the platform before it; a platform without devices answers
 * CL_DEVICE_NOT_FOUND. Words that may follow a device's name:
 *
 *     unavailable, no-compiler, big-endian, no-context, no-binary, long-name, fp64,
 *     c=OPENCL-C-VERSION, driver=VERSION, memory=BYTES, alloc=BYTES, local=WORK-ITEMS
 *
 * Memory holds what is written to it; kernels do nothing. Where MOCK_OPENCL_RECORD names a folder,
 * every program that is built from source is left there as a .cl file, its options in the first
 * line, and a .binary file for each binary that was asked for.
 */
#ifndef AXLE_TESTS_MOCK_ICD_H
#define AXLE_TESTS_MOCK_ICD_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>

enum { MOCK_PLATFORMS = 8, MOCK_DEVICES = 32 };

/* What the loader looks at: every object begins with the table of functions. */
#define MOCK_OBJECT cl_icd_dispatch *dispatch

struct _cl_platform_id {
    MOCK_OBJECT;
    char name[64];
};

struct _cl_device_id {
    MOCK_OBJECT;
    struct _cl_platform_id *platform;
    char name[2048], driver[32];
    cl_device_type type;
    cl_ulong memory, alloc, local;
    cl_ulong c_version; /* 120 for 1.2 */
    cl_ulong is_unavailable, has_no_compiler, is_big_endian, has_no_context, refuses_binaries,
        has_fp64;
};

extern cl_icd_dispatch mock_dispatch;

/* mock_objects.c: the functions that work on contexts and what is made in them. */
void mock_objects_fill(cl_icd_dispatch *dispatch);

/* Copy a value out as clGet...Info functions do. */
cl_int mock_answer(const void *value, size_t size, size_t capacity, void *out, size_t *out_size);

#endif
