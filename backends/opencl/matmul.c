/* SPDX-License-Identifier: Apache-2.0 */
/* Planner of MATMUL. */
#include "planners.h"

#include <string.h>

enum { LOCAL = 64 };

const char *ocl_activation(uint32_t kind)
{
    static const char *const names[AXLE_UNARY_LIMIT] = {
        [0] = "NONE",
        [AXLE_UNARY_RELU] = "RELU",
        [AXLE_UNARY_GELU] = "GELU",
        [AXLE_UNARY_GELU_TANH] = "GELU_TANH",
        [AXLE_UNARY_SIGMOID] = "SIGMOID",
        [AXLE_UNARY_TANH] = "TANH",
        [AXLE_UNARY_SILU] = "SILU",
    };
    return kind < AXLE_UNARY_LIMIT ? names[kind] : NULL;
}

static int leading_dims_fit(const axle_view *view, const axle_view *y)
{
    return view->rank == y->rank &&
           memcmp(view->dim, y->dim, (y->rank - 2) * sizeof(y->dim[0])) == 0;
}

static int accepts(const ocl_plan *plan)
{
    const axle_view *a = plan->in[0], *b = plan->in[1], *bias = plan->in[2], *y = plan->out[0];
    if (!ocl_signature_fits(plan, "fff?", "f") || y->rank < 2)
        return 0;
    const uint32_t row = y->rank - 2, column = y->rank - 1;
    return leading_dims_fit(a, y) && leading_dims_fit(b, y) &&
           (!bias || (leading_dims_fit(bias, y) && bias->dim[row] == y->dim[row] &&
                      bias->dim[column] == y->dim[column])) &&
           a->dim[row] == y->dim[row] && b->dim[column] == y->dim[column] &&
           a->dim[column] == b->dim[row] && ocl_activation(plan->attrs.matmul.activation);
}

int ocl_plan_matmul(ocl_plan *plan)
{
    const axle_matmul_attrs *attrs = &plan->attrs.matmul;
    if (!accepts(plan))
        return 0;
    const axle_view *a = plan->in[0], *y = plan->out[0];
    const axle_view *views[] = {a, plan->in[1], plan->in[2], y};
    const uint32_t row = y->rank - 2, column = y->rank - 1;
    ocl_map batches = {0};
    ocl_map_views(&batches, views, 4, 0, row);
    ocl_map_merge(&batches);
    const int64_t count = ocl_map_count(&batches);
    ocl_step_begin(plan, "prelude functions matmul", "matmul", count * y->dim[row] * y->dim[column],
                   LOCAL, "-DT=%s -DACTIVATION=%s%s", ocl_dtype(y),
                   ocl_activation(attrs->activation), attrs->accumulate ? " -DACCUMULATE" : "");
    ocl_put(plan, count);
    ocl_put(plan, y->dim[row]);
    ocl_put(plan, y->dim[column]);
    ocl_put(plan, a->dim[column]);
    for (int k = 0; k < 4; k++) {
        ocl_put(plan, views[k] ? views[k]->stride[row] : 0);
        ocl_put(plan, views[k] ? views[k]->stride[column] : 0);
    }
    ocl_put(plan, views[2] != NULL);
    ocl_put_map(plan, &batches);
    for (uint32_t k = 0; k < 3; k++)
        ocl_arg_in(plan, k);
    ocl_arg_out(plan, 0);
    ocl_arg_real(plan, attrs->alpha);
    return 1;
}
