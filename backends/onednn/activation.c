/* SPDX-License-Identifier: Apache-2.0 */
#include "activation.h"

#include "axle/backend_ops.h"

#include <math.h>

static float identity(float x)
{
    return x;
}

/* Written so that NaN stays NaN. */
static float relu(float x)
{
    return x <= 0.0f ? 0.0f : x;
}

static float gelu(float x)
{
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
}

static float gelu_tanh(float x)
{
    return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

static float silu(float x)
{
    return x / (1.0f + expf(-x));
}

typedef struct activation {
    activation_fn function;
    dnnl_alg_kind_t algorithm;
    float alpha;
} activation;

/* oneDNN's relu turns NaN into 0 and so would hide a training run that diverges; it has to be
 * applied afterwards. */
static const activation table[AXLE_UNARY_LIMIT] = {
    [0] = {identity, dnnl_alg_kind_undef, 0.0f},
    [AXLE_UNARY_RELU] = {relu, dnnl_alg_kind_undef, 0.0f},
    [AXLE_UNARY_GELU] = {gelu, dnnl_eltwise_gelu_erf, 0.0f},
    [AXLE_UNARY_GELU_TANH] = {gelu_tanh, dnnl_eltwise_gelu_tanh, 0.0f},
    [AXLE_UNARY_SIGMOID] = {sigmoid, dnnl_eltwise_logistic, 0.0f},
    [AXLE_UNARY_TANH] = {tanhf, dnnl_eltwise_tanh, 0.0f},
    [AXLE_UNARY_SILU] = {silu, dnnl_eltwise_swish, 1.0f},
};

int activation_is_known(uint32_t kind)
{
    return kind < AXLE_UNARY_LIMIT && table[kind].function != NULL;
}

activation_fn activation_function(uint32_t kind)
{
    return table[kind].function;
}

int activation_is_fused(uint32_t kind)
{
    return kind == 0 || table[kind].algorithm != dnnl_alg_kind_undef;
}

void activation_append(dnn_post_ops *post, uint32_t kind)
{
    if (table[kind].algorithm != dnnl_alg_kind_undef)
        post->op[post->count++] =
            (dnn_post_op){dnnl_eltwise, table[kind].algorithm, table[kind].alpha, 0.0f};
}
