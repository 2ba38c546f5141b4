/* SPDX-License-Identifier: Apache-2.0 */
/* Planners of CONV and its gradients. */
#include "conv.h"
#include "planners.h"

#include <stdio.h>

enum { LOCAL = 64, SPATIAL = AXLE_MAX_SPATIAL, LEAST_CHUNK = 64 };

static int64_t spatial_count(const axle_view *view)
{
    int64_t count = 1;
    for (uint32_t d = 2; d < view->rank; d++)
        count *= view->dim[d];
    return count;
}

static int conv_read(ocl_plan *plan, conv *c, const char *activation)
{
    const axle_conv_attrs *attrs = &plan->attrs.conv;
    const uint32_t rank = attrs->n_spatial + 2;
    if (attrs->n_spatial < 1 || attrs->n_spatial > SPATIAL || attrs->groups < 1 || !activation ||
        c->x->rank != rank || c->y->rank != rank || (c->w && c->w->rank != rank))
        return 0;
    for (uint32_t d = 0; d < attrs->n_spatial; d++)
        if (attrs->stride[d] < 1 || attrs->pad[d] < 0 || attrs->dilation[d] < 1)
            return 0;
    c->samples = c->x->dim[0];
    c->groups = attrs->groups;
    c->inputs = c->x->dim[1] / c->groups;
    c->outputs = c->y->dim[1] / c->groups;
    c->positions = c->samples * spatial_count(c->y);
    snprintf(c->options, sizeof(c->options), "-DTX=%s -DWIDE=%s -DACTIVATION=%s%s", ocl_dtype(c->x),
             plan->device->about.has_f64 ? "f64" : "f32", activation,
             plan->real == AXLE_DTYPE_F64 ? " -DCOMPENSATE" : "");
    return 1;
}

/* Spatial dims as 3: leading ones of size 1. */
static void put_dims(ocl_plan *plan, const axle_view *view, uint32_t n_spatial)
{
    for (uint32_t d = n_spatial; d < SPATIAL; d++)
        ocl_put(plan, 1);
    for (uint32_t d = 0; d < n_spatial; d++)
        ocl_put(plan, view ? view->dim[2 + d] : 1);
}

static void put_window(ocl_plan *plan, const int32_t *values, uint32_t n_spatial, int32_t added)
{
    for (uint32_t d = n_spatial; d < SPATIAL; d++)
        ocl_put(plan, added);
    for (uint32_t d = 0; d < n_spatial; d++)
        ocl_put(plan, values[d]);
}

static void put_strides(ocl_plan *plan, const axle_view *view, uint32_t n_spatial)
{
    for (uint32_t d = 0; d < 2; d++)
        ocl_put(plan, view ? view->stride[d] : 0);
    for (uint32_t d = n_spatial; d < SPATIAL; d++)
        ocl_put(plan, 0);
    for (uint32_t d = 0; d < n_spatial; d++)
        ocl_put(plan, view ? view->stride[2 + d] : 0);
}

static void begin(ocl_plan *plan, const conv *c, const char *kernel, int64_t items)
{
    const axle_conv_attrs *attrs = &plan->attrs.conv;
    const uint32_t n = attrs->n_spatial;
    ocl_step_begin(plan, "prelude functions conv", kernel, items, LOCAL, "%s", c->options);
    ocl_put(plan, c->samples);
    ocl_put(plan, c->groups);
    ocl_put(plan, c->inputs);
    ocl_put(plan, c->outputs);
    put_dims(plan, c->x, n);
    put_dims(plan, c->y, n);
    put_dims(plan, c->w, n);
    put_window(plan, attrs->stride, n, 1);
    put_window(plan, attrs->pad, n, 0);
    put_window(plan, attrs->dilation, n, 1);
    put_strides(plan, c->x, n);
    put_strides(plan, c->w, n);
    put_strides(plan, c->y, n);
    ocl_put(plan, c->bias != NULL);
    ocl_put(plan, c->bias ? c->bias->stride[0] : 0);
}

static void args(ocl_plan *plan)
{
    for (uint32_t k = 0; k < 3; k++)
        ocl_arg_in(plan, k);
    ocl_arg_out(plan, 0);
}

int ocl_plan_conv(ocl_plan *plan)
{
    conv c = {.x = plan->in[0], .w = plan->in[1], .bias = plan->in[2], .y = plan->out[0]};
    if (!ocl_signature_fits(plan, "fff?", "f") ||
        !conv_read(plan, &c, ocl_activation(plan->attrs.conv.activation)))
        return 0;
    if (ocl_conv_flat(plan, &c) || ocl_conv_unfolded(plan, &c))
        return 1;
    begin(plan, &c, "conv", ocl_count(c.y));
    args(plan);
    return 1;
}

int ocl_plan_conv_backward_data(ocl_plan *plan)
{
    conv c = {.y = plan->in[0], .w = plan->in[1], .bias = plan->in[2], .x = plan->out[0]};
    if (!ocl_signature_fits(plan, "fff?", "f") || !conv_read(plan, &c, "NONE"))
        return 0;
    if (ocl_conv_data_flat(plan, &c) || ocl_conv_data_unfolded(plan, &c))
        return 1;
    begin(plan, &c, "conv_backward_data", ocl_count(c.x));
    args(plan);
    return 1;
}

/* Chunks of the (sample, position) pairs, for sums that give `results` numbers. */
static int64_t chunks_of(const ocl_plan *plan, const conv *c, int64_t results)
{
    const int64_t busy = ocl_busy(plan), most = c->positions / LEAST_CHUNK + 1;
    const int64_t wanted = results > 0 ? (busy + results - 1) / results : 1;
    return wanted < most ? wanted : most;
}

static void put_chunks(ocl_plan *plan, const conv *c, int64_t chunks)
{
    ocl_put(plan, chunks);
    ocl_put(plan, (c->positions + chunks - 1) / chunks);
}

static void steps_weight(ocl_plan *plan, const conv *c)
{
    const int64_t weights = ocl_count(c->w), chunks = chunks_of(plan, c, weights);
    const uint32_t size = ocl_wide_size(plan);
    const uint64_t pieces = ocl_work(plan, weights * chunks, size);
    begin(plan, c, "conv_backward_weight", weights * chunks);
    put_chunks(plan, c, chunks);
    ocl_arg_in(plan, 0);
    ocl_arg_in(plan, 1);
    ocl_arg_work(plan, pieces, size);
    begin(plan, c, "conv_join_weight", weights);
    put_chunks(plan, c, chunks);
    ocl_arg_work(plan, pieces, size);
    ocl_arg_out(plan, 0);
}

static void steps_bias(ocl_plan *plan, const conv *c, const axle_view *db)
{
    const int64_t outputs = c->groups * c->outputs, chunks = chunks_of(plan, c, outputs);
    const uint32_t size = ocl_wide_size(plan);
    const uint64_t pieces = ocl_work(plan, outputs * chunks, size);
    begin(plan, c, "conv_backward_bias", outputs * chunks);
    put_chunks(plan, c, chunks);
    ocl_arg_in(plan, 0);
    ocl_arg_work(plan, pieces, size);
    begin(plan, c, "conv_join_bias", outputs);
    put_chunks(plan, c, chunks);
    ocl_put(plan, db->stride[0]);
    ocl_arg_work(plan, pieces, size);
    ocl_arg_out(plan, 1);
}

int ocl_plan_conv_backward_weight(ocl_plan *plan)
{
    conv c = {.y = plan->in[0], .x = plan->in[1], .w = plan->out[0]};
    if (!ocl_signature_fits(plan, "ff", "f?f?") || !conv_read(plan, &c, "NONE"))
        return 0;
    if (c.w && !ocl_conv_weight_flat(plan, &c) && !ocl_conv_weight_unfolded(plan, &c))
        steps_weight(plan, &c);
    if (plan->out[1])
        steps_bias(plan, &c, plan->out[1]);
    return 1;
}
