/* SPDX-License-Identifier: Apache-2.0 */
/* Planners of CROSS_ENTROPY and CROSS_ENTROPY_BACKWARD. */
#include "planners.h"

#include <stdio.h>

enum { LOCAL = 16, LEAST_CHUNK = 256 };

typedef struct entropy {
    const axle_view *logits, *target, *weight;
    const axle_view *stat, *dlogits; /* lse or total; backward only */
    int64_t positions, classes;
    char options[256];
} entropy;

static int entropy_read(ocl_plan *plan, entropy *e, const axle_view *loss)
{
    const axle_cross_entropy_attrs *attrs = &plan->attrs.cross_entropy;
    if (attrs->reduction > AXLE_REDUCTION_SUM || e->logits->rank != 3 || e->target->rank != 2 ||
        loss->rank != 2)
        return 0;
    e->positions = e->logits->dim[0] * e->logits->dim[2];
    e->classes = e->logits->dim[1];
    snprintf(e->options, sizeof(e->options),
             "-DTX=%s -DTT=%s -DTW=%s -DTL=%s -DTS=%s -DTD=%s -DWIDE=%s -DREDUCTION=%u -DOP=%u%s",
             ocl_dtype(e->logits), ocl_dtype(e->target), ocl_dtype_or(e->weight, "f32"),
             ocl_dtype(loss), ocl_dtype_or(e->stat, "f32"), ocl_dtype_or(e->dlogits, "f32"),
             plan->device->about.has_f64 ? "f64" : "f32", attrs->reduction, plan->op,
             plan->real == AXLE_DTYPE_F64 ? " -DCOMPENSATE" : "");
    return 1;
}

static void put_strides(ocl_plan *plan, const axle_view *view, uint32_t rank)
{
    for (uint32_t d = 0; d < rank; d++)
        ocl_put(plan, view ? view->stride[d] : 0);
}

/* The numbers that both passes begin with. */
static void put_numbers(ocl_plan *plan, const entropy *e)
{
    ocl_put(plan, e->positions);
    ocl_put(plan, e->classes);
    ocl_put(plan, e->logits->dim[2]);
    put_strides(plan, e->logits, 3);
    put_strides(plan, e->target, 2);
    ocl_put(plan, e->weight != NULL);
    ocl_put(plan, e->weight ? e->weight->stride[0] : 0);
    ocl_put(plan, plan->attrs.cross_entropy.ignore_index);
}

static void step_losses(ocl_plan *plan, const entropy *e, uint64_t each)
{
    ocl_step_begin(plan, "prelude cross_entropy", "losses", e->positions, LOCAL, "%s", e->options);
    put_numbers(plan, e);
    ocl_put(plan, plan->out[1] != NULL);
    put_strides(plan, plan->out[1], 2);
    put_strides(plan, plan->out[0], 2);
    for (uint32_t k = 0; k < 3; k++)
        ocl_arg_in(plan, k);
    ocl_arg_out(plan, 0);
    ocl_arg_out(plan, 1);
    ocl_arg_work(plan, each, ocl_wide_size(plan));
    ocl_arg_wide(plan, plan->attrs.cross_entropy.label_smoothing);
    ocl_arg_fault(plan);
}

int ocl_plan_cross_entropy(ocl_plan *plan)
{
    entropy e = {.logits = plan->in[0],
                 .target = plan->in[1],
                 .weight = plan->in[2],
                 .stat = plan->out[1] ? plan->out[1] : plan->out[2]};
    if (!ocl_signature_fits(plan, "fir?", "rs?s?") || !entropy_read(plan, &e, plan->out[0]))
        return 0;
    const uint32_t size = ocl_wide_size(plan);
    const int64_t busy = ocl_busy(plan), most = e.positions / LEAST_CHUNK + 1;
    const int64_t chunks = busy < most ? busy : most;
    const uint64_t each = ocl_work(plan, 2 * e.positions, size);
    const uint64_t sums = ocl_work(plan, 2 * chunks, size);
    step_losses(plan, &e, each);

    ocl_step_begin(plan, "prelude cross_entropy", "loss_sums", chunks, LOCAL, "%s", e.options);
    ocl_put(plan, e.positions);
    ocl_put(plan, chunks);
    ocl_put(plan, (e.positions + chunks - 1) / chunks);
    ocl_arg_work(plan, each, size);
    ocl_arg_work(plan, sums, size);

    ocl_step_begin(plan, "prelude cross_entropy", "loss_total", 1, 1, "%s", e.options);
    ocl_put(plan, chunks);
    ocl_put(plan, plan->out[2] != NULL);
    ocl_arg_work(plan, sums, size);
    ocl_arg_out(plan, 0);
    ocl_arg_out(plan, 2);
    return 1;
}

/* The saved lse is not read: it was rounded, and off by more than a probability can bear where
 * logits are large. */
int ocl_plan_cross_entropy_backward(ocl_plan *plan)
{
    entropy e = {.logits = plan->in[1],
                 .target = plan->in[2],
                 .weight = plan->in[3],
                 .stat = plan->in[5],
                 .dlogits = plan->out[0]};
    if (!ocl_signature_fits(plan, "rrir?r?r", "r") || !entropy_read(plan, &e, plan->in[0]))
        return 0;
    ocl_step_begin(plan, "prelude cross_entropy", "gradients", e.positions, LOCAL, "%s", e.options);
    put_numbers(plan, &e);
    put_strides(plan, plan->out[0], 3);
    put_strides(plan, plan->in[0], 2);
    for (uint32_t k = 0; k < 4; k++)
        ocl_arg_in(plan, k);
    ocl_arg_in(plan, 5);
    ocl_arg_out(plan, 0);
    ocl_arg_wide(plan, plan->attrs.cross_entropy.label_smoothing);
    ocl_arg_fault(plan);
    return 1;
}
