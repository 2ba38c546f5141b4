/* SPDX-License-Identifier: Apache-2.0 */
#include "decoder.h"

#include "past.h"

typedef struct decoder_layer {
    axle_module base;
    const axle__network *network; /* borrowed: it owns this module */
    axle_module *attention_norm, *attention, *out, *norm, *up, *down;
} decoder_layer;

/* Query, key or value of `part` 0 to 2: (N, T, 3H) to (N, heads, T, H / heads). */
static axle_tensor *split(const decoder_layer *layer, axle_tensor *all, int part)
{
    int64_t hidden = layer->network->sizes.hidden, heads = layer->network->sizes.heads;
    if (!all)
        return NULL;
    int64_t rows = axle_tensor_dim(all, 0), length = axle_tensor_dim(all, 1);
    axle_tensor *x = axle_slice(all, 2, part * hidden, (part + 1) * hidden, 1);
    return axle_permute(axle_reshape(x, AXLE_DIMS(rows, length, heads, hidden / heads)),
                        (const int[]){0, 2, 1, 3});
}

/* A layer's number, and what came before it. */
typedef struct continued {
    int64_t k;
    axle__past *past;
} continued;

static axle_tensor *attend(const decoder_layer *layer, axle_tensor *x, axle_tensor *mask,
                           const continued *before)
{
    const axle__sizes *sizes = &layer->network->sizes;
    axle_attention_params params = AXLE_ATTENTION_PARAMS_INIT;
    axle_tensor *all = axle_module_forward(layer->attention, x);
    axle_tensor *query = split(layer, all, 0), *key = split(layer, all, 1);
    axle_tensor *value = split(layer, all, 2);
    /* One token that continues a text sees all of it. */
    params.causal = !before || before->past->length == 0;
    params.dropout = layer->base.training ? sizes->attention_dropout : 0.0;
    if (before && axle__past_extend(before->past, before->k, &key, &value))
        return NULL;
    axle_tensor *y = axle_attention(query, key, value, mask, &params);
    y = axle_permute(y, (const int[]){0, 2, 1, 3});
    y = axle_reshape(y, AXLE_DIMS(axle_tensor_dim(x, 0), axle_tensor_dim(x, 1), sizes->hidden));
    return axle_module_forward(layer->out, y);
}

static axle_tensor *feed_forward(const decoder_layer *layer, axle_tensor *x)
{
    axle_tensor *hidden = axle_module_forward(layer->up, x);
    return axle_module_forward(layer->down, layer->network->sizes.activation(hidden));
}

static axle_tensor *run(const decoder_layer *layer, axle_tensor *x, axle_tensor *mask,
                        const continued *before)
{
    const axle_module *self = &layer->base;
    double dropout = layer->network->sizes.dropout;
    axle_tensor *y = attend(layer, axle_module_forward(layer->attention_norm, x), mask, before);
    x = axle_add(x, axle__drop(self, y, dropout));
    y = feed_forward(layer, axle_module_forward(layer->norm, x));
    return axle_add(x, axle__drop(self, y, dropout));
}

static axle_tensor *layer_call(axle_module *self, axle_tensor *const *in, int n_in)
{
    return run((decoder_layer *)self, in[0], n_in > 1 ? in[1] : NULL, NULL);
}

static const axle_module_class layer_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "transformer_decoder_layer",
    .instance_size = sizeof(decoder_layer),
    .call = layer_call,
};

axle_tensor *axle__decoder_layer_run(axle_module *layer, axle_tensor *x, axle_tensor *mask)
{
    return axle_module_call(layer, (axle_tensor *[]){x, mask}, 2);
}

axle_tensor *axle__decoder_layer_continue(axle_module *layer, int64_t k, axle_tensor *x,
                                          axle__past *past)
{
    const continued before = {k, past};
    return run((decoder_layer *)layer, x, NULL, &before);
}

axle_module *axle__decoder_layer_build(axle__builder *b, const axle__network *network,
                                       const char *path)
{
    const axle__sizes *sizes = &network->sizes;
    int64_t hidden = sizes->hidden;
    axle_module *module = axle__build_module(b, network->body, path, &layer_class);
    if (!module)
        return NULL;
    decoder_layer *layer = (decoder_layer *)module;
    layer->network = network;
    layer->attention_norm = axle__build_norm(b, module, "ln_1", hidden, sizes->eps);
    layer->attention = axle__build_turned(b, module, "attn.c_attn", hidden, 3 * hidden);
    layer->out = axle__build_turned(b, module, "attn.c_proj", hidden, hidden);
    layer->norm = axle__build_norm(b, module, "ln_2", hidden, sizes->eps);
    layer->up = axle__build_turned(b, module, "mlp.c_fc", hidden, sizes->inner);
    layer->down = axle__build_turned(b, module, "mlp.c_proj", sizes->inner, hidden);
    return module;
}
