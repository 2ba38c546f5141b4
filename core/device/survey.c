/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A typical call of each operator, written as operands: a letter for the type and the dims, inputs
 * before '>', '-' for an absent one. Letters: f the float type in question, s its type of
 * statistics, i 64-bit and j 32-bit integers, b booleans.
 */
#include "device/survey.h"

#include <stdlib.h>

#include "device/dispatch.h"

static const axle_fill_attrs fill = {sizeof(fill), 0, 0.0, 0};
static const axle_arange_attrs arange = {sizeof(arange), 0, 0.0, 1.0};
static const axle_random_attrs uniform = {sizeof(uniform), 0, 0.0, 1.0};
static const axle_unary_attrs relu = {sizeof(relu), AXLE_UNARY_RELU, 0.0, 0.0};
static const axle_binary_attrs add = {sizeof(add), AXLE_BINARY_ADD, 1.0};
static const axle_reduce_attrs sum = {sizeof(sum), AXLE_REDUCE_SUM, 2, 0, 0.0};
static const axle_arg_reduce_attrs arg_max = {sizeof(arg_max), AXLE_REDUCE_MAX, 1, 0};
static const axle_matmul_attrs matmul = {sizeof(matmul), 0, 0, 0, 1.0};
static const axle_conv_attrs conv = {sizeof(conv), 2, 1, 0, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}, 0};
static const axle_pool_attrs pool = {sizeof(pool), 2,         AXLE_POOL_MAX, 0,
                                     {2, 2, 0},    {2, 2, 0}, {0, 0, 0},     {1, 1, 0}};
static const axle_softmax_attrs softmax = {sizeof(softmax), 1, 0, 0, 1.0};
static const axle_cross_entropy_attrs cross_entropy = {sizeof(cross_entropy), AXLE_REDUCTION_MEAN,
                                                       -100, 0.0};
static const axle_layer_norm_attrs layer_norm = {sizeof(layer_norm), AXLE_NORM_LAYER, 1e-5};
static const axle_batch_norm_attrs batch_norm = {sizeof(batch_norm), 1, 1e-5, 0.1};
static const axle_group_norm_attrs group_norm = {sizeof(group_norm), 2, 1e-5};
static const axle_dropout_attrs dropout = {sizeof(dropout), 0, 0.5};
static const axle_embedding_attrs embedding = {sizeof(embedding), 0, -1};
static const axle_index_attrs index_rows = {sizeof(index_rows), 0, 0, 0};
static const axle_attention_attrs attention = {sizeof(attention), 0, 0.5, 0.0};
static const axle_sgd_attrs sgd = {sizeof(sgd), 0, 0, 0};
static const axle_adam_attrs adam = {sizeof(adam), 1, 0, 0};
static const axle_rmsprop_attrs rmsprop = {sizeof(rmsprop), 0};

#define WITH(attrs) &(attrs), sizeof(attrs)
#define WITHOUT NULL, 0

static const struct use {
    const char *operands;
    const void *attrs;
    uint32_t attrs_size;
} uses[AXLE_OP_LIMIT] = {
    [AXLE_OP_COPY] = {"f2,3>f2,3", WITHOUT},
    [AXLE_OP_FILL] = {">f2,3", WITH(fill)},
    [AXLE_OP_ARANGE] = {">f6", WITH(arange)},
    [AXLE_OP_RANDOM] = {">f6", WITH(uniform)},
    [AXLE_OP_UNARY] = {"f6>f6", WITH(relu)},
    [AXLE_OP_UNARY_BACKWARD] = {"f6 f6>f6", WITH(relu)},
    [AXLE_OP_BINARY] = {"f6 f6>f6", WITH(add)},
    [AXLE_OP_WHERE] = {"b6 f6 f6>f6", WITHOUT},
    [AXLE_OP_REDUCE] = {"f2,3>f2,1", WITH(sum)},
    [AXLE_OP_ARG_REDUCE] = {"f2,3>i2,1", WITH(arg_max)},
    [AXLE_OP_MATMUL] = {"f4,8 f8,6 f4,6>f4,6", WITH(matmul)},
    [AXLE_OP_CONV] = {"f2,4,8,8 f6,4,3,3 f6>f2,6,8,8", WITH(conv)},
    [AXLE_OP_CONV_BACKWARD_DATA] = {"f2,6,8,8 f6,4,3,3 ->f2,4,8,8", WITH(conv)},
    [AXLE_OP_CONV_BACKWARD_WEIGHT] = {"f2,6,8,8 f2,4,8,8>f6,4,3,3 f6", WITH(conv)},
    [AXLE_OP_POOL] = {"f2,4,8,8>f2,4,4,4 j2,4,4,4", WITH(pool)},
    [AXLE_OP_POOL_BACKWARD] = {"f2,4,4,4 j2,4,4,4>f2,4,8,8", WITH(pool)},
    [AXLE_OP_INTERPOLATE] = {"f2,4,4,4>f2,4,8,8", WITHOUT},
    [AXLE_OP_INTERPOLATE_BACKWARD] = {"f2,4,8,8>f2,4,4,4", WITHOUT},
    [AXLE_OP_SOFTMAX] = {"f4,8 ->f4,8", WITH(softmax)},
    [AXLE_OP_SOFTMAX_BACKWARD] = {"f4,8 f4,8>f4,8", WITH(softmax)},
    [AXLE_OP_CROSS_ENTROPY] = {"f4,8,1 i4,1 ->f1,1 s4,1 s1,1", WITH(cross_entropy)},
    [AXLE_OP_CROSS_ENTROPY_BACKWARD] = {"f1,1 f4,8,1 i4,1 - s4,1 s1,1>f4,8,1", WITH(cross_entropy)},
    [AXLE_OP_LAYER_NORM] = {"f4,8 f8 f8>f4,8 s4 s4", WITH(layer_norm)},
    [AXLE_OP_LAYER_NORM_BACKWARD] = {"f4,8 f4,8 f8 s4 s4>f4,8 f8 f8", WITH(layer_norm)},
    [AXLE_OP_BATCH_NORM] = {"f2,4,8,8 f4 f4 f4 f4>f2,4,8,8 s4 s4 f4 f4", WITH(batch_norm)},
    [AXLE_OP_BATCH_NORM_BACKWARD] = {"f2,4,8,8 f2,4,8,8 f4 s4 s4>f2,4,8,8 f4 f4", WITH(batch_norm)},
    [AXLE_OP_GROUP_NORM] = {"f2,4,8,8 f4 f4>f2,4,8,8 s2,2 s2,2", WITH(group_norm)},
    [AXLE_OP_GROUP_NORM_BACKWARD] = {"f2,4,8,8 f2,4,8,8 f4 s2,2 s2,2>f2,4,8,8 f4 f4",
                                     WITH(group_norm)},
    [AXLE_OP_DROPOUT] = {"f6>f6", WITH(dropout)},
    [AXLE_OP_EMBEDDING] = {"f8,4 i6>f6,4", WITH(embedding)},
    [AXLE_OP_EMBEDDING_BACKWARD] = {"f6,4 i6>f8,4", WITH(embedding)},
    [AXLE_OP_GATHER] = {"f4,8 i3,8>f3,8", WITH(index_rows)},
    [AXLE_OP_SCATTER] = {"i3,8 f3,8>f4,8", WITH(index_rows)},
    [AXLE_OP_INDEX_SELECT] = {"f4,8 i3>f3,8", WITH(index_rows)},
    [AXLE_OP_INDEX_ADD] = {"i3 f3,8>f4,8", WITH(index_rows)},
    [AXLE_OP_ONE_HOT] = {"i4>f4,8", WITHOUT},
    [AXLE_OP_ATTENTION] = {"f2,2,4,8 f2,2,4,8 f2,2,4,8 ->f2,2,4,8 s2,2,4", WITH(attention)},
    [AXLE_OP_ATTENTION_BACKWARD] =
        {"f2,2,4,8 f2,2,4,8 f2,2,4,8 f2,2,4,8 - f2,2,4,8 s2,2,4>f2,2,4,8 f2,2,4,8 f2,2,4,8",
         WITH(attention)},
    [AXLE_OP_SGD] = {"f64>f64 f64", WITH(sgd)},
    [AXLE_OP_ADAM] = {"f64>f64 f64 f64 -", WITH(adam)},
    [AXLE_OP_RMSPROP] = {"f64>f64 f64 - -", WITH(rmsprop)},
};

static uint32_t dtype_of(char letter, int dtype)
{
    static const uint32_t others[] = {['i'] = AXLE_DTYPE_I64,
                                      ['j'] = AXLE_DTYPE_I32,
                                      ['b'] = AXLE_DTYPE_BOOL,
                                      ['s'] = AXLE_DTYPE_F32};
    bool own = letter == 'f' || (letter == 's' && dtype == AXLE_DTYPE_F64);
    return own ? (uint32_t)dtype : others[(unsigned char)letter];
}

/* Read one operand into a row-major view; returns what follows it. */
static const char *read_view(const char *text, int dtype, axle_view *view)
{
    *view = (axle_view){.dtype = dtype_of(*text, dtype)};
    for (char *end; *text && *text != ' ' && *text != '>'; text = end)
        view->dim[view->rank++] = strtoll(text + 1, &end, 10);
    int64_t stride = 1;
    for (uint32_t k = view->rank; k-- > 0; stride *= view->dim[k])
        view->stride[k] = stride;
    return text;
}

/* Read operands up to '>' or the end; views are made from `view` on. */
static const char *read_operands(const char *text, int dtype, axle_view *view,
                                 const axle_view **list, uint32_t *count)
{
    while (*text && *text != '>') {
        bool absent = *text == '-';
        list[*count] = absent ? NULL : &view[*count];
        text = absent ? text + 1 : read_view(text, dtype, &view[*count]);
        ++*count;
        text += *text == ' ';
    }
    return text;
}

bool axle__survey_supports(axle_device *device, uint32_t op, int dtype)
{
    axle_view view[AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT];
    if (op >= AXLE_OP_LIMIT || !uses[op].operands)
        return false;
    axle__call call = {.op = op, .attrs = uses[op].attrs, .attrs_size = uses[op].attrs_size};
    const char *outputs = read_operands(uses[op].operands, dtype, view, call.in, &call.n_in) + 1;
    read_operands(outputs, dtype, view + AXLE_OP_MAX_IN, call.out, &call.n_out);
    return axle__dispatch_supported(device, &call);
}
