/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions as oneDNN primitives. Activations are channels-last, for which oneDNN has its best
 * code without a layout of its own; what lies otherwise is copied. Weights are small, so they go
 * into whatever layout the primitive likes, and gradients of weights come back from it.
 */
#include "activation.h"
#include "conv_shape.h"
#include "primitives.h"
#include "program.h"

#include <string.h>

typedef struct builder {
    program *p;
    conv_shape shape;
    int allow_slow;
    axle_view wanted[DNN_OPERANDS]; /* how the primitive sees src and dst */
    int given[DNN_OPERANDS];        /* slots of the call's operands */
    int slot[DNN_OPERANDS];         /* slots that the primitive works on */
} builder;

static const axle_view *view_of(const builder *b, int operand)
{
    return b->shape.operand[operand].view;
}

/* ------------------------------------------------------------------ support */

static int is_supported(const axle_op_desc *desc)
{
    const axle_conv_attrs *attrs = desc->attrs;
    return cpu_is_float(desc->in[0]->dtype) && attrs->n_spatial >= 1 &&
           attrs->n_spatial <= AXLE_MAX_SPATIAL && activation_is_known(attrs->activation);
}

/* ------------------------------------------------------------------ operands */

static int slot_for(builder *b, int operand, const axle_view *view)
{
    const conv_operand *o = &b->shape.operand[operand];
    return o->is_output ? program_output(b->p, o->index, view)
                        : program_input(b->p, o->index, view);
}

/* The operand itself if it lies as wanted, else a temporary that does, filled if it is an input. */
static void bring(builder *b, int operand, const axle_view *wanted)
{
    const axle_view *view = view_of(b, operand);
    b->given[operand] = b->slot[operand] = slot_for(b, operand, view);
    if (conv_same_layout(view, wanted))
        return;
    b->slot[operand] = program_temporary(b->p, wanted);
    if (!b->shape.operand[operand].is_output)
        program_move(b->p, b->given[operand], b->slot[operand]);
}

static void deliver(builder *b, int operand)
{
    if (b->slot[operand] != b->given[operand])
        program_move(b->p, b->slot[operand], b->given[operand]);
}

/* Weights in the primitive's type, still in an order that a reorder understands. */
static int bring_plain_weights(builder *b, uint32_t dtype)
{
    const axle_view view = conv_weights_view(&b->shape, view_of(b, DNN_WEIGHTS));
    const int given = slot_for(b, DNN_WEIGHTS, &view);
    int plain = view.dtype == dtype;
    for (uint32_t k = 0; k < view.rank; k++)
        plain &= view.dim[k] == 1 || view.stride[k] > 0;
    if (plain)
        return given;
    const axle_view dense = conv_row_major(&view, dtype);
    const int temporary = program_temporary(b->p, &dense);
    program_move(b->p, given, temporary);
    return temporary;
}

static void bring_weights(builder *b, const dnn_plan *plan, uint32_t dtype)
{
    const int plain = bring_plain_weights(b, dtype);
    b->slot[DNN_WEIGHTS] = plain;
    if (program_failed(b->p))
        return;
    const dnn_layout layout = program_layout(program_view(b->p, plain));
    if (dnn_plan_matches(plan, DNN_WEIGHTS, &layout))
        return;
    b->slot[DNN_WEIGHTS] = program_bytes(b->p, dnn_plan_size(plan, DNN_WEIGHTS));
    program_reorder_to(b->p, plain, plan, DNN_WEIGHTS, b->slot[DNN_WEIGHTS]);
}

/* ------------------------------------------------------------------ the primitive */

/* Whether a group has few input channels, or rows of results few elements. oneDNN prefers code
 * there that multiplies small matrices, one for each place in the window, although its older code
 * keeps more of the registers busy. */
static int is_narrow(const builder *b)
{
    enum { FEW_CHANNELS = 16, FEW_COLUMNS = 8 };
    const axle_view *dst = view_of(b, DNN_DST);
    return b->shape.kind == DNN_CONV_FORWARD && (view_of(b, DNN_WEIGHTS)->dim[1] < FEW_CHANNELS ||
                                                 dst->dim[dst->rank - 1] < FEW_COLUMNS);
}

static dnn_plan *plan_second(dnn_conv_spec spec)
{
    spec.skip = 1;
    dnn_plan *plan;
    if (dnn_plan_conv(&spec, &plan) != dnnl_success)
        return NULL;
    if (strstr(dnn_plan_impl(plan), "jit:avx512"))
        return plan;
    dnn_plan_release(plan);
    return NULL;
}

/* oneDNN recognises a layout by all of its strides, even those along dims of one element. */
static dnn_layout activation_layout(const axle_view *view)
{
    dnn_layout layout = program_layout(view);
    for (uint32_t k = 0; k < view->rank; k++)
        layout.stride[k] = view->stride[k];
    return layout;
}

static dnn_plan *plan_conv(const builder *b, uint32_t dtype)
{
    dnn_conv_spec spec = {.kind = b->shape.kind,
                          .src = activation_layout(&b->wanted[DNN_SRC]),
                          .dst = activation_layout(&b->wanted[DNN_DST])};
    axle_view weights = conv_weights_view(&b->shape, view_of(b, DNN_WEIGHTS));
    weights.dtype = dtype;
    spec.weights = program_layout(&weights);
    spec.weights.any = 1;
    if (b->shape.kind == DNN_CONV_FORWARD && view_of(b, DNN_BIAS)) {
        axle_view bias = conv_row_major(view_of(b, DNN_BIAS), dtype);
        spec.bias = program_layout(&bias);
    }
    conv_fill_window(&b->shape, &spec);
    dnn_plan *plan;
    if (dnn_plan_conv(&spec, &plan) != dnnl_success)
        return NULL;
    if (dnn_plan_is_slow(plan) && !b->allow_slow) {
        dnn_plan_release(plan);
        return NULL;
    }
    dnn_plan *second =
        is_narrow(b) && strstr(dnn_plan_impl(plan), "brg") ? plan_second(spec) : NULL;
    if (!second)
        return plan;
    dnn_plan_release(plan);
    return second;
}

static void append_primitive(builder *b, dnn_plan *plan)
{
    program_name(b->p, dnn_plan_impl(plan));
    program_primitive(b->p, plan, b->slot, NULL);
}

/* ------------------------------------------------------------------ the three programs */

static void apply_activation(builder *b)
{
    const uint32_t kind = b->shape.attrs->activation;
    const axle_unary_attrs attrs = {.struct_size = sizeof(attrs), .kind = kind};
    if (kind != 0)
        program_call(b->p, AXLE_OP_UNARY, &attrs, b->slot[DNN_DST], PROGRAM_NONE, b->slot[DNN_DST]);
}

static void build_forward(builder *b, dnn_plan *plan, uint32_t dtype)
{
    bring(b, DNN_SRC, &b->wanted[DNN_SRC]);
    bring_weights(b, plan, dtype);
    if (view_of(b, DNN_BIAS)) {
        const axle_view bias = conv_row_major(view_of(b, DNN_BIAS), dtype);
        bring(b, DNN_BIAS, &bias);
    }
    bring(b, DNN_DST, &b->wanted[DNN_DST]);
    append_primitive(b, plan);
    apply_activation(b);
    deliver(b, DNN_DST);
}

/* The primitive has no bias, which is added afterwards. It is as wide as the sum that it joins. */
static void add_channel_bias(builder *b)
{
    const axle_view *bias = view_of(b, DNN_BIAS);
    if (!bias)
        return;
    const axle_view dense = conv_row_major(bias, b->wanted[DNN_SRC].dtype);
    bring(b, DNN_BIAS, &dense);
    const axle_view *x = &b->wanted[DNN_SRC];
    const axle_view repeated =
        conv_channel_view(x, b->slot[DNN_BIAS] == b->given[DNN_BIAS] ? bias : &dense);
    const int addend = program_alias(b->p, b->slot[DNN_BIAS], &repeated);
    const axle_binary_attrs add = {
        .struct_size = sizeof(add), .kind = AXLE_BINARY_ADD, .alpha = 1.0};
    program_call(b->p, AXLE_OP_BINARY, &add, b->slot[DNN_SRC], addend, b->slot[DNN_SRC]);
}

static void build_backward_data(builder *b, dnn_plan *plan, uint32_t dtype)
{
    bring(b, DNN_DST, &b->wanted[DNN_DST]);
    bring_weights(b, plan, dtype);
    bring(b, DNN_SRC, &b->wanted[DNN_SRC]);
    append_primitive(b, plan);
    add_channel_bias(b);
    deliver(b, DNN_SRC);
}

static void deliver_weights(builder *b, const dnn_plan *plan, int given)
{
    const axle_view *view = program_view(b->p, given);
    if (program_dnn_type(view->dtype) != dnnl_data_type_undef) {
        program_reorder_from(b->p, plan, DNN_WEIGHTS, b->slot[DNN_WEIGHTS], given);
        return;
    }
    const axle_view dense = conv_row_major(view, AXLE_DTYPE_F32);
    const int temporary = program_temporary(b->p, &dense);
    program_reorder_from(b->p, plan, DNN_WEIGHTS, b->slot[DNN_WEIGHTS], temporary);
    program_move(b->p, temporary, given);
}

static void build_backward_weights(builder *b, dnn_plan *plan)
{
    bring(b, DNN_SRC, &b->wanted[DNN_SRC]);
    bring(b, DNN_DST, &b->wanted[DNN_DST]);
    const axle_view view = conv_weights_view(&b->shape, view_of(b, DNN_WEIGHTS));
    const dnn_layout layout = program_layout(&view);
    const int given = slot_for(b, DNN_WEIGHTS, &view);
    b->slot[DNN_WEIGHTS] = given;
    if (program_failed(b->p) ||
        (layout.type != dnnl_data_type_undef && dnn_plan_matches(plan, DNN_WEIGHTS, &layout))) {
        append_primitive(b, plan);
        return;
    }
    b->slot[DNN_WEIGHTS] = program_bytes(b->p, dnn_plan_size(plan, DNN_WEIGHTS));
    append_primitive(b, plan);
    deliver_weights(b, plan, given);
}

/* db is the sum of dy over everything but the channels. */
static void build_bias_gradient(builder *b)
{
    const axle_view *bias = view_of(b, DNN_BIAS);
    axle_view from = *view_of(b, DNN_DST);
    axle_reduce_attrs sum = {.struct_size = sizeof(sum), .kind = AXLE_REDUCE_SUM};
    const axle_view dense = conv_channels_last(&from, from.dtype);
    if (conv_same_layout(&from, &dense)) {
        const int64_t channels = from.dim[1];
        from = (axle_view){.dtype = from.dtype,
                           .rank = 2,
                           .dim = {cpu_count(&from) / channels, channels},
                           .stride = {channels, 1}};
    }
    axle_view to = conv_channel_view(&from, bias);
    for (uint32_t k = 0; k < from.rank; k++)
        if (k != 1) {
            sum.axes |= 1u << k;
            to.dim[k] = 1;
        }
    const int dy = slot_for(b, DNN_DST, &from), db = slot_for(b, DNN_BIAS, &to);
    program_call(b->p, AXLE_OP_REDUCE, &sum, dy, PROGRAM_NONE, db);
}

/* Every sum is empty: the result is the bias, or zeros. */
static void build_empty_sums(builder *b, int result, int with_bias)
{
    const axle_view *view = view_of(b, result);
    if (!view || cpu_count(view) == 0)
        return;
    const int y = slot_for(b, result, view);
    if (with_bias && view_of(b, DNN_BIAS)) {
        const axle_view repeated = conv_channel_view(view, view_of(b, DNN_BIAS));
        program_call(b->p, AXLE_OP_COPY, NULL, slot_for(b, DNN_BIAS, &repeated), PROGRAM_NONE, y);
    } else {
        const axle_fill_attrs zero = {.struct_size = sizeof(zero)};
        program_call(b->p, AXLE_OP_FILL, &zero, PROGRAM_NONE, PROGRAM_NONE, y);
    }
    b->slot[result] = y;
}

static void build_trivial(builder *b)
{
    if (b->shape.kind == DNN_CONV_FORWARD && b->shape.results > 0) {
        build_empty_sums(b, DNN_DST, 1);
        apply_activation(b);
    } else if (b->shape.kind == DNN_CONV_BACKWARD_DATA) {
        build_empty_sums(b, DNN_SRC, 1);
    } else if (b->shape.kind == DNN_CONV_BACKWARD_WEIGHTS) {
        build_empty_sums(b, DNN_WEIGHTS, 0);
        build_empty_sums(b, DNN_BIAS, 0);
    }
}

/* ------------------------------------------------------------------ building */

static void build_with_layout(builder *b, uint32_t dtype, conv_layout layout)
{
    b->wanted[DNN_SRC] = layout(view_of(b, DNN_SRC), dtype);
    b->wanted[DNN_DST] = layout(view_of(b, DNN_DST), dtype);
    if (b->shape.kind == DNN_CONV_BACKWARD_DATA && view_of(b, DNN_BIAS))
        b->wanted[DNN_SRC].dtype = AXLE_DTYPE_F32;
    dnn_plan *plan = plan_conv(b, dtype);
    if (!plan)
        program_fail(b->p, AXLE_ERR_UNSUPPORTED);
    else if (b->shape.kind == DNN_CONV_FORWARD)
        build_forward(b, plan, dtype);
    else if (b->shape.kind == DNN_CONV_BACKWARD_DATA)
        build_backward_data(b, plan, dtype);
    else
        build_backward_weights(b, plan);
}

/* One way to serve a convolution. */
typedef struct conv_way {
    uint32_t dtype;
    conv_layout layout;
    int allow_slow;
} conv_way;

/* Channels-last first; a few grouped shapes have fast code for row-major activations alone, and a
 * few degenerate ones, of a pixel or so, have none at all. */
static const conv_way ways[] = {
    {AXLE_DTYPE_BF16, conv_channels_last, 0},
    {AXLE_DTYPE_F32, conv_channels_last, 0},
    {AXLE_DTYPE_F32, conv_row_major, 0},
    {AXLE_DTYPE_F32, conv_channels_last, 1},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static program *build(const cpu_kernel *kernel, axle_be_device *device, const axle_op_desc *desc,
                      const conv_way *way)
{
    builder b = {.p = program_create(kernel, device), .allow_slow = way->allow_slow};
    if (!b.p)
        return NULL;
    for (int k = 0; k < DNN_OPERANDS; k++)
        b.given[k] = b.slot[k] = PROGRAM_NONE;
    conv_shape_read(&b.shape, desc);
    if (b.shape.results == 0 || b.shape.terms == 0) {
        build_trivial(&b);
        return b.p;
    }
    if (b.shape.kind == DNN_CONV_BACKWARD_WEIGHTS && view_of(&b, DNN_BIAS))
        build_bias_gradient(&b);
    if (view_of(&b, DNN_WEIGHTS) && cpu_count(view_of(&b, DNN_WEIGHTS)) > 0)
        build_with_layout(&b, way->dtype, way->layout);
    return b.p;
}

static program *build_any(const cpu_kernel *kernel, axle_be_device *device,
                          const axle_op_desc *desc)
{
    const int native = desc->in[0]->dtype == AXLE_DTYPE_BF16 && dnn_has_bf16();
    for (int k = native ? 0 : 1;; k++) {
        program *p = build(kernel, device, desc, &ways[k]);
        if (!p || !program_failed(p) || k + 1 == WAYS)
            return p;
        program_release((axle_be_op *)p);
    }
}

static axle_status query(const axle_op_desc *desc, axle_op_info *info)
{
    if (!is_supported(desc))
        return AXLE_OK;
    info->layout = AXLE_LAYOUT_CHANNELS_LAST;
    program *p = build_any(NULL, NULL, desc);
    return p ? program_answer(p, info) : AXLE_ERR_NOMEM;
}

static axle_status prepare(const cpu_kernel *kernel, axle_be_device *device,
                           const axle_op_desc *desc, axle_be_op **out, axle_error *error)
{
    program *p = build_any(kernel, device, desc);
    if (!p)
        return cpu_fail(error, AXLE_ERR_NOMEM, "onednn: no memory for a prepared convolution");
    return program_finish(p, out, error);
}

#define CONV_KERNEL(name, number)                                                                  \
    static axle_status name##_prepare(axle_be_device *device, const axle_op_desc *desc,            \
                                      axle_be_op **out, axle_error *error)                         \
    {                                                                                              \
        return prepare(&cpu_##name, device, desc, out, error);                                     \
    }                                                                                              \
    const cpu_kernel cpu_##name = {.op = (number),                                                 \
                                   .query = query,                                                 \
                                   .prepare = name##_prepare,                                      \
                                   .run = program_run,                                             \
                                   .release = program_release,                                     \
                                   .suits = is_supported};

CONV_KERNEL(conv, AXLE_OP_CONV)
CONV_KERNEL(conv_backward_data, AXLE_OP_CONV_BACKWARD_DATA)
CONV_KERNEL(conv_backward_weight, AXLE_OP_CONV_BACKWARD_WEIGHT)
