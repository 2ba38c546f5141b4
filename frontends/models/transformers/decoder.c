/* SPDX-License-Identifier: Apache-2.0 */
#include "decoder.h"

#include <stdio.h>

#include "config.h"
#include "past.h"

void axle__decoder_body_build(axle__builder *b, axle__network *network)
{
    const axle__sizes *sizes = &network->sizes;
    axle_module *body = network->body;
    network->longest = sizes->positions;
    network->words = axle__build_embedding(b, body, "wte", sizes->vocabulary, sizes->hidden, -1);
    network->positions = axle__build_embedding(b, body, "wpe", sizes->positions, sizes->hidden, -1);
    for (int64_t k = 0; k < sizes->layers && !b->status; k++) {
        char path[32];
        snprintf(path, sizeof(path), "h.%lld", (long long)k);
        network->layer[k] = axle__decoder_layer_build(b, network, path);
    }
    network->norm = axle__build_norm(b, body, "ln_f", sizes->hidden, sizes->eps);
}

axle_tensor *axle__decoder_body_run(const axle__network *network, const axle__inputs *in)
{
    axle_tensor *positions = axle_module_parameter(network->positions, "weight");
    int64_t first = in->past ? in->past->length : 0;
    axle_tensor *x = axle_add(axle_module_forward(network->words, in->ids),
                              axle_slice(positions, 0, first, first + in->length, 1));
    if (in->types) /* their embeddings are those of tokens */
        x = axle_add(x, axle_module_forward(network->words, in->types));
    x = axle__drop(&network->base, x, network->sizes.embedding_dropout);
    for (int64_t k = 0; k < network->sizes.layers; k++)
        x = in->past ? axle__decoder_layer_continue(network->layer[k], k, x, in->past)
                     : axle__decoder_layer_run(network->layer[k], x, in->mask);
    if (in->past)
        in->past->length += in->length;
    return axle_module_forward(network->norm, x);
}

/* What is added to the residual path begins smaller, the more layers do so. */
int axle__decoder_body_adjust(const axle__network *network, const char *path, axle_tensor *tensor)
{
    const axle__sizes *sizes = &network->sizes;
    if (!axle__ends_with(path, "c_proj.weight"))
        return AXLE_OK;
    return axle_init_normal(tensor, 0.0, sizes->deviation / sqrt(2.0 * (double)sizes->layers));
}

/* ------------------------------------------------------------------ what it cannot */

int axle__decoder_body_check(const axle_transformer_config *config)
{
    static const struct {
        const char *key;
        bool usual;
    } flags[] = {{"scale_attn_weights", true},
                 {"scale_attn_by_inverse_layer_idx", false},
                 {"add_cross_attention", false}};
    for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
        bool on;
        int status = axle__config_flag(config, flags[k].key, flags[k].usual, &on);
        if (status)
            return status;
        if (on != flags[k].usual)
            return axle_error_set(AXLE_ERR_UNSUPPORTED,
                                  "config.json: Axle cannot do what '%s' asks for", flags[k].key);
    }
    return AXLE_OK;
}
