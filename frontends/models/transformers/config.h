/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations inside: JSON, and the row of the table that explains its keys. */
#ifndef AXLE_MODELS_TRANSFORMERS_CONFIG_H
#define AXLE_MODELS_TRANSFORMERS_CONFIG_H

#include <jansson.h>
#include <stdatomic.h>

#include "architecture.h"
#include "axle/transformers.h"

struct axle_transformer_config {
    atomic_int references;
    const axle__architecture *kind;
    json_t *root;
};

/* Take over JSON (NULL: out of memory). */
int axle__config_wrap(const axle__architecture *kind, json_t *root, axle_transformer_config **out);
int axle__config_copy(const axle_transformer_config *config, axle_transformer_config **out);
/* Row of a key by any of its names; NULL where the table has none. */
const axle__key *axle__config_row(const axle__architecture *kind, const char *key);
/* Value of a key by any of its names; NULL where the file has none, or null. Borrowed. */
const json_t *axle__config_value(const axle_transformer_config *config, const char *key);
/* Take over a value (NULL: out of memory). */
int axle__config_put(axle_transformer_config *config, const char *key, json_t *value);
/* `otherwise` where there is none; AXLE_ERR_FORMAT where it is no boolean. */
int axle__config_flag(const axle_transformer_config *config, const char *key, bool otherwise,
                      bool *out);
/* Give every label a name. */
int axle__config_name_labels(axle_transformer_config *config);
int axle__config_out_of_memory(void);
/* AXLE_ERR_NOT_FOUND, naming what there is. */
int axle__config_unknown_type(const char *model_type);

#endif
