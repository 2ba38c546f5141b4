/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooling over 1 to 3 spatial dims, plane by plane. All planes are seen with 3 dims (leading dims
 * of size 1 are added), and a window is the product of one range of taps a dim.
 */
#include "operand.h"

#include <math.h>
#include <string.h>

enum { SPATIAL = AXLE_MAX_SPATIAL };

/* How the windows of one dim lie. kernel is 0 where windows adapt to the sizes. */
typedef struct pool_axis {
    int64_t in, out, kernel, stride, pad, dilation;
} pool_axis;

typedef struct pool_shape {
    uint32_t kind;
    pool_axis axis[SPATIAL];
    int64_t in_plane, out_plane;
} pool_shape;

/* The taps first, first + step, ... below limit lie inside the input; `padded` counts those that
 * lie in the padded input. */
typedef struct pool_range {
    int64_t first, limit, step, padded;
} pool_range;

typedef struct pool_job {
    pool_shape shape;
    const axle_view *x, *y, *index; /* or their gradients */
    double *scratch;                /* (workers, in_plane + 2 * out_plane) */
    int64_t *taps;                  /* (workers, in_plane) */
} pool_job;

static pool_shape pool_shape_of(const axle_pool_attrs *attrs, const axle_view *x,
                                const axle_view *y)
{
    pool_shape s = {attrs->kind, .in_plane = ref_box_count(x, 2), .out_plane = ref_box_count(y, 2)};
    uint32_t added = SPATIAL - attrs->n_spatial;
    for (uint32_t d = 0; d < SPATIAL; d++) {
        uint32_t k = d - added;
        s.axis[d] = (pool_axis){1, 1, 1, 1, 0, 1};
        if (d < added)
            continue;
        s.axis[d].in = x->dim[2 + k];
        s.axis[d].out = y->dim[2 + k];
        s.axis[d].kernel = attrs->adaptive ? 0 : attrs->kernel[k];
        s.axis[d].stride = attrs->stride[k];
        s.axis[d].pad = attrs->pad[k];
        s.axis[d].dilation = attrs->dilation[k] > 0 ? attrs->dilation[k] : 1;
    }
    return s;
}

static pool_range range_of(const pool_axis *a, int64_t i)
{
    if (a->kernel == 0) {
        pool_range r = {i * a->in / a->out, ((i + 1) * a->in + a->out - 1) / a->out, 1, 0};
        r.padded = r.limit - r.first;
        return r;
    }
    int64_t start = i * a->stride - a->pad, step = a->dilation;
    int64_t end = start + (a->kernel - 1) * step + 1;
    if (end > a->in + a->pad)
        end = a->in + a->pad;
    pool_range r = {start, end, step, 0};
    r.padded = end > start ? (end - start + step - 1) / step : 0;
    if (start < 0)
        r.first = start + (-start + step - 1) / step * step;
    if (end > a->in)
        r.limit = a->in;
    return r;
}

/* The taps of window `o`, as places in the input plane; the last result says what a mean divides
 * by. */
static int64_t window_taps(const pool_shape *s, int64_t o, int64_t *taps, int64_t *divisor)
{
    int64_t height = s->axis[1].out, width = s->axis[2].out, count = 0;
    pool_range a = range_of(&s->axis[0], o / width / height);
    pool_range b = range_of(&s->axis[1], o / width % height);
    pool_range c = range_of(&s->axis[2], o % width);
    for (int64_t i = a.first; i < a.limit; i += a.step)
        for (int64_t j = b.first; j < b.limit; j += b.step)
            for (int64_t k = c.first; k < c.limit; k += c.step)
                taps[count++] = (i * s->axis[1].in + j) * s->axis[2].in + k;
    *divisor = s->kind == AXLE_POOL_AVG ? a.padded * b.padded * c.padded : count;
    return count;
}

static void max_plane(const pool_shape *s, int64_t *taps, const double *x, double *y, double *index)
{
    int64_t divisor;
    for (int64_t o = 0; o < s->out_plane; o++) {
        int64_t count = window_taps(s, o, taps, &divisor), where = -1;
        double best = -INFINITY;
        for (int64_t t = 0; t < count; t++) {
            double value = x[taps[t]];
            if (where < 0 || value > best || (isnan(value) && !isnan(best))) {
                best = value;
                where = taps[t];
            }
        }
        y[o] = best;
        index[o] = (double)where;
    }
}

static void mean_plane(const pool_shape *s, int64_t *taps, const double *x, double *y)
{
    int64_t divisor;
    for (int64_t o = 0; o < s->out_plane; o++) {
        int64_t count = window_taps(s, o, taps, &divisor);
        double sum = 0;
        for (int64_t t = 0; t < count; t++)
            sum += x[taps[t]];
        y[o] = divisor ? sum / (double)divisor : 0;
    }
}

static void pool_planes(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const pool_job *job = arg;
    const pool_shape *s = &job->shape;
    double *x = job->scratch + worker * (s->in_plane + 2 * s->out_plane);
    double *y = x + s->in_plane, *index = y + s->out_plane;
    int64_t *taps = job->taps + worker * s->in_plane;
    for (int64_t p = begin; p < end; p++) {
        ref_box_load(job->x, 2, ref_view_at(job->x, 0, 2, p), x);
        if (s->kind == AXLE_POOL_MAX)
            max_plane(s, taps, x, y, index);
        else
            mean_plane(s, taps, x, y);
        ref_box_store(job->y, 2, ref_view_at(job->y, 0, 2, p), y);
        if (job->index)
            ref_box_store(job->index, 2, ref_view_at(job->index, 0, 2, p), index);
    }
}

static axle_status run_planes(const ref_call *call, pool_job *job, axle_body body)
{
    int64_t each = job->shape.in_plane + 2 * job->shape.out_plane;
    int64_t workers = ref_worker_count(call);
    axle_status status = AXLE_ERR_NOMEM;
    job->scratch = ref_reals(call, ref_count_times(workers, each));
    job->taps = ref_integers(call, ref_count_times(workers, job->shape.in_plane));
    if (job->scratch && job->taps) {
        ref_parallel(call, job->x->dim[0] * job->x->dim[1], 1, body, job);
        status = AXLE_OK;
    }
    ref_scratch_free(call, job->taps);
    ref_scratch_free(call, job->scratch);
    return status;
}

static axle_status pool(const ref_call *call)
{
    pool_job job = {.x = ref_operand_in(call, 0), .y = ref_operand_out(call, 0)};
    job.index = ref_operand_out(call, 1);
    job.shape = pool_shape_of(call->attrs, job.x, job.y);
    return run_planes(call, &job, pool_planes);
}

static void mean_plane_backward(const pool_shape *s, int64_t *taps, const double *dy, double *dx)
{
    int64_t divisor;
    for (int64_t o = 0; o < s->out_plane; o++) {
        int64_t count = window_taps(s, o, taps, &divisor);
        for (int64_t t = 0; t < count; t++)
            dx[taps[t]] += dy[o] / (double)divisor;
    }
}

static void pool_planes_backward(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const pool_job *job = arg;
    const pool_shape *s = &job->shape;
    double *dx = job->scratch + worker * (s->in_plane + 2 * s->out_plane);
    double *dy = dx + s->in_plane, *index = dy + s->out_plane;
    int64_t *taps = job->taps + worker * s->in_plane;
    for (int64_t p = begin; p < end; p++) {
        memset(dx, 0, (size_t)s->in_plane * sizeof(double));
        ref_box_load(job->y, 2, ref_view_at(job->y, 0, 2, p), dy);
        if (s->kind == AXLE_POOL_MAX) {
            ref_box_load(job->index, 2, ref_view_at(job->index, 0, 2, p), index);
            for (int64_t o = 0; o < s->out_plane; o++)
                if (index[o] >= 0)
                    dx[(int64_t)index[o]] += dy[o];
        } else {
            mean_plane_backward(s, taps, dy, dx);
        }
        ref_box_store(job->x, 2, ref_view_at(job->x, 0, 2, p), dx);
    }
}

/* -1 marks a window that holds padding alone. */
static axle_status check_index(const ref_call *call, const axle_view *index, int64_t plane)
{
    int64_t count = ref_count(index);
    for (int64_t i = 0; i < count; i++) {
        int64_t value = ref_element_index(index, ref_view_at(index, 0, index->rank, i));
        if (value < -1 || value >= plane)
            return ref_fail(call->error, AXLE_ERR_INDEX,
                            "pool_backward: index %lld is outside a plane of %lld elements",
                            (long long)value, (long long)plane);
    }
    return AXLE_OK;
}

static axle_status pool_backward(const ref_call *call)
{
    pool_job job = {.y = ref_operand_in(call, 0), .x = ref_operand_out(call, 0)};
    job.index = ref_operand_in(call, 1);
    job.shape = pool_shape_of(call->attrs, job.x, job.y);
    if (job.shape.kind == AXLE_POOL_MAX) {
        axle_status status = check_index(call, job.index, job.shape.in_plane);
        if (status != AXLE_OK)
            return status;
    }
    return run_planes(call, &job, pool_planes_backward);
}

static int attrs_fit(const axle_pool_attrs *attrs)
{
    if (!attrs || attrs->n_spatial < 1 || attrs->n_spatial > SPATIAL)
        return 0;
    for (uint32_t d = 0; d < attrs->n_spatial && !attrs->adaptive; d++)
        if (attrs->kernel[d] < 1 || attrs->stride[d] < 1 || attrs->pad[d] < 0)
            return 0;
    return attrs->kind >= AXLE_POOL_MAX && attrs->kind <= AXLE_POOL_AVG_NO_PAD;
}

static int ranks_fit(const axle_op_desc *desc, uint32_t rank)
{
    return desc->in[0]->rank == rank && desc->out[0]->rank == rank;
}

static int accepts_pool(const axle_op_desc *desc)
{
    const axle_pool_attrs *attrs = desc->attrs;
    return attrs_fit(attrs) &&
           ref_signature_fits(desc, "f", attrs->kind == AXLE_POOL_MAX ? "fj?" : "f") &&
           ranks_fit(desc, attrs->n_spatial + 2);
}

static int accepts_pool_backward(const axle_op_desc *desc)
{
    const axle_pool_attrs *attrs = desc->attrs;
    return attrs_fit(attrs) &&
           ref_signature_fits(desc, attrs->kind == AXLE_POOL_MAX ? "fj" : "f", "f") &&
           ranks_fit(desc, attrs->n_spatial + 2);
}

const ref_entry ref_entries_pool[] = {
    {AXLE_OP_POOL, pool, accepts_pool},
    {AXLE_OP_POOL_BACKWARD, pool_backward, accepts_pool_backward},
    {0},
};
