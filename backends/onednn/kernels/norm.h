/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the norms over channels share. Statistics come from reduce_plan, the results from elem_plan
 * with coefficients that repeat over the dims they do not depend on; so every layout and float type
 * goes through the same code, and channels-last and row-major are the fast cases of those plans.
 */
#ifndef AXLE_ONEDNN_NORM_H
#define AXLE_ONEDNN_NORM_H

#include "elem.h"
#include "reduction.h"

/* A vector of parameters or statistics outside the operator's own workspace. */
typedef struct norm_vector {
    int64_t stride[2], size; /* size 0: absent */
    load_loop load;
    store_loop store;
} norm_vector;

norm_vector cpu_norm_vector(const cpu_loops *loops, const axle_view *view);

/* Elements [0, n) as f32, or `absent` where the vector is. */
void cpu_norm_load(const norm_vector *vector, const void *data, int64_t n, float absent,
                   float *out);
/* Does nothing where the vector is absent. */
void cpu_norm_store(const norm_vector *vector, void *data, int64_t n, const float *values);

/* A view of f32 coefficients over the dims of x, with strides along its first dims and 0 beyond. */
axle_view cpu_norm_coefficients(const axle_view *x, const int64_t *stride, uint32_t n);

/* Whether a view is absent or holds parameters, or statistics, that the norms take. */
static inline int cpu_norm_is_param(const axle_view *view)
{
    return !view || cpu_is_f32_like(view->dtype);
}

static inline int cpu_norm_is_stat(const axle_view *view)
{
    return !view || view->dtype == AXLE_DTYPE_F32;
}

/* Bits of all dims of x but the first `kept`. */
static inline uint32_t cpu_norm_axes(uint32_t rank, uint32_t kept)
{
    return ((1u << rank) - 1u) & ~((1u << kept) - 1u);
}

#endif
