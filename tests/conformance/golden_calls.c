/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/golden_calls.h"

#include <math.h>
#include <string.h>

#include "support/golden.h"

/* Shared by all adapters below: `self`, the case, its inputs and its outputs. */
#define CALL(name)                                                                                 \
    static int name(const golden_call *self, const json_t *one, axle_tensor **in, axle_tensor **out)

/* ------------------------------------------------------------------ elementwise */

CALL(call_unary)
{
    (void)one;
    out[0] = self->fn.unary(in[0]);
    return 1;
}

CALL(call_parametric)
{
    double a = golden_number(one, "alpha", 0.0), b = golden_number(one, "beta", 0.0);
    const struct {
        const char *op;
        axle_tensor *(*one_number)(axle_tensor *x, double a);
        axle_tensor *(*two_numbers)(axle_tensor *x, double a, double b);
    } table[] = {
        {"leaky_relu", axle_leaky_relu, NULL},
        {"elu", axle_elu, NULL},
        {"pow_scalar", axle_pow_scalar, NULL},
        {"softplus", NULL, axle_softplus},
        {"clip", NULL, axle_clip},
        {"affine", NULL, axle_affine},
    };
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
        if (strcmp(table[k].op, self->op) == 0)
            out[0] = table[k].one_number ? table[k].one_number(in[0], a)
                                         : table[k].two_numbers(in[0], a, b);
    return 1;
}

CALL(call_binary)
{
    double alpha = golden_number(one, "alpha", 1.0);
    out[0] = alpha == 1.0 ? self->fn.binary(in[0], in[1]) : axle_add_scaled(in[0], in[1], alpha);
    return 1;
}

CALL(call_bce_element)
{
    (void)self;
    (void)one;
    out[0] = axle_bce_with_logits(in[0], in[1], NULL, NULL, AXLE_LOSS_NONE);
    return 1;
}

CALL(call_where)
{
    (void)self;
    (void)one;
    out[0] = axle_where(in[0], in[1], in[2]);
    return 1;
}

CALL(call_clip)
{
    (void)self;
    out[0] =
        axle_clip(in[0], golden_number(one, "min", -INFINITY), golden_number(one, "max", INFINITY));
    return 1;
}

/* ------------------------------------------------------------------ reductions */

CALL(call_reduce)
{
    int axes[AXLE_MAX_RANK], n = golden_int_list(one, "axes", axes, AXLE_MAX_RANK);
    out[0] = self->fn.reduce(in[0], n, n ? axes : NULL, golden_flag(one, "keepdim"));
    return 1;
}

CALL(call_var)
{
    int axes[AXLE_MAX_RANK], n = golden_int_list(one, "axes", axes, AXLE_MAX_RANK);
    (void)self;
    out[0] = axle_var(in[0], n, n ? axes : NULL, golden_flag(one, "keepdim"),
                      golden_number(one, "correction", 1.0));
    return 1;
}

CALL(call_norm_reduction)
{
    int axes[AXLE_MAX_RANK], n = golden_int_list(one, "axes", axes, AXLE_MAX_RANK);
    out[0] = axle_norm(in[0], n, n ? axes : NULL, golden_flag(one, "keepdim"), self->fn.norm);
    return 1;
}

CALL(call_position)
{
    bool all = golden_is_null(one, "axis");
    axle_tensor *x = all ? axle_reshape(in[0], 1, (const int64_t[]){-1}) : in[0];
    out[0] = self->fn.position(x, golden_integer(one, "axis", 0), golden_flag(one, "keepdim"));
    return 1;
}

/* ------------------------------------------------------------------ products, softmax, attention
 */

CALL(call_matmul)
{
    (void)self;
    axle_tensor *a = golden_flag(one, "transpose_a") ? axle_transpose(in[0], -2, -1) : in[0];
    axle_tensor *b = golden_flag(one, "transpose_b") ? axle_transpose(in[1], -2, -1) : in[1];
    out[0] = axle_matmul(a, b);
    return 1;
}

CALL(call_linear)
{
    (void)self;
    (void)one;
    out[0] = axle_linear(in[0], in[1], in[2]);
    return 1;
}

CALL(call_along)
{
    out[0] = self->fn.along(in[0], golden_integer(one, "axis", -1));
    return 1;
}

CALL(call_masked_softmax)
{
    (void)self;
    if (golden_flag(one, "causal") || !in[1] || axle_tensor_dtype(in[1]) != AXLE_DTYPE_BOOL)
        return GOLDEN_NO_SUCH_FORM;
    double scale = golden_number(one, "scale", 1.0);
    axle_tensor *x = scale == 1.0 ? in[0] : axle_mul_scalar(in[0], scale);
    out[0] = axle_masked_softmax(x, in[1], golden_integer(one, "axis", -1));
    return 1;
}

CALL(call_attention)
{
    (void)self;
    axle_attention_params params = AXLE_ATTENTION_PARAMS_INIT;
    params.causal = golden_flag(one, "causal");
    params.scale = golden_number(one, "scale", 0.0);
    out[0] = axle_attention(in[0], in[1], in[2], in[3], &params);
    return 1;
}

/* ------------------------------------------------------------------ losses */

static int reduction_of(const json_t *one)
{
    const char *name = golden_text(one, "reduction");
    if (strcmp(name, "none") == 0)
        return AXLE_LOSS_NONE;
    return strcmp(name, "sum") == 0 ? AXLE_LOSS_SUM : AXLE_LOSS_MEAN;
}

CALL(call_cross_entropy)
{
    (void)self;
    axle_cross_entropy_params params = AXLE_CROSS_ENTROPY_PARAMS_INIT;
    params.reduction = reduction_of(one);
    params.ignore_index = golden_integer(one, "ignore_index", -100);
    params.label_smoothing = golden_number(one, "label_smoothing", 0.0);
    params.weight = in[2];
    out[0] = axle_cross_entropy(in[0], in[1], &params);
    return 1;
}

CALL(call_bce)
{
    (void)self;
    out[0] = axle_bce_with_logits(in[0], in[1], in[2], in[3], reduction_of(one));
    return 1;
}

CALL(call_loss)
{
    out[0] = self->fn.loss(in[0], in[1], reduction_of(one));
    return 1;
}

/* ------------------------------------------------------------------ normalisation */

CALL(call_layer_norm)
{
    int64_t dims[AXLE_MAX_RANK];
    (void)self;
    int n = golden_list(one, "normalized_shape", dims, AXLE_MAX_RANK);
    out[0] = axle_layer_norm(in[0], n, in[1], in[2], golden_number(one, "eps", 0.0));
    return 1;
}

CALL(call_rms_norm)
{
    (void)self;
    out[0] = axle_rms_norm(in[0], in[1], golden_number(one, "eps", 0.0));
    return 1;
}

CALL(call_batch_norm)
{
    (void)self;
    out[0] = axle_batch_norm(in[0], in[1], in[2], in[3], in[4], golden_flag(one, "training"),
                             golden_number(one, "momentum", 0.1), golden_number(one, "eps", 0.0));
    out[1] = in[3];
    out[2] = in[4];
    return 3;
}

CALL(call_group_norm)
{
    (void)self;
    out[0] = axle_group_norm(in[0], golden_integer(one, "groups", 1), in[1], in[2],
                             golden_number(one, "eps", 0.0));
    return 1;
}

/* ------------------------------------------------------------------ indexing and shapes */

CALL(call_embedding)
{
    (void)self;
    out[0] = axle_embedding(in[0], in[1], golden_integer(one, "padding_idx", -1));
    return 1;
}

CALL(call_take)
{
    out[0] = self->fn.take(in[0], golden_integer(one, "axis", 0), in[1]);
    return 1;
}

CALL(call_put)
{
    out[0] = self->fn.put(in[0], golden_integer(one, "axis", 0), in[1], in[2]);
    return 1;
}

CALL(call_one_hot)
{
    (void)self;
    out[0] = axle_one_hot(in[0], golden_integer(one, "num_classes", 1), AXLE_DTYPE_I64);
    return 1;
}

CALL(call_join)
{
    out[0] = self->fn.join(in, (int)golden_input_count(one), golden_integer(one, "axis", 0));
    return 1;
}

CALL(call_slice)
{
    (void)self;
    out[0] = axle_slice(in[0], golden_integer(one, "axis", 0), golden_integer(one, "start", 0),
                        golden_integer(one, "stop", 0), golden_integer(one, "step", 1));
    return 1;
}

CALL(call_permute)
{
    int order[AXLE_MAX_RANK];
    (void)self;
    golden_int_list(one, "axes", order, AXLE_MAX_RANK);
    out[0] = axle_permute(in[0], order);
    return 1;
}

CALL(call_pad)
{
    int64_t before[AXLE_MAX_RANK] = {0}, after[AXLE_MAX_RANK] = {0};
    (void)self;
    const json_t *pads = json_object_get(json_object_get(one, "attrs"), "pads");
    for (size_t k = 0; k < json_array_size(pads) && k < AXLE_MAX_RANK; k++) {
        before[k] = json_integer_value(json_array_get(json_array_get(pads, k), 0));
        after[k] = json_integer_value(json_array_get(json_array_get(pads, k), 1));
    }
    out[0] = axle_pad(in[0], before, after, golden_number(one, "value", 0.0));
    return 1;
}

/* ------------------------------------------------------------------ convolution and pooling */

CALL(call_conv)
{
    axle_conv_params params = AXLE_CONV_PARAMS_INIT;
    golden_int_list(one, "stride", params.stride, 3);
    golden_int_list(one, "padding", params.padding, 3);
    golden_int_list(one, "dilation", params.dilation, 3);
    golden_int_list(one, "output_padding", params.output_padding, 3);
    params.groups = golden_integer(one, "groups", 1);
    out[0] = self->fn.conv(in[0], in[1], in[2], &params);
    return 1;
}

CALL(call_pool)
{
    axle_pool_params params = AXLE_POOL_PARAMS_INIT;
    golden_int_list(one, "kernel", params.kernel, 3);
    golden_int_list(one, "stride", params.stride, 3);
    golden_int_list(one, "padding", params.padding, 3);
    golden_int_list(one, "dilation", params.dilation, 3);
    params.ceil_mode = golden_flag(one, "ceil_mode");
    params.exclude_padding =
        self->fn.pool == axle_avg_pool && !golden_flag(one, "count_include_pad");
    out[0] = self->fn.pool(in[0], &params);
    return 1;
}

CALL(call_resize)
{
    int64_t size[3] = {0};
    golden_list(one, "output_size", size, 3);
    out[0] = self->fn.resize(in[0], size);
    return 1;
}

/* ------------------------------------------------------------------ the table */

#define ROW(a, b, ...)                                                                             \
    {                                                                                              \
        .family = a, .op = b, .call = __VA_ARGS__                                                  \
    }
#define UNARY(name) ROW("unary", #name, call_unary, .fn.unary = axle_##name)
#define PARAMETRIC(name) ROW("unary", #name, call_parametric)
#define BINARY(name) ROW("binary", #name, call_binary, .fn.binary = axle_##name)
#define REDUCE(name) ROW("reduce", #name, call_reduce, .fn.reduce = axle_##name)
#define OWN(family, name) ROW(family, #name, call_##name)
#define NONE(family, name) ROW(family, #name, NULL)

static const golden_call calls[] = {
    UNARY(neg),
    UNARY(abs),
    UNARY(sign),
    UNARY(square),
    UNARY(sqrt),
    UNARY(rsqrt),
    UNARY(reciprocal),
    UNARY(exp),
    UNARY(expm1),
    UNARY(log),
    UNARY(log1p),
    UNARY(log2),
    UNARY(log10),
    UNARY(sin),
    UNARY(cos),
    UNARY(tan),
    UNARY(asin),
    UNARY(acos),
    UNARY(atan),
    UNARY(sinh),
    UNARY(cosh),
    UNARY(tanh),
    UNARY(erf),
    UNARY(sigmoid),
    UNARY(log_sigmoid),
    UNARY(relu),
    UNARY(gelu),
    UNARY(gelu_tanh),
    UNARY(silu),
    UNARY(mish),
    /* PyTorch multiplies by a sixth that it has rounded to f32. */
    ROW("unary", "hard_sigmoid", call_unary, .fn.unary = axle_hard_sigmoid, .grads = 1e-7),
    UNARY(hard_swish),
    UNARY(floor),
    UNARY(ceil),
    UNARY(round),
    UNARY(trunc),
    UNARY(logical_not),
    UNARY(is_nan),
    UNARY(is_inf),
    UNARY(is_finite),
    PARAMETRIC(leaky_relu),
    PARAMETRIC(elu),
    PARAMETRIC(softplus),
    PARAMETRIC(clip),
    PARAMETRIC(affine),
    PARAMETRIC(pow_scalar),
    BINARY(add),
    BINARY(sub),
    BINARY(mul),
    BINARY(div),
    BINARY(pow),
    BINARY(maximum),
    BINARY(minimum),
    BINARY(atan2),
    BINARY(remainder),
    BINARY(fmod),
    BINARY(eq),
    BINARY(ne),
    BINARY(lt),
    BINARY(le),
    BINARY(gt),
    BINARY(ge),
    BINARY(logical_and),
    BINARY(logical_or),
    BINARY(logical_xor),
    ROW("binary", "bce_with_logits", call_bce_element),
    OWN("select", where),
    OWN("select", clip),
    REDUCE(sum),
    REDUCE(mean),
    REDUCE(prod),
    REDUCE(max),
    REDUCE(min),
    REDUCE(any),
    REDUCE(all),
    OWN("reduce", var),
    ROW("reduce", "norm1", call_norm_reduction, .fn.norm = 1),
    ROW("reduce", "norm2", call_norm_reduction, .fn.norm = 2),
    NONE("reduce", sum_squares),
    ROW("arg_reduce", "argmax", call_position, .fn.position = axle_argmax),
    ROW("arg_reduce", "argmin", call_position, .fn.position = axle_argmin),
    OWN("matmul", matmul),
    OWN("matmul", linear),
    ROW("softmax", "softmax", call_along, .fn.along = axle_softmax),
    ROW("softmax", "log_softmax", call_along, .fn.along = axle_log_softmax),
    OWN("softmax", masked_softmax),
    NONE("softmax", masked_log_softmax),
    OWN("attention", attention),
    OWN("loss", cross_entropy),
    ROW("loss", "bce_with_logits", call_bce),
    ROW("loss", "mse", call_loss, .fn.loss = axle_mse_loss),
    ROW("loss", "l1", call_loss, .fn.loss = axle_l1_loss),
    NONE("loss", smooth_l1),
    NONE("loss", huber),
    /* A case has a mean a thousand times the deviation. */
    ROW("norm", "layer_norm", call_layer_norm, .single = 1e-3),
    OWN("norm", rms_norm),
    OWN("norm", batch_norm),
    OWN("norm", group_norm),
    OWN("index", embedding),
    ROW("index", "gather", call_take, .fn.take = axle_gather),
    ROW("index", "index_select", call_take, .fn.take = axle_index_select),
    ROW("index", "scatter", call_put, .fn.put = axle_scatter),
    ROW("index", "scatter_add", call_put, .fn.put = axle_scatter_add),
    NONE("index", index_add),
    OWN("index", one_hot),
    ROW("shape", "concat", call_join, .fn.join = axle_concat),
    ROW("shape", "stack", call_join, .fn.join = axle_stack),
    OWN("shape", slice),
    OWN("shape", permute),
    OWN("shape", pad),
    ROW("conv", "conv1d", call_conv, .fn.conv = axle_conv),
    ROW("conv", "conv2d", call_conv, .fn.conv = axle_conv),
    ROW("conv", "conv3d", call_conv, .fn.conv = axle_conv),
    ROW("conv", "conv_transpose1d", call_conv, .fn.conv = axle_conv_transpose),
    ROW("conv", "conv_transpose2d", call_conv, .fn.conv = axle_conv_transpose),
    ROW("pool", "max_pool1d", call_pool, .fn.pool = axle_max_pool),
    ROW("pool", "max_pool2d", call_pool, .fn.pool = axle_max_pool),
    ROW("pool", "max_pool3d", call_pool, .fn.pool = axle_max_pool),
    ROW("pool", "avg_pool1d", call_pool, .fn.pool = axle_avg_pool),
    ROW("pool", "avg_pool2d", call_pool, .fn.pool = axle_avg_pool),
    ROW("pool", "avg_pool3d", call_pool, .fn.pool = axle_avg_pool),
    ROW("pool", "adaptive_avg_pool1d", call_resize, .fn.resize = axle_adaptive_avg_pool),
    ROW("pool", "adaptive_avg_pool2d", call_resize, .fn.resize = axle_adaptive_avg_pool),
    ROW("pool", "adaptive_max_pool1d", call_resize, .fn.resize = axle_adaptive_max_pool),
    ROW("pool", "adaptive_max_pool2d", call_resize, .fn.resize = axle_adaptive_max_pool),
    ROW("interpolate", "interpolate", call_resize, .fn.resize = axle_interpolate),
};

const golden_call *golden_call_find(const char *family, const char *op)
{
    for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++)
        if (strcmp(calls[k].family, family) == 0 && strcmp(calls[k].op, op) == 0)
            return &calls[k];
    return NULL;
}
