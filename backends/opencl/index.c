/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planners of the operators with index operands. Sums of half types are kept in f32 in the
 * workspace and rounded once.
 */
#include "planners.h"

#include <string.h>

enum { LOCAL = 64, NO_INDEX = -1 };

/* The view with another stride along one dim. */
static axle_view with_stride(const axle_view *view, uint32_t dim, int64_t stride)
{
    axle_view changed = *view;
    changed.stride[dim] = stride;
    return changed;
}

/* Indices (n) as an operand beside elements of `shape`: they go along the axis. */
static axle_view along_axis(const axle_view *index, const axle_view *shape, uint32_t axis)
{
    axle_view view = *shape;
    view.dtype = index->dtype;
    memset(view.stride, 0, sizeof(view.stride));
    view.stride[axis] = index->stride[0];
    return view;
}

static axle_view dense_view(const axle_view *shape, uint32_t dtype)
{
    axle_view view = *shape;
    int64_t stride = 1;
    view.dtype = dtype;
    for (uint32_t d = shape->rank; d-- > 0; stride *= shape->dim[d])
        view.stride[d] = stride;
    return view;
}

/* Dims of `part` beside those of `whole`, the axis left out. */
static int dims_fit(const axle_view *part, const axle_view *whole, uint32_t axis, int smaller)
{
    if (part->rank != whole->rank || axis >= whole->rank)
        return 0;
    for (uint32_t d = 0; d < whole->rank; d++)
        if (d != axis && (smaller ? part->dim[d] > whole->dim[d] : part->dim[d] != whole->dim[d]))
            return 0;
    return 1;
}

static int same_dims(const axle_view *a, const axle_view *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0;
}

static int pick(ocl_plan *plan, const axle_view *index, uint32_t axis)
{
    const axle_view *x = plan->in[0], *y = plan->out[0];
    axle_view from = with_stride(x, axis, 0);
    const axle_view *views[] = {y, &from, index};
    ocl_map map = {0};
    memcpy(from.dim, y->dim, sizeof(from.dim));
    ocl_map_views(&map, views, 3, 0, y->rank);
    ocl_map_merge(&map);
    ocl_step_begin(plan, "prelude index", "pick", ocl_count(y), LOCAL,
                   "-DTX=%s -DTY=%s -DTI=%s -DOP=%u", ocl_bits(x), ocl_bits(x),
                   ocl_dtype(plan->in[1]), plan->op);
    ocl_put(plan, ocl_count(y));
    ocl_put(plan, x->dim[axis]);
    ocl_put(plan, x->stride[axis]);
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 0);
    ocl_arg_in(plan, 1);
    ocl_arg_out(plan, 0);
    ocl_arg_fault(plan);
    return 1;
}

int ocl_plan_gather(ocl_plan *plan)
{
    const axle_view *x = plan->in[0], *index = plan->in[1], *y = plan->out[0];
    const uint32_t axis = plan->attrs.index.axis;
    return ocl_is(x, OCL_ANY) && ocl_same(x, y) && ocl_is(index, OCL_INDICES) &&
           same_dims(index, y) && dims_fit(y, x, axis, 1) && pick(plan, index, axis);
}

static int select_slices(ocl_plan *plan, uint32_t axis)
{
    const axle_view *x = plan->in[0], *index = plan->in[1], *y = plan->out[0];
    if (!ocl_is(x, OCL_ANY) || !ocl_same(x, y) || !ocl_is(index, OCL_INDICES) ||
        !dims_fit(y, x, axis, 0) || index->rank != 1 || index->dim[0] != y->dim[axis])
        return 0;
    const axle_view list = along_axis(index, y, axis);
    return pick(plan, &list, axis);
}

int ocl_plan_index_select(ocl_plan *plan)
{
    return select_slices(plan, plan->attrs.index.axis);
}

int ocl_plan_embedding(ocl_plan *plan)
{
    const axle_view *weight = plan->in[0];
    return weight && weight->rank == 2 && select_slices(plan, 0);
}

/* A step of SCATTER and its kin. */
typedef struct putting {
    const axle_view *index; /* beside src */
    const axle_view *src, *y;
    uint32_t index_operand, src_operand, axis;
    int add;
    int64_t left_out;
} putting;

/* Copy y to a dense array of f32 in the workspace, zeros for `zero`, or back. */
static void step_spread(ocl_plan *plan, const axle_view *y, uint64_t work, int zero, int back)
{
    const axle_view dense = dense_view(y, AXLE_DTYPE_F32);
    ocl_map map = {0};
    ocl_map_views(&map, (const axle_view *[]){back ? &dense : y, back ? y : &dense}, 2, 0, y->rank);
    ocl_map_merge(&map);
    ocl_step_begin(plan, "prelude index", "spread", ocl_count(y), LOCAL,
                   "-DTX=%s -DTY=%s -DTI=i64 -DOP=%u%s", back ? "f32" : ocl_dtype(y),
                   back ? ocl_dtype(y) : "f32", plan->op, zero ? " -DZERO" : "");
    ocl_put(plan, ocl_count(y));
    ocl_put_map(plan, &map);
    if (back)
        ocl_arg_work(plan, work, 4);
    else
        ocl_arg_out(plan, 0);
    if (back)
        ocl_arg_out(plan, 0);
    else
        ocl_arg_work(plan, work, 4);
}

static void step_put(ocl_plan *plan, const putting *p, const axle_view *y, int to_work,
                     uint64_t work)
{
    axle_view to = *y;
    ocl_map lines = {0};
    memcpy(to.dim, p->src->dim, sizeof(to.dim));
    const axle_view *views[] = {&to, p->src, p->index};
    ocl_map_views(&lines, views, 3, 0, p->axis);
    ocl_map_views(&lines, views, 3, p->axis + 1, y->rank);
    ocl_map_merge(&lines);
    ocl_step_begin(plan, "prelude index", "put", ocl_count(p->src) ? ocl_map_count(&lines) : 0,
                   LOCAL, "-DTX=%s -DTY=%s -DTI=%s -DOP=%u%s",
                   p->add ? ocl_dtype(p->src) : ocl_bits(p->src),
                   p->add ? ocl_dtype(y) : ocl_bits(y), ocl_dtype(p->index), plan->op,
                   p->add ? " -DPUT_ADD" : "");
    ocl_put(plan, ocl_map_count(&lines));
    ocl_put(plan, p->src->dim[p->axis]);
    ocl_put(plan, y->dim[p->axis]);
    ocl_put(plan, y->stride[p->axis]);
    ocl_put(plan, p->src->stride[p->axis]);
    ocl_put(plan, p->index->stride[p->axis]);
    ocl_put(plan, p->left_out);
    ocl_put_map(plan, &lines);
    ocl_arg_in(plan, p->index_operand);
    ocl_arg_in(plan, p->src_operand);
    if (to_work)
        ocl_arg_work(plan, work, 4);
    else
        ocl_arg_out(plan, 0);
    ocl_arg_fault(plan);
}

/* Put; y is zeroed before for `fresh`. */
static int put(ocl_plan *plan, const putting *p, int fresh)
{
    const int halves = p->add && ocl_is(p->y, 1 << AXLE_DTYPE_F16 | 1 << AXLE_DTYPE_BF16);
    if (halves) {
        const axle_view dense = dense_view(p->y, AXLE_DTYPE_F32);
        const uint64_t work = ocl_work(plan, ocl_count(p->y), 4);
        step_spread(plan, p->y, work, fresh, 0);
        step_put(plan, p, &dense, 1, work);
        step_spread(plan, p->y, work, 0, 1);
        return 1;
    }
    if (fresh) {
        ocl_map map = {0};
        ocl_map_views(&map, (const axle_view *[]){NULL, p->y}, 2, 0, p->y->rank);
        ocl_map_merge(&map);
        ocl_step_begin(plan, "prelude index", "spread", ocl_count(p->y), LOCAL,
                       "-DTX=%s -DTY=%s -DTI=i64 -DOP=%u -DZERO", ocl_dtype(p->y), ocl_dtype(p->y),
                       plan->op);
        ocl_put(plan, ocl_count(p->y));
        ocl_put_map(plan, &map);
        ocl_arg_out(plan, 0);
        ocl_arg_out(plan, 0);
    }
    step_put(plan, p, p->y, 0, 0);
    return 1;
}

int ocl_plan_scatter(ocl_plan *plan)
{
    const axle_index_attrs *attrs = &plan->attrs.index;
    const axle_view *index = plan->in[0], *src = plan->in[1], *y = plan->out[0];
    const putting p = {.index = index,
                       .src = src,
                       .y = y,
                       .index_operand = 0,
                       .src_operand = 1,
                       .axis = attrs->axis,
                       .add = attrs->accumulate != 0,
                       .left_out = INT64_MIN};
    return ocl_is(src, attrs->accumulate ? OCL_NUMBERS : OCL_ANY) && ocl_same(src, y) &&
           ocl_is(index, OCL_INDICES) && same_dims(index, src) &&
           dims_fit(src, y, attrs->axis, 1) && put(plan, &p, 0);
}

int ocl_plan_index_add(ocl_plan *plan)
{
    const uint32_t axis = plan->attrs.index.axis;
    const axle_view *index = plan->in[0], *src = plan->in[1], *y = plan->out[0];
    if (!ocl_is(src, OCL_NUMBERS) || !ocl_same(src, y) || !ocl_is(index, OCL_INDICES) ||
        !dims_fit(src, y, axis, 0) || index->rank != 1 || index->dim[0] != src->dim[axis])
        return 0;
    const axle_view list = along_axis(index, src, axis);
    const putting p = {.index = &list,
                       .src = src,
                       .y = y,
                       .index_operand = 0,
                       .src_operand = 1,
                       .axis = axis,
                       .add = 1,
                       .left_out = INT64_MIN};
    return put(plan, &p, 0);
}

int ocl_plan_embedding_backward(ocl_plan *plan)
{
    const axle_view *dy = plan->in[0], *ids = plan->in[1], *dw = plan->out[0];
    const int64_t padding = plan->attrs.embedding.padding_idx;
    if (!ocl_is(dy, OCL_FLOATS) || !ocl_same(dy, dw) || !ocl_is(ids, OCL_INDICES) ||
        dw->rank != 2 || dy->rank != 2 || ids->rank != 1 || ids->dim[0] != dy->dim[0] ||
        dw->dim[1] != dy->dim[1])
        return 0;
    const axle_view list = along_axis(ids, dy, 0);
    const putting p = {.index = &list,
                       .src = dy,
                       .y = dw,
                       .index_operand = 1,
                       .src_operand = 0,
                       .axis = 0,
                       .add = 1,
                       .left_out = padding == NO_INDEX ? INT64_MIN : padding};
    return put(plan, &p, 1);
}

int ocl_plan_one_hot(ocl_plan *plan)
{
    static const int64_t ones[] = {
        [AXLE_DTYPE_F32] = 0x3f800000, [AXLE_DTYPE_F64] = 0x3ff0000000000000,
        [AXLE_DTYPE_F16] = 0x3c00,     [AXLE_DTYPE_BF16] = 0x3f80,
        [AXLE_DTYPE_U8] = 1,           [AXLE_DTYPE_I32] = 1,
        [AXLE_DTYPE_I64] = 1,          [AXLE_DTYPE_BOOL] = 1,
    };
    const axle_view *ids = plan->in[0], *y = plan->out[0];
    if (!ocl_is(ids, OCL_INDICES) || !ocl_is(y, OCL_ANY) || y->rank != ids->rank + 1)
        return 0;
    for (uint32_t d = 0; d < ids->rank; d++)
        if (ids->dim[d] != y->dim[d])
            return 0;
    axle_view list = *y;
    ocl_map map = {0};
    memset(list.stride, 0, sizeof(list.stride));
    memcpy(list.stride, ids->stride, ids->rank * sizeof(ids->stride[0]));
    ocl_map_views(&map, (const axle_view *[]){y, &list}, 2, 0, y->rank);
    ocl_map_merge(&map);
    ocl_step_begin(plan, "prelude index", "one_hot", ocl_count(y), LOCAL,
                   "-DTX=%s -DTY=%s -DTI=%s -DOP=%u", ocl_bits(y), ocl_bits(y), ocl_dtype(ids),
                   plan->op);
    ocl_put(plan, ocl_count(y));
    ocl_put(plan, y->dim[ids->rank]);
    ocl_put(plan, ones[y->dtype]);
    ocl_put_map(plan, &map);
    ocl_arg_in(plan, 0);
    ocl_arg_out(plan, 0);
    ocl_arg_fault(plan);
    return 1;
}
