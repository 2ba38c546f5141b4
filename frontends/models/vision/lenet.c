/* SPDX-License-Identifier: Apache-2.0 */
/* A small convolutional network after LeNet (LeCun et al., 1998). */
#include "axle/status.h"
#include "models.h"

enum { NARROW = 8, WIDE = 16, HIDDEN = 128, KERNEL = 5, PADDING = 2 };

/* Convolution that keeps the picture's size, relu, and pooling that halves it. */
static void add_stage(axle__build *build, int64_t in, int64_t out)
{
    axle_module **layer = &build->layer;
    axle__build_add(build, NULL, axle_conv2d_create(in, out, KERNEL, 1, PADDING, 1, layer));
    axle__build_add(build, NULL, axle_activation_create("relu", layer));
    axle__build_add(build, NULL, axle_max_pool_create(NULL, layer));
}

int axle__lenet_create(const axle_image_model_options *options, axle_module **out)
{
    int64_t height = options->height / 4, width = options->width / 4;
    if (height < 1 || width < 1)
        return axle_error_set(AXLE_ERR_INVALID,
                              "lenet: pictures of %lld x %lld are too small, "
                              "it halves them twice",
                              (long long)options->height, (long long)options->width);
    axle__build build = {0};
    axle_module **layer = &build.layer;
    axle__build_begin(&build, axle_sequential_create(&build.module));
    add_stage(&build, options->channels, NARROW);
    add_stage(&build, NARROW, WIDE);
    axle__build_add(&build, NULL, axle_flatten_create(layer));
    axle__build_add(&build, NULL, axle_linear_create(WIDE * height * width, HIDDEN, 1, layer));
    axle__build_add(&build, NULL, axle_activation_create("relu", layer));
    if (options->dropout > 0.0)
        axle__build_add(&build, NULL, axle_dropout_create(options->dropout, layer));
    axle__build_add(&build, NULL, axle_linear_create(HIDDEN, options->classes, 1, layer));
    return axle__build_finish(&build, out);
}
