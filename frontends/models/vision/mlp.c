/* SPDX-License-Identifier: Apache-2.0 */
/* A perceptron with one hidden layer. */
#include "models.h"

int axle__mlp_create(const axle_image_model_options *options, axle_module **out)
{
    int64_t inputs = options->channels * options->height * options->width;
    axle__build build = {0};
    axle_module **layer = &build.layer;
    axle__build_begin(&build, axle_sequential_create(&build.module));
    axle__build_add(&build, NULL, axle_flatten_create(layer));
    axle__build_add(&build, NULL, axle_linear_create(inputs, options->hidden, 1, layer));
    axle__build_add(&build, NULL, axle_activation_create("relu", layer));
    if (options->dropout > 0.0)
        axle__build_add(&build, NULL, axle_dropout_create(options->dropout, layer));
    axle__build_add(&build, NULL, axle_linear_create(options->hidden, options->classes, 1, layer));
    return axle__build_finish(&build, out);
}
