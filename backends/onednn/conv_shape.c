/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_shape.h"

#include <stddef.h>

/* Which view of the call is which operand: inputs count from 0, outputs from 100. */
enum { OUTPUT = 100, ABSENT = -1 };

typedef struct operand_map {
    uint32_t op;
    int kind;
    int place[DNN_OPERANDS]; /* src, weights, bias, dst */
} operand_map;

static const operand_map maps[] = {
    {AXLE_OP_CONV, DNN_CONV_FORWARD, {0, 1, 2, OUTPUT}},
    {AXLE_OP_CONV_BACKWARD_DATA, DNN_CONV_BACKWARD_DATA, {OUTPUT, 1, 2, 0}},
    {AXLE_OP_CONV_BACKWARD_WEIGHT, DNN_CONV_BACKWARD_WEIGHTS, {1, OUTPUT, OUTPUT + 1, 0}},
};

static conv_operand operand_at(const axle_op_desc *desc, int place)
{
    conv_operand operand = {.is_output = place >= OUTPUT};
    operand.index = (uint32_t)(operand.is_output ? place - OUTPUT : place);
    const uint32_t count = operand.is_output ? desc->n_out : desc->n_in;
    if (operand.index < count)
        operand.view = operand.is_output ? desc->out[operand.index] : desc->in[operand.index];
    return operand;
}

static int64_t count_of(const axle_view *view)
{
    return view ? cpu_count(view) : 0;
}

static int64_t outer_count(const axle_view *view)
{
    int64_t count = 1;
    for (uint32_t k = 0; k < view->rank; k++)
        count *= k == 1 ? 1 : view->dim[k];
    return count;
}

static void count_work(conv_shape *shape)
{
    const axle_view *src = shape->operand[DNN_SRC].view, *dst = shape->operand[DNN_DST].view;
    const axle_view *weights = shape->operand[DNN_WEIGHTS].view;
    const axle_view *bias = shape->operand[DNN_BIAS].view;
    switch (shape->kind) {
    case DNN_CONV_FORWARD:
        shape->results = count_of(dst);
        shape->terms = count_of(weights);
        return;
    case DNN_CONV_BACKWARD_DATA:
        shape->results = count_of(src);
        shape->terms = count_of(weights);
        return;
    default:
        shape->results = count_of(weights) + count_of(bias);
        shape->terms = outer_count(dst) * outer_count(src);
    }
}

void conv_shape_read(conv_shape *shape, const axle_op_desc *desc)
{
    *shape = (conv_shape){.attrs = desc->attrs};
    for (size_t k = 0; k < sizeof(maps) / sizeof(maps[0]); k++) {
        if (maps[k].op != desc->op)
            continue;
        shape->kind = maps[k].kind;
        for (int o = 0; o < DNN_OPERANDS; o++)
            shape->operand[o] = operand_at(desc, maps[k].place[o]);
    }
    count_work(shape);
}

axle_view conv_row_major(const axle_view *like, uint32_t dtype)
{
    axle_view view = {.dtype = dtype, .rank = like->rank};
    int64_t stride = 1;
    for (uint32_t k = like->rank; k-- > 0;) {
        view.dim[k] = like->dim[k];
        view.stride[k] = stride;
        stride *= like->dim[k];
    }
    return view;
}

axle_view conv_channels_last(const axle_view *like, uint32_t dtype)
{
    axle_view view = {.dtype = dtype, .rank = like->rank};
    int64_t stride = like->dim[1];
    for (uint32_t k = like->rank; k-- > 0;) {
        view.dim[k] = like->dim[k];
        if (k == 1)
            continue;
        view.stride[k] = stride;
        stride *= like->dim[k];
    }
    view.stride[1] = 1;
    return view;
}

int conv_same_layout(const axle_view *a, const axle_view *b)
{
    if (a->dtype != b->dtype)
        return 0;
    for (uint32_t k = 0; k < a->rank; k++)
        if (a->dim[k] != 1 && a->stride[k] != b->stride[k])
            return 0;
    return 1;
}

axle_view conv_weights_view(const conv_shape *shape, const axle_view *weights)
{
    const int64_t groups = shape->attrs->groups;
    if (groups <= 1)
        return *weights;
    axle_view view = *weights;
    view.rank++;
    for (uint32_t k = weights->rank; k > 0; k--) {
        view.dim[k] = weights->dim[k - 1];
        view.stride[k] = weights->stride[k - 1];
    }
    view.dim[0] = groups;
    view.dim[1] = weights->dim[0] / groups;
    view.stride[0] = view.dim[1] * weights->stride[0];
    return view;
}

axle_view conv_channel_view(const axle_view *like, const axle_view *vector)
{
    axle_view view = *like;
    view.dtype = vector->dtype;
    for (uint32_t k = 0; k < view.rank; k++)
        view.stride[k] = k == 1 ? vector->stride[0] : 0;
    return view;
}

/* The padding behind the input is what the last window needs, which is less than the padding before
 * it where windows do not end at the border, and may be negative. */
void conv_fill_window(const conv_shape *shape, dnn_conv_spec *spec)
{
    const axle_conv_attrs *attrs = shape->attrs;
    const axle_view *src = shape->operand[DNN_SRC].view, *dst = shape->operand[DNN_DST].view;
    const axle_view *weights = shape->operand[DNN_WEIGHTS].view;
    for (uint32_t k = 0; k < attrs->n_spatial; k++) {
        const int64_t span = (weights->dim[k + 2] - 1) * attrs->dilation[k] + 1;
        spec->stride[k] = attrs->stride[k];
        spec->dilation[k] = attrs->dilation[k] - 1;
        spec->pad_left[k] = attrs->pad[k];
        spec->pad_right[k] =
            (dst->dim[k + 2] - 1) * attrs->stride[k] + span - src->dim[k + 2] - attrs->pad[k];
    }
}
