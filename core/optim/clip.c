/* SPDX-License-Identifier: Apache-2.0 */
/* Clipping and scaling of gradients, in place over the arenas. */
#include <math.h>

#include "optim/optimizer.h"

static int span_unary(axle_optimizer *optimizer, const axle__span *span, uint32_t kind,
                      double alpha, double beta)
{
    axle_view view = axle__span_view(optimizer->grads, span);
    axle_unary_attrs attrs = {sizeof(attrs), kind, alpha, beta};
    axle__call call = AXLE__CALL(AXLE_OP_UNARY, attrs);
    axle__call_view_in(&call, &view);
    axle__call_view_out(&call, &view);
    axle__tensor_touch(optimizer->grads);
    return axle__run(&call, optimizer->grads);
}

static int scale_span(axle_optimizer *optimizer, const axle__span *span, void *factor)
{
    return span_unary(optimizer, span, AXLE_UNARY_AFFINE, *(double *)factor, 0.0);
}

int axle__optimizer_scale_grads(axle_optimizer *optimizer, double factor)
{
    int status = axle__optimizer_lay_out(optimizer);
    return status ? status : axle__optimizer_each_span(optimizer, false, scale_span, &factor);
}

int axle__optimizer_scale_arena(axle_optimizer *optimizer, double factor)
{
    int status = axle__optimizer_lay_out(optimizer);
    const axle__span all = {.count = optimizer->arena_size};
    return status || all.count == 0 ? status : scale_span(optimizer, &all, &factor);
}

/* A norm over all present gradients, combined over spans. */
typedef struct norm_sum {
    uint32_t kind; /* AXLE_REDUCE_NORM1 or _NORM2 */
    double total;  /* of what that kind adds up */
} norm_sum;

static int add_norm(axle_optimizer *optimizer, const axle__span *span, void *user)
{
    norm_sum *sum = user;
    axle_view view = axle__span_view(optimizer->grads, span), result = {0};
    axle_tensor *norm = axle__result("clip_norm", optimizer->grads->device,
                                     (int)axle__dtype(optimizer->grads), 0, NULL);
    if (!norm)
        return axle_error_code();
    result = norm->view;
    result.rank = 1;
    result.dim[0] = 1;
    result.stride[0] = 1;
    axle_reduce_attrs attrs = {sizeof(attrs), sum->kind, 1, 0, 0.0};
    axle__call call = AXLE__CALL(AXLE_OP_REDUCE, attrs);
    axle__call_view_in(&call, &view);
    axle__call_view_out(&call, &result);
    double value;
    int status = axle__run(&call, norm);
    if (!status)
        status = axle_tensor_item(norm, &value);
    if (!status)
        sum->total += sum->kind == AXLE_REDUCE_NORM2 ? value * value : value;
    return status;
}

static int add_norms(axle_optimizer *optimizer, norm_sum *sum)
{
    int status = axle__optimizer_lay_out(optimizer);
    if (!status)
        status = axle_scope_push();
    if (status)
        return status;
    status = axle__optimizer_each_span(optimizer, false, add_norm, sum);
    axle_scope_pop();
    return status;
}

/* A sum of absolute values is finite unless an element is not, or all are near the end of the
 * type's range. */
int axle__optimizer_check_finite(axle_optimizer *optimizer, bool *finite)
{
    norm_sum sum = {.kind = AXLE_REDUCE_NORM1};
    int status = add_norms(optimizer, &sum);
    *finite = isfinite(sum.total);
    return status;
}

int axle_optimizer_clip_norm(axle_optimizer *optimizer, double max_norm, double *norm)
{
    if (!(max_norm > 0.0))
        return axle_error_set(AXLE_ERR_INVALID, "axle_optimizer_clip_norm: largest norm %g",
                              max_norm);
    norm_sum squares = {.kind = AXLE_REDUCE_NORM2};
    int status = add_norms(optimizer, &squares);
    if (!status && optimizer->pieces && optimizer->sum_up)
        status = optimizer->sum_up(&squares.total, optimizer->step_user);
    if (status)
        return status;
    double length = sqrt(squares.total), factor = max_norm / (length + 1e-6);
    if (factor < 1.0)
        status = axle__optimizer_scale_grads(optimizer, factor);
    if (!status && norm)
        *norm = length;
    return status;
}

static int clip_span(axle_optimizer *optimizer, const axle__span *span, void *limit)
{
    double bound = *(double *)limit;
    return span_unary(optimizer, span, AXLE_UNARY_CLIP, -bound, bound);
}

int axle_optimizer_clip_value(axle_optimizer *optimizer, double limit)
{
    if (!(limit > 0.0))
        return axle_error_set(AXLE_ERR_INVALID, "axle_optimizer_clip_value: limit %g", limit);
    int status = axle__optimizer_lay_out(optimizer);
    return status ? status : axle__optimizer_each_span(optimizer, false, clip_span, &limit);
}
