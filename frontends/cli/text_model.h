/* SPDX-License-Identifier: Apache-2.0 */
/* Models by name, those of language among them, to be measured: of the usual size, with random
 * parameters and tokens. */
#ifndef AXLE_CLI_TEXT_MODEL_H
#define AXLE_CLI_TEXT_MODEL_H

#include "axle/model.h"

/* Those of pictures (axle/models.h) first; NULL-terminated. */
const char *const *all_model_names(void);
int is_text_model(const char *name);

/* Widths of what goes from layer to layer and of what is within, and how many there are. */
typedef struct text_sizes {
    int64_t width, hidden, heads, layers;
    int64_t vocabulary; /* that a last product projects to; 0: there is no such product */
    int joined, turned; /* query, key and value are one product; weights are stored as (in, out) */
} text_sizes;

int text_model_sizes(const char *name, text_sizes *out);

/* A classifier of sequences, or what tells the next token. */
int text_model_create(const char *name, axle_model **out);
/* Sequences of tokens, none of them padding, with labels for the model; in the current scope. */
int text_batch_create(const char *name, int64_t rows, int64_t length, axle_batch **out);

#endif
