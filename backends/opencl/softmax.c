/* SPDX-License-Identifier: Apache-2.0 */
/* Planners of SOFTMAX and SOFTMAX_BACKWARD. */
#include "planners.h"

#include <string.h>

enum { LOCAL = 16 };

static int same_dims(const axle_view *a, const axle_view *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0;
}

/* The rows of three operands: all dims but the axis. */
static ocl_map rows_of(const axle_view *const *views, uint32_t axis, uint32_t rank)
{
    ocl_map map = {0};
    ocl_map_views(&map, views, 3, 0, axis);
    ocl_map_views(&map, views, 3, axis + 1, rank);
    ocl_map_merge(&map);
    return map;
}

static int64_t stride_of(const axle_view *view, uint32_t axis)
{
    return view ? view->stride[axis] : 0;
}

int ocl_plan_softmax(ocl_plan *plan)
{
    const axle_softmax_attrs *attrs = &plan->attrs.softmax;
    const axle_view *x = plan->in[0], *mask = plan->in[1], *y = plan->out[0];
    if (!ocl_signature_fits(plan, "fm?", "f") || attrs->axis >= x->rank || !same_dims(x, y) ||
        (mask && !same_dims(x, mask)) ||
        (attrs->causal && (attrs->axis != x->rank - 1 || x->rank < 2)))
        return 0;
    const axle_view *views[] = {x, y, mask};
    const ocl_map rows = rows_of(views, attrs->axis, x->rank);
    const int64_t n = x->dim[attrs->axis];
    const char *kind = !mask ? "NONE" : mask->dtype == AXLE_DTYPE_BOOL ? "BOOL" : "FLOAT";
    ocl_step_begin(plan, "prelude softmax", "softmax", n ? ocl_map_count(&rows) : 0, LOCAL,
                   "-DTX=%s -DTM=%s -DMASK=%s%s", ocl_dtype(x), ocl_dtype_or(mask, "bool"), kind,
                   attrs->log ? " -DLOG" : "");
    ocl_put(plan, ocl_map_count(&rows));
    ocl_put(plan, n);
    ocl_put(plan, attrs->causal ? x->dim[attrs->axis - 1] : 0);
    for (int k = 0; k < 3; k++)
        ocl_put(plan, stride_of(views[k], attrs->axis));
    ocl_put_map(plan, &rows);
    ocl_arg_in(plan, 0);
    ocl_arg_in(plan, 1);
    ocl_arg_out(plan, 0);
    ocl_arg_wide(plan, attrs->scale);
    return 1;
}

int ocl_plan_softmax_backward(ocl_plan *plan)
{
    const axle_softmax_attrs *attrs = &plan->attrs.softmax;
    const axle_view *dy = plan->in[0], *y = plan->in[1], *dx = plan->out[0];
    if (!ocl_signature_fits(plan, "ff", "f") || attrs->axis >= dy->rank || !same_dims(dy, y) ||
        !same_dims(dy, dx))
        return 0;
    const axle_view *views[] = {dy, y, dx};
    const ocl_map rows = rows_of(views, attrs->axis, dy->rank);
    const int64_t n = dy->dim[attrs->axis];
    ocl_step_begin(plan, "prelude softmax", "softmax_backward", n ? ocl_map_count(&rows) : 0, LOCAL,
                   "-DTX=%s -DTM=bool -DMASK=NONE%s%s", ocl_dtype(dy), attrs->log ? " -DLOG" : "",
                   plan->real == AXLE_DTYPE_F64 ? " -DCOMPENSATE" : "");
    ocl_put(plan, ocl_map_count(&rows));
    ocl_put(plan, n);
    for (int k = 0; k < 3; k++)
        ocl_put(plan, stride_of(views[k], attrs->axis));
    ocl_put_map(plan, &rows);
    ocl_arg_in(plan, 0);
    ocl_arg_in(plan, 1);
    ocl_arg_out(plan, 0);
    ocl_arg_wide(plan, attrs->scale);
    return 1;
}
