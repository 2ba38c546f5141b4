/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ResNet-18 (He et al., 2016) with a 3x3 stem of stride 1 and no pooling after it, as is usual for
 * small pictures. Parameters have the names and the initialisation of torchvision's model.
 */
#include "models.h"

enum { STAGES = 4, BLOCKS = 2, WIDTH = 64 };

/* A convolution without bias, drawn as He et al. (2015) do for relu. */
static int create_conv(int64_t in, int64_t out_channels, int kernel, int stride, axle_module **out)
{
    axle_module *conv;
    int status = axle_conv2d_create(in, out_channels, kernel, stride, kernel / 2, 0, &conv);
    if (status)
        return status;
    status = axle_init_kaiming_normal(axle_module_parameter(conv, "weight"), 0.0, 1);
    if (status)
        axle_module_release(conv);
    else
        *out = conv;
    return status;
}

static int create_norm(int64_t channels, axle_module **out)
{
    return axle_batch_norm_create(channels, 1e-5, 0.1, out);
}

/* ------------------------------------------------------------------ blocks */

struct block {
    axle_module base;
    axle_module *conv1, *bn1, *conv2, *bn2;
    axle_module *downsample; /* NULL where x goes through unchanged */
};

/* x (N, C, H, W) to (N, C', H/stride, W/stride). */
static axle_tensor *block_forward(axle_module *self, axle_tensor *x)
{
    const struct block *block = (struct block *)self;
    axle_tensor *y = axle_module_forward(block->conv1, x);
    y = axle_relu(axle_module_forward(block->bn1, y));
    y = axle_module_forward(block->bn2, axle_module_forward(block->conv2, y));
    axle_tensor *through = block->downsample ? axle_module_forward(block->downsample, x) : x;
    return axle_relu(axle_add(y, through));
}

static const axle_module_class block_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "basic_block",
    .instance_size = sizeof(struct block),
    .forward = block_forward,
};

static int create_downsample(int64_t in, int64_t channels, int stride, axle_module **out)
{
    axle__build build = {0};
    axle__build_begin(&build, axle_sequential_create(&build.module));
    axle__build_add(&build, NULL, create_conv(in, channels, 1, stride, &build.layer));
    axle__build_add(&build, NULL, create_norm(channels, &build.layer));
    return axle__build_finish(&build, out);
}

static int create_block(int64_t in, int64_t channels, int stride, axle_module **out)
{
    axle__build build = {0};
    axle_module **layer = &build.layer;
    axle__build_begin(&build, axle_module_new(&block_class, &build.module));
    axle__build_add(&build, "conv1", create_conv(in, channels, 3, stride, layer));
    axle__build_add(&build, "bn1", create_norm(channels, layer));
    axle__build_add(&build, "conv2", create_conv(channels, channels, 3, 1, layer));
    axle__build_add(&build, "bn2", create_norm(channels, layer));
    if (stride != 1 || in != channels)
        axle__build_add(&build, "downsample", create_downsample(in, channels, stride, layer));
    axle_module *module;
    int status = axle__build_finish(&build, &module);
    if (status)
        return status;
    struct block *block = (struct block *)module;
    block->conv1 = axle_module_child(module, "conv1");
    block->bn1 = axle_module_child(module, "bn1");
    block->conv2 = axle_module_child(module, "conv2");
    block->bn2 = axle_module_child(module, "bn2");
    block->downsample = axle_module_child(module, "downsample");
    *out = module;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ the network */

struct resnet {
    axle_module base;
    axle_module *conv1, *bn1, *layer[STAGES], *fc;
};

static const char *const layer_names[STAGES] = {"layer1", "layer2", "layer3", "layer4"};

static axle_tensor *resnet_forward(axle_module *self, axle_tensor *x)
{
    const struct resnet *resnet = (struct resnet *)self;
    x = axle_relu(axle_module_forward(resnet->bn1, axle_module_forward(resnet->conv1, x)));
    for (int k = 0; k < STAGES; k++)
        x = axle_module_forward(resnet->layer[k], x);
    x = axle_adaptive_avg_pool(x, (const int64_t[]){1, 1});
    return axle_module_forward(resnet->fc, axle_flatten(x, 1, -1));
}

static const axle_module_class resnet_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "resnet",
    .instance_size = sizeof(struct resnet),
    .forward = resnet_forward,
};

/* Two blocks; the first one of all stages but the first halves the picture. */
static int create_stage(int stage, axle_module **out)
{
    int64_t channels = (int64_t)WIDTH << stage, in = stage ? channels / 2 : channels;
    axle__build build = {0};
    axle__build_begin(&build, axle_sequential_create(&build.module));
    for (int k = 0; k < BLOCKS; k++)
        axle__build_add(
            &build, NULL,
            create_block(k ? channels : in, channels, stage && !k ? 2 : 1, &build.layer));
    return axle__build_finish(&build, out);
}

int axle__resnet18_create(const axle_image_model_options *options, axle_module **out)
{
    axle__build build = {0};
    axle_module **layer = &build.layer;
    axle__build_begin(&build, axle_module_new(&resnet_class, &build.module));
    axle__build_add(&build, "conv1", create_conv(options->channels, WIDTH, 3, 1, layer));
    axle__build_add(&build, "bn1", create_norm(WIDTH, layer));
    for (int k = 0; k < STAGES; k++)
        axle__build_add(&build, layer_names[k], create_stage(k, layer));
    axle__build_add(&build, "fc",
                    axle_linear_create((int64_t)WIDTH << (STAGES - 1), options->classes, 1, layer));
    axle_module *module;
    int status = axle__build_finish(&build, &module);
    if (status)
        return status;
    struct resnet *resnet = (struct resnet *)module;
    resnet->conv1 = axle_module_child(module, "conv1");
    resnet->bn1 = axle_module_child(module, "bn1");
    for (int k = 0; k < STAGES; k++)
        resnet->layer[k] = axle_module_child(module, layer_names[k]);
    resnet->fc = axle_module_child(module, "fc");
    *out = module;
    return AXLE_OK;
}
