/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_planes.h"
#include "operand.h"

#include <string.h>

enum { SPATIAL = AXLE_MAX_SPATIAL };

void ref_conv_frame_finish(conv_frame *f)
{
    f->step[2] = 1;
    f->step[1] = f->extent[2];
    f->step[0] = ref_count_times(f->extent[1], f->extent[2]);
    f->plane = ref_count_times(f->extent[0], f->step[0]);
}

axle_view ref_conv_view(const axle_view *view)
{
    axle_view v = *view;
    uint32_t added = SPATIAL + 2 - view->rank;
    v.rank = SPATIAL + 2;
    for (uint32_t d = 0; d < SPATIAL; d++) {
        int real = d >= added;
        v.dim[2 + d] = real ? view->dim[2 + d - added] : 1;
        v.stride[2 + d] = real ? view->stride[2 + d - added] : 0;
    }
    return v;
}

static int64_t plane_at(const conv_copy *copy, int64_t p)
{
    const axle_view *v = copy->view;
    return (copy->first + p / v->dim[1]) * v->stride[0] + p % v->dim[1] * v->stride[1];
}

void ref_conv_frame_planes(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const conv_copy *copy = arg;
    const axle_view *v = copy->view;
    const conv_frame *f = copy->frame;
    int64_t count[SPATIAL];
    (void)worker;
    for (int d = 0; d < SPATIAL; d++)
        count[d] =
            v->dim[2 + d] < f->extent[d] - f->lead[d] ? v->dim[2 + d] : f->extent[d] - f->lead[d];
    for (int64_t p = begin; p < end; p++) {
        double *plane = copy->dense + p * f->plane;
        memset(plane, 0, (size_t)f->plane * sizeof(double));
        for (int64_t i = 0; i < count[0]; i++)
            for (int64_t j = 0; j < count[1]; j++)
                ref_run_load(v, plane_at(copy, p) + i * v->stride[2] + j * v->stride[3], count[2],
                             v->stride[4],
                             plane + (f->lead[0] + i) * f->step[0] + (f->lead[1] + j) * f->step[1] +
                                 f->lead[2]);
    }
}

void ref_conv_load_planes(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const conv_copy *copy = arg;
    int64_t plane = ref_box_count(copy->view, 2);
    (void)worker;
    for (int64_t p = begin; p < end; p++)
        ref_box_load(copy->view, 2, plane_at(copy, p), copy->dense + p * plane);
}

void ref_conv_store_planes(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const conv_copy *copy = arg;
    int64_t plane = ref_box_count(copy->view, 2);
    (void)worker;
    for (int64_t p = begin; p < end; p++) {
        double *y = copy->dense + p * plane;
        double bias = copy->bias ? copy->bias[p % copy->view->dim[1]] : 0;
        for (int64_t i = 0; i < plane; i++) {
            y[i] += bias;
            if (copy->relu && y[i] < 0)
                y[i] = 0;
        }
        ref_box_store(copy->view, 2, plane_at(copy, p), y);
    }
}
