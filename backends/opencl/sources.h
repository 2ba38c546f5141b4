/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of kernels/, embedded by the build. */
#ifndef AXLE_OPENCL_SOURCES_H
#define AXLE_OPENCL_SOURCES_H

typedef struct ocl_source {
    const char *name; /* of the file, without .cl */
    const char *text;
} ocl_source;

/* Ended by a name of NULL. */
extern const ocl_source ocl_sources[];

#endif
