/* SPDX-License-Identifier: Apache-2.0 */
/* The transformer's encoder layer (Vaswani et al., 2017), with the norms after or before. */
#include "nn/module.h"
#include "nn/precision.h"

struct encoder_layer {
    axle_module base;
    double dropout;
    int norm_first;
    axle__activation_fn activation;
    axle_module *self_attn, *linear1, *linear2, *norm1, *norm2;
};

static axle_tensor *drop(const struct encoder_layer *layer, axle_tensor *x)
{
    return layer->base.training && layer->dropout > 0.0 ? axle_dropout(x, layer->dropout) : x;
}

static axle_tensor *attend(const struct encoder_layer *layer, axle_tensor *x, axle_tensor *mask,
                           int causal)
{
    return drop(layer, axle_multihead_attention_forward(layer->self_attn, x, x, x, mask, causal));
}

static axle_tensor *feed_forward(const struct encoder_layer *layer, axle_tensor *x)
{
    axle__forward_fn fused =
        layer->activation == axle_relu ? axle__linear_with_relu(layer->linear1) : NULL;
    axle_tensor *hidden = fused ? fused(layer->linear1, x)
                                : layer->activation(axle_module_forward(layer->linear1, x));
    return drop(layer, axle_module_forward(layer->linear2, drop(layer, hidden)));
}

static axle_tensor *run(const struct encoder_layer *layer, axle_tensor *x, axle_tensor *mask,
                        int causal)
{
    if (layer->norm_first) {
        x = axle_add(x, attend(layer, axle_module_forward(layer->norm1, x), mask, causal));
        return axle_add(x, feed_forward(layer, axle_module_forward(layer->norm2, x)));
    }
    x = axle_module_forward(layer->norm1, axle_add(x, attend(layer, x, mask, causal)));
    return axle_module_forward(layer->norm2, axle_add(x, feed_forward(layer, x)));
}

static axle_tensor *encoder_layer_forward(axle_module *self, axle_tensor *x)
{
    return run((struct encoder_layer *)self, x, NULL, 0);
}

static axle_tensor *run_again(axle_tensor *const *in, int n_in, void *user)
{
    const axle__again *again = user;
    (void)n_in;
    if (axle_scope_push())
        return NULL;
    bool region = axle__precision_begin(again->module);
    axle_tensor *y = run((struct encoder_layer *)again->module, in[0], in[1], again->number[0]);
    axle__precision_end(region, &y, 1);
    return axle_scope_pop_keep(y);
}

static const axle_module_class encoder_layer_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "encoder_layer",
    .instance_size = sizeof(struct encoder_layer),
    .forward = encoder_layer_forward,
};

axle_tensor *axle_encoder_layer_forward(axle_module *module, axle_tensor *x, axle_tensor *mask,
                                        int causal)
{
    axle__again again = {module, {causal, 0}};
    if (!x || axle__check_class("axle_encoder_layer_forward", module, &encoder_layer_class))
        return NULL;
    if (axle__is_recomputed(module))
        return axle__recomputed(&again, run_again, (axle_tensor *[]){x, mask}, 2);
    return run_again((axle_tensor *[]){x, mask}, 2, &again);
}

/* ------------------------------------------------------------------ construction */

/* Add the child that was just made, unless `status` says that it was not; *keep borrows it. */
static int adopt(struct encoder_layer *layer, int status, const char *name, axle_module **child,
                 axle_module **keep)
{
    if (!status)
        status = axle_module_add_child(&layer->base, name, *child);
    if (!status)
        *keep = *child;
    return status;
}

static int add_children(struct encoder_layer *layer, const axle_encoder_layer_options *options)
{
    int64_t features = options->features, hidden = options->hidden;
    axle_module *made = NULL;
    int status = axle_multihead_attention_create(features, options->heads, options->dropout, &made);
    status = adopt(layer, status, "self_attn", &made, &layer->self_attn);
    if (!status)
        status = axle_linear_create(features, hidden, 1, &made);
    status = adopt(layer, status, "linear1", &made, &layer->linear1);
    if (!status)
        status = axle_linear_create(hidden, features, 1, &made);
    status = adopt(layer, status, "linear2", &made, &layer->linear2);
    if (!status)
        status = axle_layer_norm_create(features, options->eps, &made);
    status = adopt(layer, status, "norm1", &made, &layer->norm1);
    if (!status)
        status = axle_layer_norm_create(features, options->eps, &made);
    return adopt(layer, status, "norm2", &made, &layer->norm2);
}

int axle_encoder_layer_create(const axle_encoder_layer_options *given, axle_module **out)
{
    axle_encoder_layer_options options = AXLE_ENCODER_LAYER_OPTIONS_INIT;
    const char *who = encoder_layer_class.name;
    if (axle__options_copy(who, given, &options, sizeof(options)) ||
        axle__check_least(who, "hidden", options.hidden, 1))
        return axle_error_code();
    axle__activation_fn activation = axle__activation_find(who, options.activation);
    if (!activation)
        return axle_error_code();
    struct encoder_layer *layer = NULL;
    int status = axle_module_new(&encoder_layer_class, (axle_module **)&layer);
    if (!status) {
        layer->dropout = options.dropout;
        layer->norm_first = options.norm_first;
        layer->activation = activation;
        status = add_children(layer, &options);
    }
    return axle__module_finish(status, (axle_module *)layer, out);
}
