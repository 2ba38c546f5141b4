/* SPDX-License-Identifier: Apache-2.0 */
#include "op_cases.h"

int op_case_dtype = AXLE_DTYPE_F64;

typedef axle_tensor *const *operands;

#define FN(name, expression)                                                                       \
    static axle_tensor *name(operands in, int n, void *user)                                       \
    {                                                                                              \
        (void)n, (void)user, (void)in;                                                             \
        return expression;                                                                         \
    }
#define A in[0]
#define B in[1]
#define C in[2]

#define UNARY_FN(name) FN(fn_##name, axle_##name(A))
#define UNARY_NAMES(X)                                                                             \
    X(neg)                                                                                         \
    X(abs)                                                                                         \
    X(square)                                                                                      \
    X(exp)                                                                                         \
    X(expm1)                                                                                       \
    X(sin)                                                                                         \
    X(cos)                                                                                         \
    X(atan)                                                                                        \
    X(sinh)                                                                                        \
    X(cosh)                                                                                        \
    X(tanh)                                                                                        \
    X(erf)                                                                                         \
    X(sigmoid)                                                                                     \
    X(log_sigmoid)                                                                                 \
    X(relu)                                                                                        \
    X(gelu)                                                                                        \
    X(gelu_tanh)                                                                                   \
    X(silu)                                                                                        \
    X(mish)                                                                                        \
    X(hard_sigmoid)                                                                                \
    X(hard_swish)                                                                                  \
    X(sign)                                                                                        \
    X(floor)                                                                                       \
    X(round)
#define POSITIVE_NAMES(X)                                                                          \
    X(sqrt)                                                                                        \
    X(rsqrt)                                                                                       \
    X(reciprocal)                                                                                  \
    X(log)                                                                                         \
    X(log1p)                                                                                       \
    X(log2)                                                                                        \
    X(log10)
#define UNIT_NAMES(X)                                                                              \
    X(asin)                                                                                        \
    X(acos)                                                                                        \
    X(tan)
UNARY_NAMES(UNARY_FN)
POSITIVE_NAMES(UNARY_FN)
UNIT_NAMES(UNARY_FN)

FN(leaky, axle_leaky_relu(A, 0.1))
FN(elu, axle_elu(A, 1.3))
FN(softplus, axle_softplus(A, 2.0, 20.0))
FN(clip, axle_clip(A, -0.71, 0.83))
FN(affine, axle_affine(A, -1.7, 0.3))
FN(power, axle_pow_scalar(A, 2.5))

FN(add, axle_add(A, B))
FN(add_scaled, axle_add_scaled(A, B, -0.4))
FN(sub, axle_sub(A, B))
FN(mul, axle_mul(A, B))
FN(mul_self, axle_mul(A, A))
FN(divide, axle_div(A, B))
FN(power2, axle_pow(A, B))
FN(maximum, axle_maximum(A, B))
FN(minimum, axle_minimum(A, B))
FN(atan2_, axle_atan2(A, B))
FN(remainder_, axle_remainder(A, B))
FN(fmod_, axle_fmod(A, B))
FN(choose, axle_where(axle_gt(A, B), axle_square(A), B))

FN(sum_middle, axle_sum(A, 1, (int[]){1}, 0))
FN(mean_ends, axle_mean(A, 2, (int[]){0, -1}, 1))
FN(prod_last, axle_prod(A, 1, (int[]){2}, 0))
FN(max_middle, axle_max(A, 1, (int[]){1}, 0))
FN(min_all, axle_min(A, 0, NULL, 0))
FN(var_last, axle_var(A, 1, (int[]){2}, 0, 1.0))
FN(norm1, axle_norm(A, 1, (int[]){0}, 0, 1))
FN(norm2, axle_norm(A, 2, (int[]){0, 2}, 0, 2))

FN(matmul, axle_matmul(A, B))
FN(linear, axle_linear(A, B, C))
FN(linear_relu, axle_linear_relu(A, B, C))

static axle_conv_params conv_params(int stride, int padding, int dilation, int groups, int relu)
{
    axle_conv_params p = AXLE_CONV_PARAMS_INIT;
    for (int k = 0; k < 3; k++) {
        p.stride[k] = stride;
        p.padding[k] = padding;
        p.dilation[k] = dilation;
    }
    p.groups = groups;
    p.relu = relu;
    return p;
}
#define CONV(...) (&(axle_conv_params[]){conv_params(__VA_ARGS__)}[0])
FN(conv_plain, axle_conv(A, B, C, CONV(1, 1, 1, 1, 0)))
FN(conv_strided, axle_conv(A, B, C, CONV(2, 1, 2, 1, 0)))
FN(conv_grouped, axle_conv(A, B, NULL, CONV(1, 0, 1, 2, 0)))
FN(conv_relu, axle_conv(A, B, C, CONV(1, 1, 1, 1, 1)))
FN(conv_transposed, axle_conv_transpose(A, B, C, CONV(2, 1, 1, 1, 0)))
FN(conv_transposed_grouped, axle_conv_transpose(A, B, NULL, CONV(2, 0, 1, 2, 0)))

static axle_pool_params pool_params(int kernel, int stride, int padding, int exclude)
{
    axle_pool_params p = AXLE_POOL_PARAMS_INIT;
    for (int k = 0; k < 3; k++) {
        p.kernel[k] = kernel;
        p.stride[k] = stride;
        p.padding[k] = padding;
    }
    p.exclude_padding = exclude;
    return p;
}
#define POOL(...) (&(axle_pool_params[]){pool_params(__VA_ARGS__)}[0])
FN(max_pool, axle_max_pool(A, POOL(3, 2, 1, 0)))
FN(avg_pool, axle_avg_pool(A, POOL(3, 2, 1, 0)))
FN(avg_pool_exclude, axle_avg_pool(A, POOL(3, 2, 1, 1)))
FN(adaptive_avg, axle_adaptive_avg_pool(A, (int64_t[]){2, 3}))
FN(adaptive_max, axle_adaptive_max_pool(A, (int64_t[]){3, 2}))
FN(interpolate, axle_interpolate(A, (int64_t[]){7, 4}))

FN(layer_norm, axle_layer_norm(A, 1, B, C, 1e-5))
FN(layer_norm_two, axle_layer_norm(A, 2, NULL, NULL, 1e-5))
FN(rms_norm, axle_rms_norm(A, B, 1e-6))
FN(batch_norm, axle_batch_norm(A, B, C, NULL, NULL, 1, 0.1, 1e-5))
FN(group_norm, axle_group_norm(A, 2, B, C, 1e-5))

FN(softmax, axle_softmax(A, 1))
FN(log_softmax, axle_log_softmax(A, -1))
FN(masked_softmax, axle_masked_softmax(A, axle_gt(B, axle_scalar(op_case_dtype, -0.3)), -1))
FN(attention, axle_attention(A, B, C, NULL, NULL))

static axle_tensor *causal_attention(operands in, int n, void *user)
{
    (void)n, (void)user;
    axle_attention_params p = AXLE_ATTENTION_PARAMS_INIT;
    p.causal = 1;
    p.scale = 0.7;
    return axle_attention(A, B, C, NULL, &p);
}

/* The same masks in every call: the stream is put back. */
static axle_tensor *with_dropout(operands in, int n, void *user)
{
    (void)n, (void)user;
    axle_random_state state = axle_random_get();
    axle_attention_params p = AXLE_ATTENTION_PARAMS_INIT;
    p.dropout = 0.3;
    axle_tensor *y = axle_dropout(axle_attention(A, B, C, NULL, &p), 0.4);
    axle_random_set(state);
    return y;
}

static axle_tensor *targets(int rank, const int64_t *dims, int64_t classes, int ignored)
{
    int64_t values[64], count = 1;
    for (int k = 0; k < rank; k++)
        count *= dims[k];
    for (int64_t i = 0; i < count; i++)
        values[i] = i == ignored ? -100 : (i * 5 + 1) % classes;
    return axle_from_data(AXLE_DTYPE_I64, rank, dims, values);
}

static axle_tensor *entropy(operands in, int reduction, double smoothing, axle_tensor *weight)
{
    axle_cross_entropy_params p = AXLE_CROSS_ENTROPY_PARAMS_INIT;
    const int64_t *dims = axle_tensor_dims(A);
    int64_t target[] = {dims[0], axle_tensor_rank(A) > 2 ? dims[2] : 1};
    p.reduction = reduction;
    p.label_smoothing = smoothing;
    p.weight = weight;
    return axle_cross_entropy(A, targets(axle_tensor_rank(A) - 1, target, dims[1], 1), &p);
}
FN(entropy_mean, entropy(in, AXLE_LOSS_MEAN, 0.0, NULL))
FN(entropy_smooth, entropy(in, AXLE_LOSS_SUM, 0.2, axle_arange(op_case_dtype, 0.5, 4.5, 1)))
FN(entropy_none, entropy(in, AXLE_LOSS_NONE, 0.0, NULL))
FN(bce, axle_bce_with_logits(A, B, NULL, NULL, AXLE_LOSS_MEAN))
FN(bce_weighted, axle_bce_with_logits(A, axle_sigmoid(B), axle_exp(C), axle_exp(C), AXLE_LOSS_SUM))
FN(mse, axle_mse_loss(A, B, AXLE_LOSS_MEAN))
FN(l1, axle_l1_loss(A, B, AXLE_LOSS_SUM))

static axle_tensor *indices(int64_t n, int64_t below)
{
    int64_t values[32];
    for (int64_t i = 0; i < n; i++)
        values[i] = (i * 3 + 1) % below;
    return axle_from_data(AXLE_DTYPE_I64, 1, &n, values);
}
FN(embedding, axle_embedding(A, axle_reshape(indices(6, 4), AXLE_DIMS(2, 3)), -1))
FN(embedding_padded, axle_index_select(axle_embedding(A, indices(3, 4), -1), 0, indices(3, 2)))
FN(gather, axle_gather(A, 1, axle_reshape(indices(6, 4), AXLE_DIMS(3, 2))))
FN(scatter_add, axle_scatter_add(A, 1, axle_reshape(indices(6, 4), AXLE_DIMS(3, 2)), B))
FN(scatter,
   axle_scatter(A, 1, axle_reshape(axle_arange(AXLE_DTYPE_I64, 0, 6, 1), AXLE_DIMS(1, 6)), B))
FN(index_select, axle_index_select(A, -2, indices(5, 3)))

FN(reshape, axle_square(axle_reshape(axle_transpose(A, 0, 2), AXLE_DIMS(-1, 3))))
FN(permute, axle_square(axle_permute(A, (int[]){2, 0, 1})))
FN(expand, axle_square(axle_expand(A, AXLE_DIMS(2, 3, 4))))
FN(slice, axle_square(axle_slice(A, 1, -3, 100, 2)))
FN(select_, axle_square(axle_select(A, -1, 1)))
FN(concat, axle_square(axle_concat((axle_tensor *[]){A, B, A}, 3, -1)))
FN(stack, axle_square(axle_stack((axle_tensor *[]){A, A}, 2, 1)))
FN(pad, axle_square(axle_pad(A, (int64_t[]){1, 0}, (int64_t[]){0, 2}, 0.5)))
FN(clone, axle_square(axle_clone(axle_transpose(A, 0, 1))))
FN(cast, axle_cast(axle_cast(axle_square(A), AXLE_DTYPE_F32), op_case_dtype))

#define P2(a, b)                                                                                   \
    {                                                                                              \
        2, {a, b}, ANY, false                                                                      \
    }
#define P3(a, b, c)                                                                                \
    {                                                                                              \
        3, {a, b, c}, ANY, false                                                                   \
    }
#define P4(a, b, c, d)                                                                             \
    {                                                                                              \
        4, {a, b, c, d}, ANY, false                                                                \
    }
#define POS2(a, b)                                                                                 \
    {                                                                                              \
        2, {a, b}, POSITIVE, false                                                                 \
    }
#define UNIT2(a, b)                                                                                \
    {                                                                                              \
        2, {a, b}, UNIT, false                                                                     \
    }
#define FAR2(a, b)                                                                                 \
    {                                                                                              \
        2, {a, b}, SPREAD, false                                                                   \
    }
#define FAR3(a, b, c)                                                                              \
    {                                                                                              \
        3, {a, b, c}, SPREAD, false                                                                \
    }
#define FAR4(a, b, c, d)                                                                           \
    {                                                                                              \
        4, {a, b, c, d}, SPREAD, false                                                             \
    }
#define TURNED2(a, b)                                                                              \
    {                                                                                              \
        2, {a, b}, ANY, true                                                                       \
    }
#define V(a)                                                                                       \
    {                                                                                              \
        1, {a}, ANY, false                                                                         \
    }

/* clang-format off */
const op_case op_cases[] = {
#define CASE(name, fn, n, ...) {name, fn, n, {__VA_ARGS__}, false},
#define LARGE(name, fn, n, ...) {name, fn, n, {__VA_ARGS__}, true},
#define ON_ANY(name) CASE(#name, fn_##name, 1, TURNED2(3, 5))
#define ON_POSITIVE(name) CASE(#name, fn_##name, 1, POS2(3, 5))
#define ON_UNIT(name) CASE(#name, fn_##name, 1, UNIT2(3, 5))
    UNARY_NAMES(ON_ANY) POSITIVE_NAMES(ON_POSITIVE) UNIT_NAMES(ON_UNIT)
    CASE("leaky_relu", leaky, 1, P2(3, 5))
    CASE("elu", elu, 1, P2(3, 5))
    CASE("softplus", softplus, 1, P2(3, 5))
    CASE("clip", clip, 1, P2(3, 5))
    CASE("affine", affine, 1, {0, {0}, ANY, false})
    CASE("pow_scalar", power, 1, POS2(3, 5))
    CASE("add, broadcast", add, 2, P3(2, 1, 3), P2(4, 1))
    CASE("add_scaled", add_scaled, 2, P2(2, 3), V(3))
    CASE("sub", sub, 2, P2(2, 3), P2(2, 1))
    CASE("mul, strided", mul, 2, TURNED2(4, 3), V(3))
    CASE("mul of a tensor with itself", mul_self, 1, P2(2, 3))
    CASE("div", divide, 2, P2(2, 3), POS2(2, 3))
    CASE("pow", power2, 2, POS2(2, 3), P2(1, 3))
    CASE("maximum", maximum, 2, FAR2(3, 4), P2(3, 1))
    CASE("minimum", minimum, 2, FAR2(3, 4), P2(3, 1))
    CASE("atan2", atan2_, 2, POS2(2, 3), P2(2, 3))
    CASE("remainder", remainder_, 2, P2(2, 3), POS2(2, 3))
    CASE("fmod", fmod_, 2, P2(2, 3), POS2(2, 3))
    CASE("where", choose, 2, FAR2(3, 4), P2(1, 4))
    CASE("sum", sum_middle, 1, P3(2, 3, 4))
    CASE("mean", mean_ends, 1, P3(2, 3, 4))
    CASE("prod", prod_last, 1, P3(2, 3, 4))
    CASE("max", max_middle, 1, FAR3(2, 3, 4))
    CASE("min", min_all, 1, FAR3(2, 3, 4))
    CASE("var", var_last, 1, P3(2, 3, 4))
    CASE("norm 1", norm1, 1, P3(2, 3, 4))
    CASE("norm 2", norm2, 1, P3(2, 3, 4))
    CASE("matmul", matmul, 2, TURNED2(3, 4), P2(4, 2))
    CASE("matmul, batched", matmul, 2, P3(2, 3, 4), P3(2, 4, 5))
    CASE("matmul, batch broadcast", matmul, 2, P4(2, 1, 3, 4), P3(3, 4, 2))
    CASE("matmul, one matrix for a batch", matmul, 2, P3(2, 3, 4), P2(4, 5))
    CASE("matmul of vectors", matmul, 2, V(4), V(4))
    CASE("matmul of matrix and vector", matmul, 2, P3(2, 3, 4), V(4))
    CASE("matmul over nothing", matmul, 2, P2(3, 0), P2(0, 2))
    CASE("linear", linear, 3, P3(2, 3, 4), P2(5, 4), V(5))
    CASE("linear, strided", linear, 3, TURNED2(3, 4), TURNED2(5, 4), V(5))
    CASE("linear_relu", linear_relu, 3, P2(3, 4), P2(5, 4), V(5))
    CASE("conv", conv_plain, 3, P4(2, 3, 5, 6), P4(4, 3, 3, 3), V(4))
    CASE("conv, strided and dilated", conv_strided, 3, P4(2, 3, 7, 8), P4(4, 3, 3, 2), V(4))
    CASE("conv, grouped", conv_grouped, 2, P4(2, 4, 5, 5), P4(6, 2, 2, 3))
    CASE("conv with relu", conv_relu, 3, P4(2, 3, 5, 6), P4(4, 3, 3, 3), V(4))
    CASE("conv1d", conv_plain, 3, P3(2, 3, 7), P3(4, 3, 3), V(4))
    CASE("conv_transpose", conv_transposed, 3, P4(2, 3, 4, 3), P4(3, 2, 3, 4), V(2))
    CASE("conv_transpose, grouped", conv_transposed_grouped, 2, P4(1, 4, 3, 3), P4(4, 3, 2, 2))
    CASE("max_pool", max_pool, 1, FAR4(2, 3, 7, 6))
    CASE("avg_pool", avg_pool, 1, P4(2, 3, 7, 6))
    CASE("avg_pool without padding", avg_pool_exclude, 1, P4(2, 3, 7, 6))
    CASE("adaptive_avg_pool", adaptive_avg, 1, P4(2, 3, 7, 5))
    CASE("adaptive_max_pool", adaptive_max, 1, FAR4(2, 3, 7, 5))
    CASE("interpolate", interpolate, 1, P4(2, 3, 3, 5))
    CASE("layer_norm", layer_norm, 3, P3(2, 3, 5), V(5), V(5))
    CASE("layer_norm over two dims", layer_norm_two, 1, P3(2, 3, 5))
    CASE("rms_norm", rms_norm, 2, P2(4, 6), V(6))
    CASE("batch_norm", batch_norm, 3, P4(3, 2, 2, 3), V(2), V(2))
    CASE("group_norm", group_norm, 3, P4(2, 4, 2, 3), V(4), V(4))
    CASE("softmax", softmax, 1, P3(2, 5, 3))
    CASE("log_softmax", log_softmax, 1, P2(3, 6))
    CASE("masked_softmax", masked_softmax, 2, P2(3, 6), FAR2(3, 6))
    CASE("attention", attention, 3, P4(2, 2, 3, 4), P4(2, 2, 5, 4), P4(2, 2, 5, 3))
    CASE("attention, causal", causal_attention, 3, P4(1, 2, 4, 3), P4(1, 2, 4, 3), P4(1, 2, 4, 2))
    CASE("attention and dropout", with_dropout, 3, P4(2, 1, 3, 2), P4(2, 1, 4, 2), P4(2, 1, 4, 3))
    CASE("cross_entropy", entropy_mean, 1, P2(4, 3))
    CASE("cross_entropy, smoothed and weighted", entropy_smooth, 1, P3(2, 4, 3))
    CASE("cross_entropy without reduction", entropy_none, 1, P3(2, 4, 3))
    CASE("bce_with_logits", bce, 2, P2(3, 4), UNIT2(3, 4))
    CASE("bce_with_logits, weighted", bce_weighted, 3, P2(3, 4), P2(3, 4), V(4))
    CASE("mse_loss", mse, 2, P2(3, 4), P2(3, 4))
    CASE("l1_loss", l1, 2, FAR2(3, 4), P2(1, 4))
    CASE("embedding", embedding, 1, P2(4, 3))
    CASE("embedding of an embedding's rows", embedding_padded, 1, P2(4, 3))
    CASE("gather", gather, 1, P2(3, 4))
    CASE("scatter_add", scatter_add, 2, P2(3, 4), P2(3, 2))
    CASE("scatter", scatter, 2, P2(1, 8), P2(1, 6))
    CASE("index_select", index_select, 1, P3(2, 3, 2))
    CASE("reshape of a transpose", reshape, 1, P3(2, 3, 4))
    CASE("permute", permute, 1, P3(2, 3, 4))
    CASE("expand", expand, 1, P2(3, 1))
    CASE("slice", slice, 1, P2(2, 7))
    CASE("select", select_, 1, P3(2, 3, 2))
    CASE("concat", concat, 2, P2(2, 3), P2(2, 1))
    CASE("stack", stack, 1, P2(2, 3))
    CASE("pad", pad, 1, P2(2, 3))
    CASE("clone", clone, 1, P2(2, 3))
        /* Sizes at which splits over vectors and threads have remainders, for the comparison of devices. */
    LARGE("cast through f32", cast, 1, P2(2, 3))
    LARGE("exp, many", fn_exp, 1, P2(37, 1031))
    LARGE("tanh, many and strided", fn_tanh, 1, TURNED2(211, 307))
    LARGE("gelu, many", fn_gelu, 1, P2(37, 1031))
    LARGE("mul, many, broadcast rows", mul, 2, P3(17, 33, 65), V(65))
    LARGE("add, many, broadcast columns", add, 2, P2(257, 129), P2(257, 1))
    LARGE("sum, many", sum_middle, 1, P3(9, 1025, 35))
    LARGE("mean, many", mean_ends, 1, P3(33, 9, 1025))
    LARGE("matmul, odd", matmul, 2, P2(67, 129), P2(129, 35))
    LARGE("matmul, turned", matmul, 2, TURNED2(67, 129), TURNED2(129, 35))
    LARGE("matmul, many batches", matmul, 2, P3(7, 33, 65), P3(7, 65, 17))
    LARGE("linear, odd", linear, 3, P2(65, 257), P2(129, 257), V(129))
    LARGE("linear_relu, odd", linear_relu, 3, P2(65, 257), P2(129, 257), V(129))
    LARGE("conv, one channel in", conv_plain, 3, P4(5, 1, 28, 27), P4(8, 1, 3, 3), V(8))
    LARGE("conv, many", conv_plain, 3, P4(3, 17, 15, 14), P4(33, 17, 3, 3), V(33))
    LARGE("conv, five out", conv_plain, 3, P4(2, 3, 7, 6), P4(5, 3, 3, 3), V(5))
    LARGE("conv, five in, eleven out", conv_plain, 3, P4(3, 5, 9, 8), P4(11, 5, 3, 3), V(11))
    LARGE("conv, many and strided", conv_strided, 3, P4(3, 16, 17, 14), P4(32, 16, 3, 3), V(32))
    LARGE("conv_transpose, many", conv_transposed, 3, P4(3, 16, 7, 9), P4(16, 8, 3, 3), V(8))
    LARGE("max_pool, many", max_pool, 1, FAR4(2, 9, 29, 31))
    LARGE("layer_norm, many", layer_norm, 3, P3(5, 13, 768), V(768), V(768))
    LARGE("rms_norm, many", rms_norm, 2, P2(65, 511), V(511))
    LARGE("batch_norm, many", batch_norm, 3, P4(9, 17, 13, 11), V(17), V(17))
    LARGE("group_norm, many", group_norm, 3, P4(5, 16, 9, 11), V(16), V(16))
    LARGE("softmax, many", softmax, 1, P3(5, 257, 9))
    LARGE("log_softmax, wide", log_softmax, 1, P2(3, 30522))
    LARGE("attention, many", attention, 3, P4(2, 3, 65, 32), P4(2, 3, 67, 32), P4(2, 3, 67, 33))
    LARGE("attention, causal, many", causal_attention, 3, P4(1, 2, 129, 16), P4(1, 2, 129, 16), P4(1, 2, 129, 16))
    LARGE("attention and dropout, many", with_dropout, 3, P4(3, 2, 33, 8), P4(3, 2, 34, 8), P4(3, 2, 34, 8))
};
/* clang-format on */

const int op_case_count = sizeof(op_cases) / sizeof(op_cases[0]);

/* Normal numbers; spread ones lie 0.03 or more apart, so that extremes and comparisons do not flip.
 */
axle_tensor *op_case_operand(const op_operand *o)
{
    int64_t dims[5];
    for (int k = 0; k < o->rank; k++)
        dims[k] = o->dims[k];
    if (o->transposed) {
        dims[o->rank - 2] = o->dims[o->rank - 1];
        dims[o->rank - 1] = o->dims[o->rank - 2];
    }
    axle_device *device = axle_device_current();
    axle_device_push(axle_device_host());
    axle_tensor *x = axle_randn(AXLE_DTYPE_F64, o->rank, dims);
    if (o->domain == POSITIVE)
        x = axle_add_scalar(axle_abs(x), 0.3);
    if (o->domain == UNIT)
        x = axle_mul_scalar(axle_sigmoid(x), 0.8);
    if (o->domain == SPREAD) {
        x = axle_arange(AXLE_DTYPE_F64, 0, (double)axle_tensor_count(x), 1);
        x = axle_remainder(axle_mul_scalar(x, 0.6180339887), axle_scalar(AXLE_DTYPE_F64, 1.0));
        x = axle_reshape(axle_affine(x, 4.0, -1.97), o->rank, dims);
    }
    axle_device_pop();
    x = axle_detach(axle_to_device(axle_cast(x, op_case_dtype), device));
    if (o->transposed)
        x = axle_transpose(x, -2, -1);
    return x && !axle_tensor_set_requires_grad(x, 1) ? x : NULL;
}
