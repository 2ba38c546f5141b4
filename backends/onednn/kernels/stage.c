/* SPDX-License-Identifier: Apache-2.0 */
/* Operands copied to dense f32 and back. */
#include "stage.h"

#include <string.h>

/* Dense f32 strides, channels last if the operand's channels are. */
static axle_view dense_like(const axle_view *view)
{
    axle_view dense = *view;
    const int channels_last = view->rank > 2 && view->stride[1] == 1 && view->dim[1] > 1;
    int64_t stride = 1;
    dense.dtype = AXLE_DTYPE_F32;
    if (channels_last) {
        dense.stride[1] = 1;
        stride = view->dim[1];
    }
    for (uint32_t d = view->rank; d-- > 0;) {
        if (channels_last && d == 1)
            continue;
        dense.stride[d] = stride;
        stride *= view->dim[d];
    }
    return dense;
}

void cpu_stage_init(stage *s, const cpu_loops *loops, const axle_view *view, size_t *total)
{
    memset(s, 0, sizeof(*s));
    if (!view)
        return;
    s->view = *view;
    if (view->dtype == AXLE_DTYPE_F32)
        return;
    s->active = 1;
    s->view = dense_like(view);
    s->at = cpu_reserve(total, (size_t)cpu_count(view) * sizeof(float));
    const axle_view *outside[1] = {view}, *inside[1] = {&s->view};
    elem_plan_init(&s->in, loops, loops->convert->cast[view->dtype][AXLE_DTYPE_F32], 1, outside,
                   &s->view, ELEM_RAW);
    elem_plan_init(&s->out, loops, loops->convert->cast[AXLE_DTYPE_F32][view->dtype], 1, inside,
                   view, ELEM_RAW);
}

const void *cpu_stage_read(const stage *s, const void *data, unsigned char *workspace)
{
    if (!s->active)
        return data;
    elem_plan_run(&s->in, &data, workspace + s->at);
    return workspace + s->at;
}

void *cpu_stage_target(const stage *s, void *data, unsigned char *workspace)
{
    return s->active ? workspace + s->at : data;
}

void cpu_stage_leave(const stage *s, void *data, unsigned char *workspace)
{
    const void *from = workspace + s->at;
    if (s->active)
        elem_plan_run(&s->out, &from, data);
}
