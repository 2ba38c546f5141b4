/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_shape.h"

#include <limits.h>

/* f32 convolutions of up to so many channels a group are summed in f64 and rounded once: they have
 * few terms, and differences in the last bit before a max-pool make it choose other elements. */
enum { MOST_WIDENED_INPUTS = 16, MOST_WIDENED_OUTPUTS = 32 };

static conv_axis axis_read(const axle_conv_attrs *attrs, uint32_t d, const axle_view *x,
                           const axle_view *w, const axle_view *y)
{
    const uint32_t added = CONV_AXES - attrs->n_spatial;
    if (d < added)
        return (conv_axis){.in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1};
    const uint32_t k = d - added;
    return (conv_axis){.in = x->dim[2 + k],
                       .out = y->dim[2 + k],
                       .kernel = w->dim[2 + k],
                       .stride = attrs->stride[k],
                       .pad = attrs->pad[k],
                       .dilation = attrs->dilation[k],
                       .x = x->stride[2 + k],
                       .y = y->stride[2 + k],
                       .w = w->stride[2 + k]};
}

/* The step with which one walk visits the whole plane of y. */
static int64_t plane_step(const conv_shape *s)
{
    int64_t step = 0, next = 0;
    for (int d = CONV_AXES; d-- > 0;) {
        const conv_axis *a = &s->axis[d];
        if (a->out == 1)
            continue;
        if (step == 0)
            step = next = a->y;
        if (a->y != next)
            return 0;
        next *= a->out;
    }
    return step ? step : 1;
}

static int fits(const conv_shape *s)
{
    return s->inputs <= INT_MAX && s->outputs <= INT_MAX && s->terms <= INT_MAX;
}

int conv_shape_read(conv_shape *shape, const axle_conv_attrs *attrs, const axle_view *x,
                    const axle_view *w, const axle_view *y)
{
    if (attrs->n_spatial < 1 || attrs->n_spatial > CONV_AXES || attrs->groups < 1)
        return 0;
    conv_shape s = {.dtype = x->dtype,
                    .work = x->dtype,
                    .samples = x->dim[0],
                    .groups = attrs->groups,
                    .inputs = x->dim[1] / attrs->groups,
                    .outputs = y->dim[1] / attrs->groups,
                    .taps = 1,
                    .positions = 1,
                    .plane = 1,
                    .x_sample = x->stride[0],
                    .x_channel = x->stride[1],
                    .y_sample = y->stride[0],
                    .y_channel = y->stride[1],
                    .w_output = w->stride[0],
                    .w_input = w->stride[1]};
    if (!blas_is_served(s.dtype) || w->dtype != s.dtype || y->dtype != s.dtype)
        return 0;
    for (uint32_t d = 0; d < CONV_AXES; d++) {
        const conv_axis a = s.axis[d] = axis_read(attrs, d, x, w, y);
        s.taps *= a.kernel;
        s.positions *= a.out;
        s.plane *= a.in;
    }
    s.terms = s.inputs * s.taps;
    s.y_step = plane_step(&s);
    if (s.inputs <= MOST_WIDENED_INPUTS && s.outputs <= MOST_WIDENED_OUTPUTS)
        s.work = AXLE_DTYPE_F64;
    *shape = s;
    return fits(&s);
}

double conv_products(const conv_shape *s)
{
    return (double)s->samples * (double)s->groups * (double)s->outputs * (double)s->terms *
           (double)s->positions;
}

int64_t conv_run_step(const conv_shape *s)
{
    return s->y_step ? s->y_step : s->axis[CONV_AXES - 1].y;
}

int64_t conv_run(const conv_shape *s, int64_t q, int64_t end, int64_t *at)
{
    const int64_t sample = q / s->positions, p = q % s->positions;
    const int64_t columns = s->axis[2].out;
    *at = sample * s->y_sample;
    if (s->y_step) {
        *at += p * s->y_step;
        return blas_least(s->positions - p, end - q);
    }
    const int64_t column = p % columns, row = p / columns % s->axis[1].out;
    *at += p / columns / s->axis[1].out * s->axis[0].y + row * s->axis[1].y + column * s->axis[2].y;
    return blas_least(columns - column, end - q);
}
