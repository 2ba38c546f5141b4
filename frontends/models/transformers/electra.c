/* SPDX-License-Identifier: Apache-2.0 */
/* ELECTRA (Clark et al., 2020): BERT with embeddings of another width, and other heads. */
#include "encoder.h"
#include "heads.h"

static const axle__key keys[] = {
    {"vocab_size", "vocab_size", AXLE__INTEGER, 30522, NULL},
    {"embedding_size", "embedding_size", AXLE__INTEGER, 128, NULL},
    {"hidden_size", "hidden_size", AXLE__INTEGER, 256, NULL},
    {"num_hidden_layers", "num_hidden_layers", AXLE__INTEGER, 12, NULL},
    {"num_attention_heads", "num_attention_heads", AXLE__INTEGER, 4, NULL},
    {"intermediate_size", "intermediate_size", AXLE__INTEGER, 1024, NULL},
    {"hidden_act", "hidden_act", AXLE__TEXT, NAN, "gelu"},
    {"hidden_dropout_prob", "hidden_dropout_prob", AXLE__REAL, 0.1, NULL},
    {"attention_probs_dropout_prob", "attention_probs_dropout_prob", AXLE__REAL, 0.1, NULL},
    {"max_position_embeddings", "max_position_embeddings", AXLE__INTEGER, 512, NULL},
    {"type_vocab_size", "type_vocab_size", AXLE__INTEGER, 2, NULL},
    {"initializer_range", "initializer_range", AXLE__REAL, 0.02, NULL},
    {"layer_norm_eps", "layer_norm_eps", AXLE__REAL, 1e-12, NULL},
    {"pad_token_id", "pad_token_id", AXLE__INTEGER, 0, NULL},
    {"position_embedding_type", "position_embedding_type", AXLE__TEXT, NAN, "absolute"},
    {"classifier_dropout", "classifier_dropout", AXLE__REAL, NAN, NULL},
    {"tie_word_embeddings", "tie_word_embeddings", AXLE__FLAG, 1, NULL},
    {NULL, NULL, AXLE__INTEGER, 0, NULL},
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
    {"base", "ElectraModel", NULL, NULL},
    {"sequence-classification", "ElectraForSequenceClassification", &axle__sequence_head,
     &sequence},
    {"token-classification", "ElectraForTokenClassification", &axle__token_head, &token},
    {"masked-lm", "ElectraForMaskedLM", &axle__masked_head, &masked},
    {NULL, NULL, NULL, NULL},
};

const axle__architecture axle__electra = {
    .model_type = "electra",
    .prefix = "electra",
    .keys = keys,
    .tasks = tasks,
    .build = axle__encoder_build,
    .run = axle__encoder_run,
    .adjust = axle__encoder_adjust,
    .check = axle__encoder_check,
    .details = &encoder,
};
