/* SPDX-License-Identifier: Apache-2.0 */
/* A network: the root of a model's module. What a model does not have is NULL. */
#ifndef AXLE_MODELS_TRANSFORMERS_NETWORK_H
#define AXLE_MODELS_TRANSFORMERS_NETWORK_H

#include "build.h"

struct axle__network {
    axle_module base;
    axle_transformer_config *config;
    const axle__architecture *kind;
    const axle__task *task;
    axle__sizes sizes;
    int64_t labels;
    int64_t longest; /* sequence, in tokens */
    /* Modules below are borrowed from the tree. */
    axle_module *body; /* where the body's children are; the root itself without a head */
    axle_module *embeddings, *projection, *pooler; /* of encoders */
    axle_module *positions, *norm;                 /* of decoders; the norm behind the layers */
    axle_module *words;  /* of the embeddings, whose weight heads may share */
    axle_module **layer; /* sizes.layers of them */
    struct {
        axle_module *dense, *norm, *out;
    } head;
};

/* The row of a task's name; AXLE_ERR_NOT_FOUND, naming what there is. */
int axle__task_choose(const axle_transformer_config *config, const char *name,
                      const axle__task **out);
/* A network with values of no meaning. `config` is copied. */
int axle__network_create(const axle_transformer_config *config, const axle__task *task,
                         axle__network **out);
/* NULL for modules of other kinds. */
axle__network *axle__network_of(const axle_model *model);
/* A model of it, which takes it over, also on failure. */
int axle__network_model(axle__network *network, axle_model **out);

/* Draw initial values of the parameters that `wanted` (NULL: all) picks. */
typedef bool (*axle__name_fn)(const char *path, void *user);
int axle__initialise(axle__network *network, axle__name_fn wanted, void *user);

bool axle__ends_with(const char *text, const char *end);

/* x, or in training what dropout leaves of it. */
axle_tensor *axle__drop(const axle_module *module, axle_tensor *x, double p);
/* (N, T, H) to (N, H): what the first token has become. */
axle_tensor *axle__first_token(axle_tensor *hidden);

#endif
