/* SPDX-License-Identifier: Apache-2.0 */
#include "encoder.h"

typedef struct encoder_layer {
    axle_module base;
    const axle__network *network; /* borrowed: it owns this module */
    axle_module *query, *key, *value, *out, *attention_norm, *up, *down, *norm;
} encoder_layer;

/* (N, T, H) to (N, heads, T, H / heads). */
static axle_tensor *split(const encoder_layer *layer, axle_tensor *x)
{
    int64_t heads = layer->network->sizes.heads, width = layer->network->sizes.hidden / heads;
    if (!x)
        return NULL;
    int64_t rows = axle_tensor_dim(x, 0), length = axle_tensor_dim(x, 1);
    return axle_permute(axle_reshape(x, AXLE_DIMS(rows, length, heads, width)),
                        (const int[]){0, 2, 1, 3});
}

static axle_tensor *attend(const encoder_layer *layer, axle_tensor *x, axle_tensor *mask)
{
    const axle__sizes *sizes = &layer->network->sizes;
    axle_attention_params params = AXLE_ATTENTION_PARAMS_INIT;
    axle_tensor *query = split(layer, axle_module_forward(layer->query, x));
    axle_tensor *key = split(layer, axle_module_forward(layer->key, x));
    axle_tensor *value = split(layer, axle_module_forward(layer->value, x));
    params.dropout = layer->base.training ? sizes->attention_dropout : 0.0;
    axle_tensor *y = axle_attention(query, key, value, mask, &params);
    y = axle_permute(y, (const int[]){0, 2, 1, 3});
    y = axle_reshape(y, AXLE_DIMS(axle_tensor_dim(x, 0), axle_tensor_dim(x, 1), sizes->hidden));
    return axle_module_forward(layer->out, y);
}

static axle_tensor *feed_forward(const encoder_layer *layer, axle_tensor *x)
{
    axle_tensor *hidden = axle_module_forward(layer->up, x);
    return axle_module_forward(layer->down, layer->network->sizes.activation(hidden));
}

static axle_tensor *layer_call(axle_module *self, axle_tensor *const *in, int n_in)
{
    const encoder_layer *layer = (encoder_layer *)self;
    const axle__encoder *encoder = layer->network->kind->details;
    double dropout = layer->network->sizes.dropout;
    axle_tensor *x = in[0], *y = attend(layer, x, n_in > 1 ? in[1] : NULL);
    if (encoder->drops_attention)
        y = axle__drop(self, y, dropout);
    x = axle_module_forward(layer->attention_norm, axle_add(y, x));
    y = axle__drop(self, feed_forward(layer, x), dropout);
    return axle_module_forward(layer->norm, axle_add(y, x));
}

static const axle_module_class layer_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "transformer_layer",
    .instance_size = sizeof(encoder_layer),
    .call = layer_call,
};

axle_tensor *axle__encoder_layer_run(axle_module *layer, axle_tensor *x, axle_tensor *mask)
{
    return axle_module_call(layer, (axle_tensor *[]){x, mask}, 2);
}

axle_module *axle__encoder_layer_build(axle__builder *b, const axle__network *network,
                                       const char *path)
{
    const axle__encoder_names *names = &((const axle__encoder *)network->kind->details)->names;
    const axle__sizes *sizes = &network->sizes;
    int64_t hidden = sizes->hidden, inner = sizes->inner;
    axle_module *module = axle__build_module(b, network->body, path, &layer_class);
    if (!module)
        return NULL;
    encoder_layer *layer = (encoder_layer *)module;
    layer->network = network;
    layer->query = axle__build_linear(b, module, names->query, hidden, hidden);
    layer->key = axle__build_linear(b, module, names->key, hidden, hidden);
    layer->value = axle__build_linear(b, module, names->value, hidden, hidden);
    layer->out = axle__build_linear(b, module, names->out, hidden, hidden);
    layer->attention_norm = axle__build_norm(b, module, names->attention_norm, hidden, sizes->eps);
    layer->up = axle__build_linear(b, module, names->up, hidden, inner);
    layer->down = axle__build_linear(b, module, names->down, inner, hidden);
    layer->norm = axle__build_norm(b, module, names->norm, hidden, sizes->eps);
    return module;
}
