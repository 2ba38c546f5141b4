/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest-neighbour resizing of the spatial dims, plane by plane. */
#include "operand.h"

#include <string.h>

typedef struct resize_job {
    const axle_view *x, *y; /* or their gradients */
    const int64_t *source;  /* (plane of y): the element of x's plane that each one takes */
    double *scratch;        /* (workers, plane of x + plane of y) */
    int64_t in_plane, out_plane;
} resize_job;

/* Row-major place in x's plane of the source of element o of y's plane. */
static int64_t source_of(const axle_view *x, const axle_view *y, int64_t o)
{
    int64_t at = 0, pitch = 1;
    for (uint32_t d = y->rank; d-- > 2;) {
        int64_t i = o % y->dim[d];
        at += i * x->dim[d] / y->dim[d] * pitch;
        pitch *= x->dim[d];
        o /= y->dim[d];
    }
    return at;
}

static void resize_planes(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const resize_job *job = arg;
    double *x = job->scratch + worker * (job->in_plane + job->out_plane), *y = x + job->in_plane;
    for (int64_t p = begin; p < end; p++) {
        ref_box_load(job->x, 2, ref_view_at(job->x, 0, 2, p), x);
        for (int64_t o = 0; o < job->out_plane; o++)
            y[o] = x[job->source[o]];
        ref_box_store(job->y, 2, ref_view_at(job->y, 0, 2, p), y);
    }
}

static void resize_planes_backward(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const resize_job *job = arg;
    double *dx = job->scratch + worker * (job->in_plane + job->out_plane), *dy = dx + job->in_plane;
    for (int64_t p = begin; p < end; p++) {
        ref_box_load(job->y, 2, ref_view_at(job->y, 0, 2, p), dy);
        memset(dx, 0, (size_t)job->in_plane * sizeof(double));
        for (int64_t o = 0; o < job->out_plane; o++)
            dx[job->source[o]] += dy[o];
        ref_box_store(job->x, 2, ref_view_at(job->x, 0, 2, p), dx);
    }
}

static axle_status resize(const ref_call *call, const axle_view *x, const axle_view *y,
                          axle_body body)
{
    resize_job job = {.x = x, .y = y};
    job.in_plane = ref_box_count(x, 2);
    job.out_plane = ref_box_count(y, 2);
    if (job.in_plane == 0 && job.out_plane > 0)
        return ref_fail(call->error, AXLE_ERR_SHAPE,
                        "interpolate: the input has no pixel to repeat");
    int64_t *source = ref_integers(call, job.out_plane);
    axle_status status = AXLE_ERR_NOMEM;
    if (source)
        job.scratch =
            ref_reals(call, ref_count_times(ref_worker_count(call), job.in_plane + job.out_plane));
    if (job.scratch) {
        for (int64_t o = 0; o < job.out_plane; o++)
            source[o] = source_of(x, y, o);
        job.source = source;
        ref_parallel(call, x->dim[0] * x->dim[1], 1, body, &job);
        status = AXLE_OK;
    }
    ref_scratch_free(call, job.scratch);
    ref_scratch_free(call, source);
    return status;
}

static axle_status interpolate(const ref_call *call)
{
    return resize(call, ref_operand_in(call, 0), ref_operand_out(call, 0), resize_planes);
}

static axle_status interpolate_backward(const ref_call *call)
{
    return resize(call, ref_operand_out(call, 0), ref_operand_in(call, 0), resize_planes_backward);
}

static int accepts_resize(const axle_op_desc *desc)
{
    return ref_signature_fits(desc, "f", "f") && desc->in[0]->rank >= 3 &&
           desc->in[0]->rank == desc->out[0]->rank;
}

const ref_entry ref_entries_interpolate[] = {
    {AXLE_OP_INTERPOLATE, interpolate, accepts_resize},
    {AXLE_OP_INTERPOLATE_BACKWARD, interpolate_backward, accepts_resize},
    {0},
};
