/* SPDX-License-Identifier: Apache-2.0 */
/* ELECTRA (Clark et al., 2020): BERT with embeddings of another width, and other heads. */
#include "encoder.h"
#include "heads.h"

static const axle__key keys[] = {
    {"embedding_size", "embedding_size", AXLE__INTEGER, 128, NULL},
    AXLE__BERT_KEYS(30522, 256, 12, 4, 1024, 0),
};

static const axle__encoder encoder = {
    .layers = "encoder.layer",
    .drops_attention = true,
    .names = AXLE__BERT_LAYER_NAMES,
};

static const axle__sequence_details sequence = {.dense = "classifier.dense",
                                                .out = "classifier.out_proj",
                                                .activation = axle_gelu,
                                                .drops_first = true};
static const axle__token_details token = {.as_hidden = false};
static const axle__masked_details masked = {
    .dense = "generator_predictions.dense",
    .norm = "generator_predictions.LayerNorm",
    .decoder = "generator_lm_head",
    .activation = axle_gelu,
};

static const axle__task tasks[] = {
    AXLE__ENCODER_TASKS("Electra"),
};

const axle__architecture axle__electra = {
    .model_type = "electra",
    .prefix = "electra",
    .keys = keys,
    .tasks = tasks,
    AXLE__ENCODER_FUNCTIONS,
    .details = &encoder,
};
