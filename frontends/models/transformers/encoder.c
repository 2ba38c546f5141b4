/* SPDX-License-Identifier: Apache-2.0 */
#include "encoder.h"

#include <stdio.h>
#include <string.h>

#include "config.h"

static const axle__encoder *details_of(const axle__network *network)
{
    return network->kind->details;
}

void axle__encoder_build(axle__builder *b, axle__network *network)
{
    const axle__encoder *encoder = details_of(network);
    const axle__sizes *sizes = &network->sizes;
    if (encoder->positions_by_padding && sizes->padding < 0) {
        b->status = axle_error_set(AXLE_ERR_INVALID, "config.json: there is no pad_token_id");
        return;
    }
    axle__embeddings_build(b, network);
    if (sizes->embedding != sizes->hidden)
        network->projection = axle__build_linear(b, network->body, "embeddings_project",
                                                 sizes->embedding, sizes->hidden);
    for (int64_t k = 0; k < sizes->layers && !b->status; k++) {
        char path[64];
        snprintf(path, sizeof(path), "%s.%lld", encoder->layers, (long long)k);
        network->layer[k] = axle__encoder_layer_build(b, network, path);
    }
    if (!network->task->head && encoder->pooler)
        network->pooler =
            axle__build_linear(b, network->body, encoder->pooler, sizes->hidden, sizes->hidden);
}

axle_tensor *axle__encoder_run(const axle__network *network, const axle__inputs *in)
{
    axle_tensor *x = axle__embeddings_run(network, in);
    if (network->projection)
        x = axle_module_forward(network->projection, x);
    for (int64_t k = 0; k < network->sizes.layers; k++)
        x = axle__encoder_layer_run(network->layer[k], x, in->mask);
    return x;
}

int axle__encoder_adjust(const axle__network *network, const char *path, axle_tensor *tensor)
{
    return axle__embeddings_adjust(network, path, tensor);
}

/* ------------------------------------------------------------------ what it cannot */

static int refuse(const char *key)
{
    return axle_error_set(AXLE_ERR_UNSUPPORTED, "config.json: Axle cannot do what '%s' asks for",
                          key);
}

int axle__encoder_check(const axle_transformer_config *config)
{
    static const char *const flags[] = {"is_decoder", "add_cross_attention"};
    const char *kind = axle_transformer_config_get_string(config, "position_embedding_type");
    if (kind && strcmp(kind, "absolute") != 0)
        return refuse("position_embedding_type");
    for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
        bool on;
        int status = axle__config_flag(config, flags[k], false, &on);
        if (status || on)
            return status ? status : refuse(flags[k]);
    }
    return AXLE_OK;
}
