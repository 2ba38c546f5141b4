/* SPDX-License-Identifier: Apache-2.0 */
/* DistilBERT (Sanh et al., 2019): BERT's layers under other names, without types and pooler. */
#include <stdlib.h>

#include "config.h"
#include "encoder.h"
#include "heads.h"

static const axle__key keys[] = {
    {"vocab_size", "vocab_size", AXLE__INTEGER, 30522, NULL},
    {"max_position_embeddings", "max_position_embeddings", AXLE__INTEGER, 512, NULL},
    {"sinusoidal_pos_embds", "sinusoidal_pos_embds", AXLE__FLAG, 0, NULL},
    {"num_hidden_layers", "n_layers", AXLE__INTEGER, 6, NULL},
    {"num_attention_heads", "n_heads", AXLE__INTEGER, 12, NULL},
    {"hidden_size", "dim", AXLE__INTEGER, 768, NULL},
    {"intermediate_size", "hidden_dim", AXLE__INTEGER, 3072, NULL},
    {"hidden_dropout_prob", "dropout", AXLE__REAL, 0.1, NULL},
    {"attention_probs_dropout_prob", "attention_dropout", AXLE__REAL, 0.1, NULL},
    {"hidden_act", "activation", AXLE__TEXT, NAN, "gelu"},
    {"initializer_range", "initializer_range", AXLE__REAL, 0.02, NULL},
    {"layer_norm_eps", "layer_norm_eps", AXLE__REAL, 1e-12, NULL},
    {"classifier_dropout", "seq_classif_dropout", AXLE__REAL, 0.2, NULL},
    {"pad_token_id", "pad_token_id", AXLE__INTEGER, 0, NULL},
    {"tie_word_embeddings", "tie_word_embeddings", AXLE__FLAG, 1, NULL},
    {NULL, NULL, AXLE__INTEGER, 0, NULL},
};

static const axle__encoder encoder = {
    .layers = "transformer.layer",
    .names = {.query = "attention.q_lin",
              .key = "attention.k_lin",
              .value = "attention.v_lin",
              .out = "attention.out_lin",
              .attention_norm = "sa_layer_norm",
              .up = "ffn.lin1",
              .down = "ffn.lin2",
              .norm = "output_layer_norm"},
};

static const axle__sequence_details sequence = {
    .dense = "pre_classifier", .out = "classifier", .activation = axle_relu};
static const axle__token_details token = {.as_hidden = true};
static const axle__masked_details masked = {
    .dense = "vocab_transform", .norm = "vocab_layer_norm", .decoder = "vocab_projector"};

static const axle__task tasks[] = {
    AXLE__ENCODER_TASKS("DistilBert"),
};

/* ------------------------------------------------------------------ waves for positions */

static bool has_waves(const axle__network *network)
{
    return json_is_true(axle__config_value(network->config, "sinusoidal_pos_embds"));
}

static int write_waves(axle_tensor *weight)
{
    int64_t rows = axle_tensor_dim(weight, 0), width = axle_tensor_dim(weight, 1);
    double *value = malloc((size_t)(rows * width) * sizeof(*value));
    if (!value)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory for positions");
    for (int64_t i = 0; i < rows * width; i++) {
        int64_t row = i / width, column = i % width;
        double angle = (double)row / pow(10000.0, (double)(column / 2 * 2) / (double)width);
        value[i] = column % 2 ? cos(angle) : sin(angle);
    }
    int status = axle_scope_push();
    if (!status) {
        axle_tensor *waves = axle_from_data(AXLE_DTYPE_F64, AXLE_DIMS(rows, width), value);
        status = waves ? axle_tensor_assign(weight, waves) : axle_error_code();
        axle_scope_pop();
    }
    free(value);
    return status;
}

static int adjust(const axle__network *network, const char *path, axle_tensor *tensor)
{
    if (has_waves(network) && axle__ends_with(path, "position_embeddings.weight"))
        return write_waves(tensor);
    return axle__encoder_adjust(network, path, tensor);
}

/* Waves are not trained. */
static void build(axle__builder *b, axle__network *network)
{
    axle__encoder_build(b, network);
    if (!b->status && has_waves(network))
        b->status = axle_module_freeze(network->embeddings, "position_embeddings.weight", 1);
}

const axle__architecture axle__distilbert = {
    .model_type = "distilbert",
    .prefix = "distilbert",
    .keys = keys,
    .tasks = tasks,
    .build = build,
    .run = axle__encoder_run,
    .adjust = adjust,
    .check = axle__encoder_check,
    .details = &encoder,
};
