/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file models.h
 * Ready-made models (libaxle-models).
 *
 *     axle_module *net;
 *     axle_image_model_options options = AXLE_IMAGE_MODEL_OPTIONS_INIT;
 *     axle_image_model_create("lenet", &options, &net);
 */
#ifndef AXLE_MODELS_H
#define AXLE_MODELS_H

#include "axle/nn.h"

AXLE_BEGIN_DECLS

/** Starts from AXLE_IMAGE_MODEL_OPTIONS_INIT. */
typedef struct axle_image_model_options {
    size_t struct_size;
    int64_t channels, height, width, classes;
    int64_t hidden; /**< width of mlp's hidden layer */
    double dropout; /**< before the last layer of lenet and mlp; 0: no such layer */
} axle_image_model_options;
#define AXLE_IMAGE_MODEL_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(axle_image_model_options), 1, 28, 28, 10, 32, 0.0                                   \
    }

/**
 * A classifier of pictures, (N, channels, height, width) -> (N, classes):
 *   mlp       flatten, linear, relu, linear
 *   lenet     conv 1-8 5x5 pad 2, relu, pool 2, conv 8-16 5x5 pad 2, relu, pool 2, 784-128, relu,
 * 128-10 resnet18  He et al., 2016, with the 3x3 stem used for small pictures
 * @param options  NULL for the defaults. @return AXLE_ERR_NOT_FOUND, naming what there is.
 */
AXLE_API int axle_image_model_create(const char *name, const axle_image_model_options *options,
                                     axle_module **out);
/** Names of the models above, NULL-terminated. */
AXLE_API const char *const *axle_image_model_names(void);

AXLE_END_DECLS

#endif
