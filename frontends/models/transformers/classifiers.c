/* SPDX-License-Identifier: Apache-2.0 */
/* Classifiers of sequences and of tokens. */
#include "heads.h"

/* ------------------------------------------------------------------ sequences */

static const axle__sequence_details *sequence_details(const axle__network *network)
{
    return network->task->details;
}

static void sequence_build(axle__builder *b, axle__network *network)
{
    const axle__sequence_details *details = sequence_details(network);
    int64_t hidden = network->sizes.hidden;
    network->head.dense = axle__build_linear(b, &network->base, details->dense, hidden, hidden);
    network->head.out =
        axle__build_linear(b, &network->base, details->out, hidden, network->labels);
}

static axle_tensor *sequence_run(const axle__network *network, axle_tensor *hidden)
{
    const axle__sequence_details *details = sequence_details(network);
    double dropout = network->sizes.classifier_dropout;
    axle_tensor *x = axle__first_token(hidden);
    if (details->drops_first)
        x = axle__drop(&network->base, x, dropout);
    x = details->activation(axle_module_forward(network->head.dense, x));
    return axle_module_forward(network->head.out, axle__drop(&network->base, x, dropout));
}

const axle__head axle__sequence_head = {sequence_build, sequence_run, axle__sequence_loss, NULL};

/* ------------------------------------------------------------------ tokens */

static void token_build(axle__builder *b, axle__network *network)
{
    network->head.out =
        axle__build_linear(b, &network->base, "classifier", network->sizes.hidden, network->labels);
}

static axle_tensor *token_run(const axle__network *network, axle_tensor *hidden)
{
    const axle__token_details *details = network->task->details;
    double dropout =
        details->as_hidden ? network->sizes.dropout : network->sizes.classifier_dropout;
    return axle_module_forward(network->head.out, axle__drop(&network->base, hidden, dropout));
}

const axle__head axle__token_head = {token_build, token_run, axle__token_loss, axle__token_weight};
