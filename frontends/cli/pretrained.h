/* SPDX-License-Identifier: Apache-2.0 */
/* Pretrained models of texts, by name or folder, with their tokenizers. */
#ifndef AXLE_CLI_PRETRAINED_H
#define AXLE_CLI_PRETRAINED_H

#include "axle/accelerator.h"
#include "axle/text.h"
#include "axle/transformers.h"

typedef struct pretrained {
    char *folder; /* for axle_free() */
    axle_tokenizer *tokenizer;
    int64_t max_length; /* that the model takes */
    /* After pretrained_load(): */
    axle_model *model;
    int kind; /* of its labels: AXLE_TEXT_... */
    int64_t labels;
    const char **names; /* of them, NULL-terminated */
} pretrained;

/* Starts as {0}, and is released also after failure.
 * @param accelerator  of a job, in which all processes call this.
 * @param quiet        show no download */
int pretrained_find(const char *name, const char *revision, axle_accelerator *accelerator,
                    int quiet, pretrained *out);
/* Load the model that was found, for a task; a model that lacks parameters for it is refused. */
int pretrained_load_for(pretrained *model, const char *task);
/* The same, as a classifier or regressor of texts, with its labels. */
int pretrained_load(pretrained *model);
void pretrained_release(pretrained *model);

/* Kinds of labels: AXLE_TEXT_..., which AXLE_METRICS_... follow, and problem_type of config.json.
 * Where that says nothing, one label means numbers, and several mean classes. */
const char *pretrained_problem_name(int kind);
int pretrained_problem_of(const axle_transformer_config *config);

#endif
