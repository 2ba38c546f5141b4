/* SPDX-License-Identifier: Apache-2.0 */
/* What the planners of attention share: those for all devices and those for CPUs. */
#ifndef AXLE_OPENCL_ATTENTION_H
#define AXLE_OPENCL_ATTENTION_H

#include "plan.h"

/* Operands in the order of the kernels' map. */
enum { Q, K, V, MASK, Y, LSE, OCL_ATTENTION_OPERANDS };

typedef struct ocl_attention {
    const axle_view *views[OCL_ATTENTION_OPERANDS]; /* Y: y, or dy of the gradient */
    uint32_t number[OCL_ATTENTION_OPERANDS];        /* among the inputs */
    int64_t heads, queries, keys, depth, width;
    uint64_t p, g; /* of the workspace, where the kernels for all devices do it */
    char options[160];
} ocl_attention;

/* The numbers that all kernels of attention get first. */
void ocl_attention_put(ocl_plan *plan, const ocl_attention *a);

/* Those of a gradient: which operand is summed, and where output k lies. `out` may be NULL. */
void ocl_attention_put_output(ocl_plan *plan, int operand, const axle_view *out);

/* What dropout multiplies an element that it keeps by. */
double ocl_attention_gain(const ocl_plan *plan);

/* Whole heads in the vectors of a CPU (attend.c); 0 where other kernels have to do. */
int ocl_attend(ocl_plan *plan, const ocl_attention *a);
int ocl_attend_backward(ocl_plan *plan, const ocl_attention *a);

#endif
