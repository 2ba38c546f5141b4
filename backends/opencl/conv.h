/* SPDX-License-Identifier: Apache-2.0 */
/* What the planners of convolutions share. */
#ifndef AXLE_OPENCL_CONV_H
#define AXLE_OPENCL_CONV_H

#include "plan.h"

typedef struct conv {
    const axle_view *x, *w, *y, *bias;
    int64_t samples, groups, inputs, outputs, positions;
    char options[160];
} conv;

/*
 * Convolutions as products with the unfolded input, for CPU devices (unfold.c). 0, and nothing
 * added, where the direct kernels are the better choice.
 */
int ocl_conv_unfolded(ocl_plan *plan, const conv *c);
int ocl_conv_data_unfolded(ocl_plan *plan, const conv *c);
int ocl_conv_weight_unfolded(ocl_plan *plan, const conv *c);

/* The same from padded copies of the input, which are read in place (flat.c). */
int ocl_conv_flat(ocl_plan *plan, const conv *c);
int ocl_conv_data_flat(ocl_plan *plan, const conv *c);
int ocl_conv_weight_flat(ocl_plan *plan, const conv *c);

/* The weight's gradient from `count` numbers in `chunks` pieces (unfold.c). */
void ocl_step_join_weight(ocl_plan *plan, const conv *c, int64_t count, int64_t chunks,
                          uint64_t pieces);

#endif
