/* SPDX-License-Identifier: Apache-2.0 */
/* What the constructors of models share. */
#ifndef AXLE_MODELS_MODELS_H
#define AXLE_MODELS_MODELS_H

#include "axle/models.h"

/*
 * A module under construction, with a sticky status: once a step fails, the rest change nothing and
 * axle__build_finish() releases what was made.
 *
 *     axle__build build = {0};
 *     axle__build_begin(&build, axle_sequential_create(&build.module));
 *     axle__build_add(&build, NULL, axle_flatten_create(&build.layer));
 *     return axle__build_finish(&build, out);
 */
typedef struct axle__build {
    axle_module *module; /* what is built */
    axle_module *layer;  /* the layer that was just made */
    int status;
} axle__build;

/* `status` is that of making build->module. */
void axle__build_begin(axle__build *build, int status);
/* Add build->layer, or note that making it failed with `status`. */
void axle__build_add(axle__build *build, const char *name, int status);
int axle__build_finish(axle__build *build, axle_module **out);

/* Constructors of the models, with checked options. */
int axle__mlp_create(const axle_image_model_options *options, axle_module **out);
int axle__lenet_create(const axle_image_model_options *options, axle_module **out);
int axle__resnet18_create(const axle_image_model_options *options, axle_module **out);

#endif
