/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels a product gets: candidates, and the fastest of them for a class of shapes. */
#ifndef AXLE_OPENCL_TUNE_H
#define AXLE_OPENCL_TUNE_H

#include "plan.h"

typedef enum ocl_candidate {
    OCL_PLAIN,  /* an element a work-item, for all operands */
    OCL_VECTOR, /* blocks in vector registers, for CPU devices */
    OCL_TILED,  /* tiles in local memory, for GPUs */
    OCL_CLBLAST,
    OCL_CANDIDATES
} ocl_candidate;

/* A bit a candidate: those of option opencl.product, or of the device's class. Products that none
 * of them takes get those of the class, and small ones PLAIN. */
uint32_t ocl_candidates(const ocl_plan *plan);

/*
 * The candidate of `mask` that is fastest for products like this one of m x k and k x n: what an
 * earlier run found on this device and driver, else what a trial finds now. With opencl.tune=0, or
 * where a trial fails, the first of the mask.
 */
ocl_candidate ocl_tune(ocl_plan *plan, uint32_t mask, int64_t m, int64_t n, int64_t k);

#endif
