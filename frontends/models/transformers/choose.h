/* SPDX-License-Identifier: Apache-2.0 */
/* Which token comes next, from logits. */
#ifndef AXLE_MODELS_TRANSFORMERS_CHOOSE_H
#define AXLE_MODELS_TRANSFORMERS_CHOOSE_H

#include "axle/transformers.h"

typedef struct axle__candidate_token {
    int64_t id;
    double weight; /* its logit, then its probability */
} axle__candidate_token;

/* Starts as {0}. */
typedef struct axle__chooser {
    const axle_generate_options *options;
    axle__candidate_token *candidates;
    uint64_t state; /* of draws */
} axle__chooser;

int axle__chooser_create(const axle_generate_options *options, int64_t vocabulary,
                         axle__chooser *out);
void axle__chooser_release(axle__chooser *chooser);
int64_t axle__choose_token(axle__chooser *chooser, const float *logits, int64_t n);

#endif
