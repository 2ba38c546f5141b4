/* SPDX-License-Identifier: Apache-2.0 */
/* BERT (Devlin et al., 2019). */
#include "encoder.h"
#include "heads.h"

static const axle__key keys[] = {
    {"vocab_size", "vocab_size", AXLE__INTEGER, 30522, NULL},
    {"hidden_size", "hidden_size", AXLE__INTEGER, 768, NULL},
    {"num_hidden_layers", "num_hidden_layers", AXLE__INTEGER, 12, NULL},
    {"num_attention_heads", "num_attention_heads", AXLE__INTEGER, 12, NULL},
    {"intermediate_size", "intermediate_size", AXLE__INTEGER, 3072, NULL},
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
    .pooler = "pooler.dense",
    .names = AXLE__BERT_LAYER_NAMES,
};

static const axle__sequence_details sequence = {
    .dense = "bert.pooler.dense", .out = "classifier", .activation = axle_tanh};
static const axle__token_details token = {.as_hidden = false};
static const axle__masked_details masked = {
    .dense = "cls.predictions.transform.dense",
    .norm = "cls.predictions.transform.LayerNorm",
    .decoder = "cls.predictions.decoder",
    .bias = "cls.predictions",
};

static const axle__task tasks[] = {
    {"base", "BertModel", NULL, NULL},
    {"sequence-classification", "BertForSequenceClassification", &axle__sequence_head, &sequence},
    {"token-classification", "BertForTokenClassification", &axle__token_head, &token},
    {"masked-lm", "BertForMaskedLM", &axle__masked_head, &masked},
    {NULL, NULL, NULL, NULL},
};

const axle__architecture axle__bert = {
    .model_type = "bert",
    .prefix = "bert",
    .keys = keys,
    .tasks = tasks,
    .build = axle__encoder_build,
    .run = axle__encoder_run,
    .adjust = axle__encoder_adjust,
    .check = axle__encoder_check,
    .details = &encoder,
};
