/* SPDX-License-Identifier: Apache-2.0 */
/* RoBERTa (Liu et al., 2019): BERT with positions that do not count padding, and other heads. */
#include "encoder.h"
#include "heads.h"

static const axle__key keys[] = {
    {"bos_token_id", "bos_token_id", AXLE__INTEGER, 0, NULL},
    {"eos_token_id", "eos_token_id", AXLE__INTEGER, 2, NULL},
    AXLE__BERT_KEYS(50265, 768, 12, 12, 3072, 1),
};

static const axle__encoder encoder = {
    .layers = "encoder.layer",
    .drops_attention = true,
    .positions_by_padding = true,
    .pooler = "pooler.dense",
    .names = AXLE__BERT_LAYER_NAMES,
};

static const axle__sequence_details sequence = {.dense = "classifier.dense",
                                                .out = "classifier.out_proj",
                                                .activation = axle_tanh,
                                                .drops_first = true};
static const axle__token_details token = {.as_hidden = false};
static const axle__masked_details masked = {
    .dense = "lm_head.dense",
    .norm = "lm_head.layer_norm",
    .decoder = "lm_head.decoder",
    .bias = "lm_head",
    .activation = axle_gelu,
};

static const axle__task tasks[] = {
    AXLE__ENCODER_TASKS("Roberta"),
};

const axle__architecture axle__roberta = {
    .model_type = "roberta",
    .prefix = "roberta",
    .keys = keys,
    .tasks = tasks,
    AXLE__ENCODER_FUNCTIONS,
    .details = &encoder,
};
