/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three convolutions seen alike: src is what the window slides over, dst what it produces,
 * whichever of them is given and whichever is wanted.
 */
#ifndef AXLE_ONEDNN_CONV_SHAPE_H
#define AXLE_ONEDNN_CONV_SHAPE_H

#include "compat.h"
#include "cpu.h"

/* An operand's place in the call. */
typedef struct conv_operand {
    const axle_view *view; /* NULL: absent */
    uint32_t index;
    int is_output;
} conv_operand;

typedef struct conv_shape {
    int kind; /* DNN_CONV_* */
    const axle_conv_attrs *attrs;
    conv_operand operand[DNN_OPERANDS];
    /* What remains is 0 where the result is empty, or where every sum is. */
    int64_t results, terms;
} conv_shape;

void conv_shape_read(conv_shape *shape, const axle_op_desc *desc);

/* How activations may lie: densely, with the channels innermost or the columns. */
typedef axle_view (*conv_layout)(const axle_view *like, uint32_t dtype);
axle_view conv_channels_last(const axle_view *like, uint32_t dtype);
axle_view conv_row_major(const axle_view *like, uint32_t dtype);
/* Whether both hold the same type in the same places. */
int conv_same_layout(const axle_view *a, const axle_view *b);

/* Weights (O, C/groups, kernel...) as oneDNN wants them: (groups, O/groups, C/groups, kernel...)
 * where there are several groups. */
axle_view conv_weights_view(const conv_shape *shape, const axle_view *weights);
/* A vector over the channels of `like`, repeated over everything else. */
axle_view conv_channel_view(const axle_view *like, const axle_view *vector);

/* Strides, dilation and padding for oneDNN. */
void conv_fill_window(const conv_shape *shape, dnn_conv_spec *spec);

#endif
