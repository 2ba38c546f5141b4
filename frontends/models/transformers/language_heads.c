/* SPDX-License-Identifier: Apache-2.0 */
/* Heads that tell tokens. */
#include "heads.h"

/* The bias of the module at `path`, which the decoder shares. */
static axle_tensor *shared_bias(axle__builder *b, axle__network *network, const char *path)
{
    axle_module *folder = axle__build_folder(b, &network->base, path);
    return folder ? axle__build_parameter(b, folder, "bias", AXLE_DIMS(network->sizes.vocabulary))
                  : NULL;
}

axle_module *axle__decoder_build(axle__builder *b, axle__network *network, const char *path,
                                 const char *bias_path, int64_t width)
{
    int64_t vocabulary = network->sizes.vocabulary;
    if (b->status)
        return NULL;
    axle_tensor *bias = bias_path ? shared_bias(b, network, bias_path) : NULL, *weight = NULL;
    if (network->sizes.tied)
        weight = axle_module_parameter(network->words, "weight");
    return axle__build_projection(b, &network->base, path, width, vocabulary, weight, bias);
}

/* ------------------------------------------------------------------ masked tokens */

static void masked_build(axle__builder *b, axle__network *network)
{
    const axle__masked_details *details = network->task->details;
    const axle__sizes *sizes = &network->sizes;
    int64_t width = sizes->embedding;
    network->head.dense =
        axle__build_linear(b, &network->base, details->dense, sizes->hidden, width);
    network->head.norm = axle__build_norm(b, &network->base, details->norm, width, sizes->eps);
    network->head.out = axle__decoder_build(b, network, details->decoder, details->bias, width);
}

static axle_tensor *masked_run(const axle__network *network, axle_tensor *hidden)
{
    const axle__masked_details *details = network->task->details;
    axle__activation activate =
        details->activation ? details->activation : network->sizes.activation;
    axle_tensor *x = activate(axle_module_forward(network->head.dense, hidden));
    return axle_module_forward(network->head.out, axle_module_forward(network->head.norm, x));
}

const axle__head axle__masked_head = {masked_build, masked_run, axle__token_loss,
                                      axle__token_weight};

/* ------------------------------------------------------------------ the next token */

static void causal_build(axle__builder *b, axle__network *network)
{
    const axle__causal_details *details = network->task->details;
    const axle__sizes *sizes = &network->sizes;
    if (b->status)
        return;
    axle_tensor *weight = sizes->tied ? axle_module_parameter(network->words, "weight") : NULL;
    network->head.out = axle__build_unbiased(b, &network->base, details->decoder, sizes->hidden,
                                             sizes->vocabulary, weight);
}

static axle_tensor *causal_run(const axle__network *network, axle_tensor *hidden)
{
    return axle_module_forward(network->head.out, hidden);
}

const axle__head axle__causal_head = {causal_build, causal_run, axle__causal_loss,
                                      axle__causal_weight};
