/* SPDX-License-Identifier: Apache-2.0 */
/* GPT-2 (Radford et al., 2019). */
#include "decoder.h"
#include "heads.h"

static const axle__key keys[] = {
    {"vocab_size", "vocab_size", AXLE__INTEGER, 50257, NULL},
    {"max_position_embeddings", "n_positions", AXLE__INTEGER, 1024, NULL},
    {"hidden_size", "n_embd", AXLE__INTEGER, 768, NULL},
    {"num_hidden_layers", "n_layer", AXLE__INTEGER, 12, NULL},
    {"num_attention_heads", "n_head", AXLE__INTEGER, 12, NULL},
    {"intermediate_size", "n_inner", AXLE__INTEGER, NAN, NULL},
    {"hidden_act", "activation_function", AXLE__TEXT, NAN, "gelu_new"},
    {"hidden_dropout_prob", "resid_pdrop", AXLE__REAL, 0.1, NULL},
    {"embedding_dropout_prob", "embd_pdrop", AXLE__REAL, 0.1, NULL},
    {"attention_probs_dropout_prob", "attn_pdrop", AXLE__REAL, 0.1, NULL},
    {"layer_norm_eps", "layer_norm_epsilon", AXLE__REAL, 1e-5, NULL},
    {"initializer_range", "initializer_range", AXLE__REAL, 0.02, NULL},
    {"bos_token_id", "bos_token_id", AXLE__INTEGER, 50256, NULL},
    {"eos_token_id", "eos_token_id", AXLE__INTEGER, 50256, NULL},
    {"pad_token_id", "pad_token_id", AXLE__INTEGER, NAN, NULL},
    {"tie_word_embeddings", "tie_word_embeddings", AXLE__FLAG, 1, NULL},
    {NULL, NULL, AXLE__INTEGER, 0, NULL},
};

static const axle__causal_details causal = {.decoder = "lm_head"};

static const axle__task tasks[] = {
    {"base", "GPT2Model", NULL, NULL},
    {"causal-lm", "GPT2LMHeadModel", &axle__causal_head, &causal},
    {NULL, NULL, NULL, NULL},
};

/* The triangle of ones that older files have. */
static const char *const ignored[] = {"*.attn.bias", "*.attn.masked_bias", NULL};

const axle__architecture axle__gpt2 = {
    .model_type = "gpt2",
    .prefix = "transformer",
    .keys = keys,
    .tasks = tasks,
    .ignored = ignored,
    .build = axle__decoder_body_build,
    .run = axle__decoder_body_run,
    .adjust = axle__decoder_body_adjust,
    .check = axle__decoder_body_check,
};
