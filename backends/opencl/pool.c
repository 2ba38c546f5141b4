/* SPDX-License-Identifier: Apache-2.0 */
/* Planners of POOL and POOL_BACKWARD, and of INTERPOLATE and its gradient. */
#include "planners.h"

enum {
    LOCAL = 16,
    SPATIAL = AXLE_MAX_SPATIAL,
    MOST_WINDOW = 3,
    OUTPUTS = 512,
    MOST_PLANE = 1 << 30
};

static int attrs_fit(const axle_pool_attrs *attrs)
{
    if (attrs->n_spatial < 1 || attrs->n_spatial > SPATIAL || attrs->kind < AXLE_POOL_MAX ||
        attrs->kind > AXLE_POOL_AVG_NO_PAD)
        return 0;
    for (uint32_t d = 0; d < attrs->n_spatial && !attrs->adaptive; d++)
        if (attrs->kernel[d] < 1 || attrs->stride[d] < 1 || attrs->pad[d] < 0)
            return 0;
    return 1;
}

/* The spatial dims as 3, unmerged, since kernels step along them. */
static void put_space(ocl_plan *plan, const axle_view *first, const axle_view *second)
{
    const axle_view *views[] = {first, second, NULL};
    const int64_t none[3] = {0};
    ocl_map map = {0};
    for (uint32_t d = first->rank - 2; d < SPATIAL; d++)
        ocl_map_dim(&map, 1, none, 3);
    ocl_map_views(&map, views, 3, 2, first->rank);
    ocl_put_map(plan, &map);
}

static void put_window(ocl_plan *plan, const axle_pool_attrs *attrs, const int32_t *values,
                       int32_t added)
{
    for (uint32_t d = attrs->n_spatial; d < SPATIAL; d++)
        ocl_put(plan, added);
    for (uint32_t d = 0; d < attrs->n_spatial; d++)
        ocl_put(plan, values[d]);
}

static void put_dims(ocl_plan *plan, const axle_view *view)
{
    for (uint32_t d = view->rank - 2; d < SPATIAL; d++)
        ocl_put(plan, 1);
    for (uint32_t d = 2; d < view->rank; d++)
        ocl_put(plan, view->dim[d]);
}

static void put_planes(ocl_plan *plan, const axle_view *y, const axle_view *index,
                       const axle_view *x)
{
    ocl_map planes = {0};
    ocl_map_views(&planes, (const axle_view *[]){y, index, x}, 3, 0, 2);
    ocl_map_merge(&planes);
    ocl_put_map(plan, &planes);
}

static void put_numbers(ocl_plan *plan, const axle_view *x, const axle_view *y,
                        const axle_view *index)
{
    axle_pool_attrs a = plan->attrs.pool;
    for (uint32_t d = 0; d < a.n_spatial; d++) {
        a.kernel[d] = a.adaptive ? 0 : a.kernel[d];
        a.dilation[d] = a.dilation[d] > 0 ? a.dilation[d] : 1;
    }
    ocl_put(plan, x->dim[0] * x->dim[1]);
    put_dims(plan, y);
    put_dims(plan, x);
    put_window(plan, &a, a.kernel, 1);
    put_window(plan, &a, a.stride, 1);
    put_window(plan, &a, a.pad, 0);
    put_window(plan, &a, a.dilation, 1);
    put_planes(plan, y, index, x);
    put_space(plan, y, index);
    put_space(plan, x, NULL);
}

/* Kernels count inside a plane in 32 bits. */
static int is_small(const axle_view *view)
{
    int64_t plane = 1;
    for (uint32_t d = 2; d < view->rank; d++)
        plane *= view->dim[d] < 1 << 30 ? view->dim[d] : 1 << 30;
    return plane < 1 << 30;
}

static int ranks_fit(const ocl_plan *plan, uint32_t rank)
{
    return plan->in[0]->rank == rank && plan->out[0]->rank == rank && is_small(plan->in[0]) &&
           is_small(plan->out[0]);
}

/* Rows along the last dim; none where there is no element. */
static int64_t rows_of(const axle_view *view)
{
    const int64_t count = ocl_count(view);
    return count > 0 ? count / view->dim[view->rank - 1] : 0;
}

/* Whether the windows of a max-pool lie side by side inside x, along rows without gaps. */
static int lie_apart(const ocl_plan *plan, const axle_view *x, const axle_view *y,
                     const axle_view *index)
{
    const axle_pool_attrs *attrs = &plan->attrs.pool;
    const axle_view *views[] = {x, y, index};
    if (!ocl_on_cpu(plan) || attrs->kind != AXLE_POOL_MAX || attrs->adaptive ||
        attrs->n_spatial != 2)
        return 0;
    for (uint32_t d = 0; d < 2; d++)
        if (attrs->kernel[d] != attrs->stride[d] || attrs->pad[d] != 0 ||
            attrs->kernel[d] > MOST_WINDOW || (attrs->kernel[d] > 1 && attrs->dilation[d] > 1) ||
            y->dim[2 + d] * attrs->kernel[d] > x->dim[2 + d])
            return 0;
    for (int k = 0; k < 3; k++)
        if (views[k] && views[k]->dim[3] > 1 && views[k]->stride[3] != 1)
            return 0;
    return x->dim[2] * x->stride[2] < MOST_PLANE && y->dim[2] * y->stride[2] < MOST_PLANE &&
           (!index || index->dim[2] * index->stride[2] < MOST_PLANE);
}

/* The step of max_pool.cl; x and y are the input and the output, or their gradients. */
static void step_apart(ocl_plan *plan, const char *kernel, const axle_view *x, const axle_view *y,
                       const axle_view *index)
{
    const axle_pool_attrs *attrs = &plan->attrs.pool;
    const int blocks = x->dtype == AXLE_DTYPE_F32 && attrs->kernel[0] == 2 && attrs->kernel[1] == 2;
    const int64_t planes = y->dim[0] * y->dim[1];
    const int64_t each = y->dim[3] > 0 ? OUTPUTS / y->dim[3] + 1 : 1;
    ocl_step_begin(plan, "prelude max_pool", kernel, planes * ((y->dim[2] + each - 1) / each), 1,
                   "-DTX=%s -DOP=%u -DK1=%d -DK2=%d%s%s", ocl_dtype(x), plan->op, attrs->kernel[0],
                   attrs->kernel[1], index ? " -DINDEX" : "", blocks ? " -DBLOCKS" : "");
    ocl_put(plan, planes);
    ocl_put(plan, y->dim[2]);
    ocl_put(plan, y->dim[3]);
    ocl_put(plan, x->dim[2]);
    ocl_put(plan, x->dim[3]);
    ocl_put(plan, y->stride[2]);
    ocl_put(plan, index ? index->stride[2] : 0);
    ocl_put(plan, x->stride[2]);
    ocl_put(plan, each);
    put_planes(plan, y, index, x);
}

int ocl_plan_pool(ocl_plan *plan)
{
    const axle_pool_attrs *attrs = &plan->attrs.pool;
    const axle_view *x = plan->in[0], *y = plan->out[0], *index = plan->out[1];
    if (!attrs_fit(attrs) ||
        !ocl_signature_fits(plan, "f", attrs->kind == AXLE_POOL_MAX ? "fj?" : "f") ||
        !ranks_fit(plan, attrs->n_spatial + 2))
        return 0;
    if (lie_apart(plan, x, y, index)) {
        step_apart(plan, "max_pool", x, y, index);
    } else {
        ocl_step_begin(plan, "prelude pool", "pool", rows_of(y), LOCAL,
                       "-DTX=%s -DKIND=%u -DOP=%u -DSPATIAL=%u%s", ocl_dtype(x), attrs->kind,
                       plan->op, attrs->n_spatial, index ? " -DINDEX" : "");
        put_numbers(plan, x, y, index);
    }
    ocl_arg_in(plan, 0);
    ocl_arg_out(plan, 0);
    ocl_arg_out(plan, 1);
    return 1;
}

int ocl_plan_pool_backward(ocl_plan *plan)
{
    const axle_pool_attrs *attrs = &plan->attrs.pool;
    const axle_view *dy = plan->in[0], *index = plan->in[1], *dx = plan->out[0];
    if (!attrs_fit(attrs) ||
        !ocl_signature_fits(plan, attrs->kind == AXLE_POOL_MAX ? "fj" : "f", "f") ||
        !ranks_fit(plan, attrs->n_spatial + 2))
        return 0;
    if (dy->dim[2] > 0 && lie_apart(plan, dx, dy, index)) {
        step_apart(plan, "max_pool_backward", dx, dy, index);
    } else {
        ocl_step_begin(plan, "prelude pool", "pool_backward", rows_of(dx), LOCAL,
                       "-DTX=%s -DKIND=%u -DOP=%u -DSPATIAL=%u", ocl_dtype(dx), attrs->kind,
                       plan->op, attrs->n_spatial);
        put_numbers(plan, dx, dy, index);
    }
    ocl_arg_in(plan, 0);
    ocl_arg_in(plan, 1);
    ocl_arg_out(plan, 0);
    ocl_arg_fault(plan);
    return 1;
}

static int resize(ocl_plan *plan, const char *kernel)
{
    const axle_view *x = plan->in[0], *y = plan->out[0];
    if (!ocl_signature_fits(plan, "f", "f") || x->rank != y->rank || x->rank < 3 ||
        x->rank > 2 + SPATIAL)
        return 0;
    ocl_step_begin(plan, "prelude interpolate", kernel, ocl_count(y), LOCAL, "-DTX=%s",
                   ocl_dtype(x));
    ocl_put(plan, x->dim[0] * x->dim[1]);
    put_dims(plan, x);
    put_dims(plan, y);
    put_planes(plan, x, NULL, y);
    put_space(plan, x, NULL);
    put_space(plan, y, NULL);
    ocl_arg_in(plan, 0);
    ocl_arg_out(plan, 0);
    return 1;
}

int ocl_plan_interpolate(ocl_plan *plan)
{
    return resize(plan, "interpolate");
}

int ocl_plan_interpolate_backward(ocl_plan *plan)
{
    return resize(plan, "interpolate_backward");
}
