/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of BERT and its relatives: embeddings, and layers of attention and two products, each
 * followed by a norm (Vaswani et al., 2017; Devlin et al., 2019).
 */
#ifndef AXLE_MODELS_TRANSFORMERS_ENCODER_H
#define AXLE_MODELS_TRANSFORMERS_ENCODER_H

#include "network.h"

/* Names within a layer. */
typedef struct axle__encoder_names {
    const char *query, *key, *value, *out, *attention_norm, *up, *down, *norm;
} axle__encoder_names;

/* How a model's body differs from the others'. */
typedef struct axle__encoder {
    axle__encoder_names names;
    const char *layers;        /* path of the layers */
    bool drops_attention;      /* dropout of what attention gives, before it is added */
    bool positions_by_padding; /* positions count tokens that are no padding, from padding + 1 */
    const char *pooler; /* product of the first token, of the body alone and where a head asks; or
                           NULL */
} axle__encoder;

#define AXLE__BERT_LAYER_NAMES                                                                     \
    {                                                                                              \
        .query = "attention.self.query", .key = "attention.self.key",                              \
        .value = "attention.self.value", .out = "attention.output.dense",                          \
        .attention_norm = "attention.output.LayerNorm", .up = "intermediate.dense",                \
        .down = "output.dense", .norm = "output.LayerNorm",                                        \
    }

/* The keys that BERT and its relatives share, with these defaults, and the end of the table: a
 * model's other keys come before them. */
#define AXLE__BERT_KEYS(vocabulary, hidden, layers, heads, inner, padding)                         \
    {"vocab_size", "vocab_size", AXLE__INTEGER, vocabulary, NULL},                                 \
        {"hidden_size", "hidden_size", AXLE__INTEGER, hidden, NULL},                               \
        {"num_hidden_layers", "num_hidden_layers", AXLE__INTEGER, layers, NULL},                   \
        {"num_attention_heads", "num_attention_heads", AXLE__INTEGER, heads, NULL},                \
        {"intermediate_size", "intermediate_size", AXLE__INTEGER, inner, NULL},                    \
        {"hidden_act", "hidden_act", AXLE__TEXT, NAN, "gelu"},                                     \
        {"hidden_dropout_prob", "hidden_dropout_prob", AXLE__REAL, 0.1, NULL},                     \
        {"attention_probs_dropout_prob", "attention_probs_dropout_prob", AXLE__REAL, 0.1, NULL},   \
        {"max_position_embeddings", "max_position_embeddings", AXLE__INTEGER, 512, NULL},          \
        {"type_vocab_size", "type_vocab_size", AXLE__INTEGER, 2, NULL},                            \
        {"initializer_range", "initializer_range", AXLE__REAL, 0.02, NULL},                        \
        {"layer_norm_eps", "layer_norm_eps", AXLE__REAL, 1e-12, NULL},                             \
        {"pad_token_id", "pad_token_id", AXLE__INTEGER, padding, NULL},                            \
        {"position_embedding_type", "position_embedding_type", AXLE__TEXT, NAN, "absolute"},       \
        {"classifier_dropout", "classifier_dropout", AXLE__REAL, NAN, NULL},                       \
        {"tie_word_embeddings", "tie_word_embeddings", AXLE__FLAG, 1, NULL},                       \
    {                                                                                              \
        NULL, NULL, AXLE__INTEGER, 0, NULL                                                         \
    }

/* The functions of an architecture whose details are an axle__encoder. */
void axle__encoder_build(axle__builder *b, axle__network *network);
axle_tensor *axle__encoder_run(const axle__network *network, const axle__inputs *in);
int axle__encoder_adjust(const axle__network *network, const char *path, axle_tensor *tensor);
int axle__encoder_check(const axle_transformer_config *config);
#define AXLE__ENCODER_FUNCTIONS                                                                    \
    .build = axle__encoder_build, .run = axle__encoder_run, .adjust = axle__encoder_adjust,        \
    .check = axle__encoder_check

/* Its parts. */
void axle__embeddings_build(axle__builder *b, axle__network *network);
/* (N, T, embedding). */
axle_tensor *axle__embeddings_run(const axle__network *network, const axle__inputs *in);
int axle__embeddings_adjust(const axle__network *network, const char *path, axle_tensor *tensor);
axle_module *axle__encoder_layer_build(axle__builder *b, const axle__network *network,
                                       const char *path);
/* x (N, T, H), mask (N, 1, 1, T) or NULL. */
axle_tensor *axle__encoder_layer_run(axle_module *layer, axle_tensor *x, axle_tensor *mask);

#endif
