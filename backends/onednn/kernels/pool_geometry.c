/* SPDX-License-Identifier: Apache-2.0 */
/* Where the windows of a pooling lie. */
#include "pool.h"

#include <string.h>

void cpu_pool_geometry(pool_geometry *g, const axle_pool_attrs *attrs, const axle_view *x,
                       const axle_view *y, const axle_view *index)
{
    const int added = POOL_DIMS - (int)attrs->n_spatial;
    memset(g, 0, sizeof(*g));
    g->kind = attrs->kind;
    g->adaptive = attrs->adaptive != 0;
    g->samples = x->dim[0];
    g->channels = x->dim[1];
    g->x_sample = x->stride[0];
    g->x_channel = x->stride[1];
    g->y_sample = y->stride[0];
    g->y_channel = y->stride[1];
    g->index_sample = index ? index->stride[0] : y->stride[0];
    g->index_channel = index ? index->stride[1] : y->stride[1];
    for (int d = 0; d < POOL_DIMS; d++) {
        pool_axis *a = &g->axis[d];
        const int k = d - added;
        *a = (pool_axis){.in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1};
        if (k < 0)
            continue;
        a->in = x->dim[2 + k];
        a->out = y->dim[2 + k];
        a->kernel = attrs->kernel[k];
        a->stride = attrs->stride[k];
        a->pad = attrs->pad[k];
        a->dilation = attrs->dilation[k] > 0 ? attrs->dilation[k] : 1;
        a->x_stride = x->stride[2 + k];
        a->y_stride = y->stride[2 + k];
        a->index_stride = index ? index->stride[2 + k] : y->stride[2 + k];
    }
    g->axis[2].place = 1;
    g->axis[1].place = g->axis[2].in;
    g->axis[0].place = g->axis[1].in * g->axis[2].in;
    g->in_plane = g->axis[0].in * g->axis[0].place;
    g->x_extent = 1;
    for (uint32_t d = 0; d < x->rank; d++)
        g->x_extent += (x->dim[d] - 1) * x->stride[d];
}

pool_range cpu_pool_range(const pool_geometry *g, int d, int64_t i)
{
    const pool_axis *a = &g->axis[d];
    if (g->adaptive) {
        const int64_t first = i * a->in / a->out, end = cpu_ceil_div((i + 1) * a->in, a->out);
        return (pool_range){first, end - first, end - first};
    }
    const int64_t start = i * a->stride - a->pad;
    const int64_t end = cpu_min(start + (a->kernel - 1) * a->dilation + 1, a->in + a->pad);
    const int64_t skipped = start < 0 ? cpu_ceil_div(-start, a->dilation) : 0;
    const int64_t first = start + skipped * a->dilation, limit = cpu_min(end, a->in);
    return (pool_range){
        .first = first,
        .count = limit > first ? cpu_ceil_div(limit - first, a->dilation) : 0,
        .padded = end > start ? cpu_ceil_div(end - start, a->dilation) : 0,
    };
}

int64_t cpu_pool_divisor(const pool_geometry *g, const pool_range *a, const pool_range *b,
                         const pool_range *c)
{
    return g->kind == AXLE_POOL_AVG ? a->padded * b->padded * c->padded
                                    : a->count * b->count * c->count;
}

void cpu_pool_interior(const pool_geometry *g, int64_t *begin, int64_t *end)
{
    const pool_axis *a = &g->axis[2];
    const int64_t span = (a->kernel - 1) * a->dilation + 1;
    *begin = *end = 0;
    if (g->adaptive || a->in + a->pad < span)
        return;
    *begin = cpu_min(cpu_ceil_div(a->pad, a->stride), a->out);
    *end = cpu_min((a->in + a->pad - span) / a->stride + 1, a->out);
    *end = cpu_max(*begin, *end);
}

int cpu_pool_accepts(const axle_op_desc *desc, const axle_view *x, const axle_view *y,
                     const axle_view *index)
{
    const axle_pool_attrs *attrs = desc->attrs;
    if (attrs->n_spatial < 1 || attrs->n_spatial > POOL_DIMS || x->rank != attrs->n_spatial + 2 ||
        y->rank != x->rank)
        return 0;
    for (uint32_t d = 0; d < attrs->n_spatial && !attrs->adaptive; d++)
        if (attrs->kernel[d] < 1 || attrs->stride[d] < 1 || attrs->pad[d] < 0)
            return 0;
    if (attrs->kind < AXLE_POOL_MAX || attrs->kind > AXLE_POOL_AVG_NO_PAD)
        return 0;
    return cpu_is_f32_like(x->dtype) && y->dtype == x->dtype &&
           (!index || index->dtype == AXLE_DTYPE_I32);
}
