/* SPDX-License-Identifier: Apache-2.0 */
/* Every differentiable operator against central finite differences, in f64 on the reference backend. */
#include <stdbool.h>
#include <stdio.h>

#include "axle/axle.h"
#include "unit.h"

typedef axle_tensor *const *operands;

/* Operands are normal by default; these keep an operator away from its poles and corners. */
typedef enum domain { ANY, POSITIVE, UNIT, SPREAD } domain;

typedef struct operand {
    int rank;
    int64_t dims[5];
    domain domain;
    bool transposed; /* its last two dims are stored swapped */
} operand;

typedef struct case_of {
    const char *name;
    axle_tensor_fn fn;
    int n;
    operand operand[3];
} case_of;

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
    X(neg) X(abs) X(square) X(exp) X(expm1) X(sin) X(cos) X(atan) X(sinh) X(cosh) X(tanh) X(erf)   \
    X(sigmoid) X(log_sigmoid) X(relu) X(gelu) X(gelu_tanh) X(silu) X(mish) X(hard_sigmoid)         \
    X(hard_swish) X(sign) X(floor) X(round)
#define POSITIVE_NAMES(X) X(sqrt) X(rsqrt) X(reciprocal) X(log) X(log1p) X(log2) X(log10)
#define UNIT_NAMES(X) X(asin) X(acos) X(tan)
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
FN(masked_softmax, axle_masked_softmax(A, axle_gt(B, axle_scalar(AXLE_DTYPE_F64, -0.3)), -1))
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
FN(entropy_smooth, entropy(in, AXLE_LOSS_SUM, 0.2, axle_arange(AXLE_DTYPE_F64, 0.5, 4.5, 1)))
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
FN(scatter, axle_scatter(A, 1, axle_reshape(axle_arange(AXLE_DTYPE_I64, 0, 6, 1), AXLE_DIMS(1, 6)), B))
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
FN(cast, axle_cast(axle_square(A), AXLE_DTYPE_F64))

#define P2(a, b) {2, {a, b}, ANY, false}
#define P3(a, b, c) {3, {a, b, c}, ANY, false}
#define P4(a, b, c, d) {4, {a, b, c, d}, ANY, false}
#define POS2(a, b) {2, {a, b}, POSITIVE, false}
#define UNIT2(a, b) {2, {a, b}, UNIT, false}
#define FAR2(a, b) {2, {a, b}, SPREAD, false}
#define FAR3(a, b, c) {3, {a, b, c}, SPREAD, false}
#define FAR4(a, b, c, d) {4, {a, b, c, d}, SPREAD, false}
#define TURNED2(a, b) {2, {a, b}, ANY, true}
#define V(a) {1, {a}, ANY, false}

static const case_of cases[] = {
#define ON_ANY(name) {#name, fn_##name, 1, {TURNED2(3, 5)}},
#define ON_POSITIVE(name) {#name, fn_##name, 1, {POS2(3, 5)}},
#define ON_UNIT(name) {#name, fn_##name, 1, {UNIT2(3, 5)}},
    UNARY_NAMES(ON_ANY) POSITIVE_NAMES(ON_POSITIVE) UNIT_NAMES(ON_UNIT)
    {"leaky_relu", leaky, 1, {P2(3, 5)}},
    {"elu", elu, 1, {P2(3, 5)}},
    {"softplus", softplus, 1, {P2(3, 5)}},
    {"clip", clip, 1, {P2(3, 5)}},
    {"affine", affine, 1, {{0, {0}, ANY, false}}},
    {"pow_scalar", power, 1, {POS2(3, 5)}},
    {"add, broadcast", add, 2, {P3(2, 1, 3), P2(4, 1)}},
    {"add_scaled", add_scaled, 2, {P2(2, 3), V(3)}},
    {"sub", sub, 2, {P2(2, 3), P2(2, 1)}},
    {"mul, strided", mul, 2, {TURNED2(4, 3), V(3)}},
    {"mul of a tensor with itself", mul_self, 1, {P2(2, 3)}},
    {"div", divide, 2, {P2(2, 3), POS2(2, 3)}},
    {"pow", power2, 2, {POS2(2, 3), P2(1, 3)}},
    {"maximum", maximum, 2, {FAR2(3, 4), P2(3, 1)}},
    {"minimum", minimum, 2, {FAR2(3, 4), P2(3, 1)}},
    {"atan2", atan2_, 2, {POS2(2, 3), P2(2, 3)}},
    {"remainder", remainder_, 2, {P2(2, 3), POS2(2, 3)}},
    {"fmod", fmod_, 2, {P2(2, 3), POS2(2, 3)}},
    {"where", choose, 2, {FAR2(3, 4), P2(1, 4)}},
    {"sum", sum_middle, 1, {P3(2, 3, 4)}},
    {"mean", mean_ends, 1, {P3(2, 3, 4)}},
    {"prod", prod_last, 1, {P3(2, 3, 4)}},
    {"max", max_middle, 1, {FAR3(2, 3, 4)}},
    {"min", min_all, 1, {FAR3(2, 3, 4)}},
    {"var", var_last, 1, {P3(2, 3, 4)}},
    {"norm 1", norm1, 1, {P3(2, 3, 4)}},
    {"norm 2", norm2, 1, {P3(2, 3, 4)}},
    {"matmul", matmul, 2, {TURNED2(3, 4), P2(4, 2)}},
    {"matmul, batched", matmul, 2, {P3(2, 3, 4), P3(2, 4, 5)}},
    {"matmul, batch broadcast", matmul, 2, {P4(2, 1, 3, 4), P3(3, 4, 2)}},
    {"matmul, one matrix for a batch", matmul, 2, {P3(2, 3, 4), P2(4, 5)}},
    {"matmul of vectors", matmul, 2, {V(4), V(4)}},
    {"matmul of matrix and vector", matmul, 2, {P3(2, 3, 4), V(4)}},
    {"matmul over nothing", matmul, 2, {P2(3, 0), P2(0, 2)}},
    {"linear", linear, 3, {P3(2, 3, 4), P2(5, 4), V(5)}},
    {"linear, strided", linear, 3, {TURNED2(3, 4), TURNED2(5, 4), V(5)}},
    {"linear_relu", linear_relu, 3, {P2(3, 4), P2(5, 4), V(5)}},
    {"conv", conv_plain, 3, {P4(2, 3, 5, 6), P4(4, 3, 3, 3), V(4)}},
    {"conv, strided and dilated", conv_strided, 3, {P4(2, 3, 7, 8), P4(4, 3, 3, 2), V(4)}},
    {"conv, grouped", conv_grouped, 2, {P4(2, 4, 5, 5), P4(6, 2, 2, 3)}},
    {"conv with relu", conv_relu, 3, {P4(2, 3, 5, 6), P4(4, 3, 3, 3), V(4)}},
    {"conv1d", conv_plain, 3, {P3(2, 3, 7), P3(4, 3, 3), V(4)}},
    {"conv_transpose", conv_transposed, 3, {P4(2, 3, 4, 3), P4(3, 2, 3, 4), V(2)}},
    {"conv_transpose, grouped", conv_transposed_grouped, 2, {P4(1, 4, 3, 3), P4(4, 3, 2, 2)}},
    {"max_pool", max_pool, 1, {FAR4(2, 3, 7, 6)}},
    {"avg_pool", avg_pool, 1, {P4(2, 3, 7, 6)}},
    {"avg_pool without padding", avg_pool_exclude, 1, {P4(2, 3, 7, 6)}},
    {"adaptive_avg_pool", adaptive_avg, 1, {P4(2, 3, 7, 5)}},
    {"adaptive_max_pool", adaptive_max, 1, {FAR4(2, 3, 7, 5)}},
    {"interpolate", interpolate, 1, {P4(2, 3, 3, 5)}},
    {"layer_norm", layer_norm, 3, {P3(2, 3, 5), V(5), V(5)}},
    {"layer_norm over two dims", layer_norm_two, 1, {P3(2, 3, 5)}},
    {"rms_norm", rms_norm, 2, {P2(4, 6), V(6)}},
    {"batch_norm", batch_norm, 3, {P4(3, 2, 2, 3), V(2), V(2)}},
    {"group_norm", group_norm, 3, {P4(2, 4, 2, 3), V(4), V(4)}},
    {"softmax", softmax, 1, {P3(2, 5, 3)}},
    {"log_softmax", log_softmax, 1, {P2(3, 6)}},
    {"masked_softmax", masked_softmax, 2, {P2(3, 6), FAR2(3, 6)}},
    {"attention", attention, 3, {P4(2, 2, 3, 4), P4(2, 2, 5, 4), P4(2, 2, 5, 3)}},
    {"attention, causal", causal_attention, 3, {P4(1, 2, 4, 3), P4(1, 2, 4, 3), P4(1, 2, 4, 2)}},
    {"attention and dropout", with_dropout, 3, {P4(2, 1, 3, 2), P4(2, 1, 4, 2), P4(2, 1, 4, 3)}},
    {"cross_entropy", entropy_mean, 1, {P2(4, 3)}},
    {"cross_entropy, smoothed and weighted", entropy_smooth, 1, {P3(2, 4, 3)}},
    {"cross_entropy without reduction", entropy_none, 1, {P3(2, 4, 3)}},
    {"bce_with_logits", bce, 2, {P2(3, 4), UNIT2(3, 4)}},
    {"bce_with_logits, weighted", bce_weighted, 3, {P2(3, 4), P2(3, 4), V(4)}},
    {"mse_loss", mse, 2, {P2(3, 4), P2(3, 4)}},
    {"l1_loss", l1, 2, {FAR2(3, 4), P2(1, 4)}},
    {"embedding", embedding, 1, {P2(4, 3)}},
    {"embedding of an embedding's rows", embedding_padded, 1, {P2(4, 3)}},
    {"gather", gather, 1, {P2(3, 4)}},
    {"scatter_add", scatter_add, 2, {P2(3, 4), P2(3, 2)}},
    {"scatter", scatter, 2, {P2(1, 8), P2(1, 6)}},
    {"index_select", index_select, 1, {P3(2, 3, 2)}},
    {"reshape of a transpose", reshape, 1, {P3(2, 3, 4)}},
    {"permute", permute, 1, {P3(2, 3, 4)}},
    {"expand", expand, 1, {P2(3, 1)}},
    {"slice", slice, 1, {P2(2, 7)}},
    {"select", select_, 1, {P3(2, 3, 2)}},
    {"concat", concat, 2, {P2(2, 3), P2(2, 1)}},
    {"stack", stack, 1, {P2(2, 3)}},
    {"pad", pad, 1, {P2(2, 3)}},
    {"clone", clone, 1, {P2(2, 3)}},
    {"cast", cast, 1, {P2(2, 3)}},
};

/* Normal numbers; spread ones lie 0.03 or more apart, so that extremes and comparisons do not flip. */
static axle_tensor *make(const operand *o)
{
    int64_t dims[5];
    for (int k = 0; k < o->rank; k++)
        dims[k] = o->dims[k];
    if (o->transposed) {
        dims[o->rank - 2] = o->dims[o->rank - 1];
        dims[o->rank - 1] = o->dims[o->rank - 2];
    }
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
    x = axle_detach(x);
    if (o->transposed)
        x = axle_transpose(x, -2, -1);
    if (x)
        assert_int_equal(axle_tensor_set_requires_grad(x, 1), AXLE_OK);
    return x;
}

static void check_gradient(void **state)
{
    const case_of *c = *state;
    axle_tensor *in[3] = {NULL};
    axle_scope_push();
    axle_seed(11);
    for (int k = 0; k < c->n; k++)
        assert_non_null(in[k] = make(&c->operand[k]));
    int status = axle_gradcheck(c->fn, in, c->n, NULL, NULL);
    if (status)
        print_error("%s\n", axle_error_message());
    axle_error_clear();
    axle_scope_pop();
    assert_int_equal(status, AXLE_OK);
}

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

int main(void)
{
    static struct CMUnitTest tests[CASES];
    static char names[CASES][80];
    axle_device_set_default(axle_device_host());
    for (int k = 0; k < CASES; k++) {
        snprintf(names[k], sizeof(names[k]), "the gradient of %s is its slope", cases[k].name);
        tests[k] = (struct CMUnitTest){names[k], check_gradient, NULL, NULL, (void *)&cases[k]};
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
