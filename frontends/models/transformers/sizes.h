/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AXLE_MODELS_TRANSFORMERS_SIZES_H
#define AXLE_MODELS_TRANSFORMERS_SIZES_H

#include "architecture.h"

/* Read what a network is made by, and check it. */
int axle__sizes_read(const axle_transformer_config *config, axle__sizes *out);
/* AXLE_ERR_UNSUPPORTED where there is no such function. */
int axle__hidden_act_find(const char *name, axle__activation *out);

#endif
