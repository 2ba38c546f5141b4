/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of GPT-2: embeddings of tokens and positions, layers of attention to what came before
 * and two products, each behind a norm, and a last norm (Radford et al., 2019).
 */
#ifndef AXLE_MODELS_TRANSFORMERS_DECODER_H
#define AXLE_MODELS_TRANSFORMERS_DECODER_H

#include "network.h"

/* The functions of an architecture. */
void axle__decoder_body_build(axle__builder *b, axle__network *network);
axle_tensor *axle__decoder_body_run(const axle__network *network, const axle__inputs *in);
int axle__decoder_body_adjust(const axle__network *network, const char *path, axle_tensor *tensor);
int axle__decoder_body_check(const axle_transformer_config *config);

/* Its layers. */
axle_module *axle__decoder_layer_build(axle__builder *b, const axle__network *network,
                                       const char *path);
/* x (N, T, H), mask (N, 1, 1, T) or NULL. */
axle_tensor *axle__decoder_layer_run(axle_module *layer, axle_tensor *x, axle_tensor *mask);
/* Layer number `k` with what came before, to which x (1, T, H) is added; T is 1 unless that is
 * nothing. Without hooks and gradients. */
axle_tensor *axle__decoder_layer_continue(axle_module *layer, int64_t k, axle_tensor *x,
                                          struct axle__past *past);

#endif
