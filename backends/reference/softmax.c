/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and its logarithm, row by row along one dim. */
#include "masking.h"
#include "operand.h"

/* Rows that are worth a piece of their own on another thread have about this many elements. */
enum { GRAIN = 4096 };

typedef struct softmax_job {
    const axle_softmax_attrs *attrs;
    const axle_view *x, *mask, *y, *dy, *dx;
    int64_t width;   /* elements of a row */
    double *scratch; /* (workers, 2, width) */
} softmax_job;

static void softmax_row(const softmax_job *job, int64_t r, double *row, double *mask)
{
    const axle_softmax_attrs *attrs = job->attrs;
    uint32_t axis = attrs->axis;
    int64_t order = attrs->causal ? r % job->x->dim[axis - 1] : 0;
    ref_masking m = {.keep = ref_masking_order(attrs->causal != 0, order, job->width)};

    ref_run_load(job->x, ref_row_at(job->x, axis, r), job->width, job->x->stride[axis], row);
    for (int64_t j = 0; j < job->width; j++)
        row[j] *= attrs->scale;
    if (job->mask) {
        ref_run_load(job->mask, ref_row_at(job->mask, axis, r), job->width, job->mask->stride[axis],
                     mask);
        m.mask = mask;
        m.boolean = job->mask->dtype == AXLE_DTYPE_BOOL;
    }
    if (attrs->log)
        ref_masked_log_softmax(&m, row, job->width);
    else
        ref_masked_softmax(&m, row, job->width);
    ref_run_store(job->y, ref_row_at(job->y, axis, r), job->width, job->y->stride[axis], row);
}

static void softmax_rows(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const softmax_job *job = arg;
    double *row = job->scratch + 2 * worker * job->width;
    for (int64_t r = begin; r < end; r++)
        softmax_row(job, r, row, row + job->width);
}

static axle_status run_rows(const ref_call *call, softmax_job *job, const axle_view *shape,
                            axle_body body)
{
    job->attrs = call->attrs;
    job->width = shape->dim[job->attrs->axis];
    if (job->width == 0)
        return AXLE_OK;
    job->scratch = ref_reals(call, ref_count_times(2 * ref_worker_count(call), job->width));
    if (!job->scratch)
        return AXLE_ERR_NOMEM;
    ref_parallel(call, ref_count(shape) / job->width, GRAIN / job->width + 1, body, job);
    ref_scratch_free(call, job->scratch);
    return AXLE_OK;
}

static axle_status softmax(const ref_call *call)
{
    softmax_job job = {.x = ref_operand_in(call, 0),
                       .mask = ref_operand_in(call, 1),
                       .y = ref_operand_out(call, 0)};
    return run_rows(call, &job, job.x, softmax_rows);
}

/* dx = scale * y * (dy - sum(dy * y)). What dy holds at removed elements has no influence. */
static void softmax_backward_row(double scale, int64_t n, const double *y, double *dy)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        if (y[j] != 0)
            sum += dy[j] * y[j];
    for (int64_t j = 0; j < n; j++)
        dy[j] = y[j] != 0 ? scale * y[j] * (dy[j] - sum) : 0;
}

/* dx = scale * (dy - exp(y) * sum(dy)) */
static void log_softmax_backward_row(double scale, int64_t n, const double *y, double *dy)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        if (y[j] != -INFINITY)
            sum += dy[j];
    for (int64_t j = 0; j < n; j++)
        dy[j] = y[j] != -INFINITY ? scale * (dy[j] - exp(y[j]) * sum) : 0;
}

static void softmax_backward_rows(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const softmax_job *job = arg;
    uint32_t axis = job->attrs->axis;
    int64_t n = job->width;
    double *y = job->scratch + 2 * worker * n, *dy = y + n;
    for (int64_t r = begin; r < end; r++) {
        ref_run_load(job->y, ref_row_at(job->y, axis, r), n, job->y->stride[axis], y);
        ref_run_load(job->dy, ref_row_at(job->dy, axis, r), n, job->dy->stride[axis], dy);
        if (job->attrs->log)
            log_softmax_backward_row(job->attrs->scale, n, y, dy);
        else
            softmax_backward_row(job->attrs->scale, n, y, dy);
        ref_run_store(job->dx, ref_row_at(job->dx, axis, r), n, job->dx->stride[axis], dy);
    }
}

static axle_status softmax_backward(const ref_call *call)
{
    softmax_job job = {.dy = ref_operand_in(call, 0),
                       .y = ref_operand_in(call, 1),
                       .dx = ref_operand_out(call, 0)};
    return run_rows(call, &job, job.dx, softmax_backward_rows);
}

static int axis_fits(const axle_op_desc *desc)
{
    const axle_softmax_attrs *attrs = desc->attrs;
    uint32_t rank = desc->in[0]->rank;
    return attrs && attrs->axis < rank && (!attrs->causal || (attrs->axis == rank - 1 && rank > 1));
}

static int accepts_softmax(const axle_op_desc *desc)
{
    return ref_signature_fits(desc, "fm?", "f") && axis_fits(desc);
}

static int accepts_softmax_backward(const axle_op_desc *desc)
{
    return ref_signature_fits(desc, "ff", "f") && axis_fits(desc);
}

const ref_entry ref_entries_softmax[] = {
    {AXLE_OP_SOFTMAX, softmax, accepts_softmax},
    {AXLE_OP_SOFTMAX_BACKWARD, softmax_backward, accepts_softmax_backward},
    {0},
};
