/* SPDX-License-Identifier: Apache-2.0 */
/* BERT (Devlin et al., 2019). */
#include "encoder.h"
#include "heads.h"

static const axle__key keys[] = {
    AXLE__BERT_KEYS(30522, 768, 12, 12, 3072, 0),
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
    AXLE__ENCODER_TASKS("Bert"),
};

const axle__architecture axle__bert = {
    .model_type = "bert",
    .prefix = "bert",
    .keys = keys,
    .tasks = tasks,
    AXLE__ENCODER_FUNCTIONS,
    .details = &encoder,
};
