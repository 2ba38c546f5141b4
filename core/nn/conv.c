/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/module.h"
#include "tensor/shape.h"

struct conv {
    axle_module base;
    axle_conv_options options;
    axle_tensor *weight; /* (O, C/groups, kernel...), transposed (C, O/groups, kernel...) */
    axle_tensor *bias;   /* (O), or NULL */
};

static int check_input(const struct conv *conv, const axle_tensor *x)
{
    char text[AXLE__DIMS_TEXT];
    if (axle__rank(x) == conv->options.dims + 2)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_SHAPE, "conv: wants %d dims after batch and channels, got %s",
                          conv->options.dims, axle__shape_text(x, text));
}

static axle_tensor *conv_forward(axle_module *self, axle_tensor *x)
{
    const struct conv *conv = (struct conv *)self;
    if (check_input(conv, x))
        return NULL;
    if (conv->options.transposed)
        return axle_conv_transpose(x, conv->weight, conv->bias, &conv->options.params);
    return axle_conv(x, conv->weight, conv->bias, &conv->options.params);
}

static axle_tensor *conv_relu_forward(axle_module *self, axle_tensor *x)
{
    const struct conv *conv = (struct conv *)self;
    axle_conv_params params = conv->options.params;
    params.relu = 1;
    return check_input(conv, x) ? NULL : axle_conv(x, conv->weight, conv->bias, &params);
}

const axle_module_class axle__conv_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "conv",
    .instance_size = sizeof(struct conv),
    .forward = conv_forward,
};

axle__forward_fn axle__conv_with_relu(const axle_module *module)
{
    if (module->type != &axle__conv_class || axle__is_recomputed(module) ||
        ((const struct conv *)module)->options.transposed)
        return NULL;
    return conv_relu_forward;
}

/* ------------------------------------------------------------------ construction */

static int check_channels(const axle_conv_options *options)
{
    if (options->dims < 1 || options->dims > 3)
        return axle_error_set(AXLE_ERR_INVALID, "conv: dims is %d, must be 1 to 3", options->dims);
    if (axle__check_least("conv", "in_channels", options->in_channels, 1) ||
        axle__check_least("conv", "out_channels", options->out_channels, 1) ||
        axle__check_least("conv", "groups", options->params.groups, 1) ||
        axle__check_divides("conv", "groups", options->params.groups, "in_channels",
                            options->in_channels) ||
        axle__check_divides("conv", "groups", options->params.groups, "out_channels",
                            options->out_channels))
        return axle_error_code();
    return AXLE_OK;
}

static int check_output_padding(const axle_conv_options *options, int k)
{
    const axle_conv_params *params = &options->params;
    int padding = params->output_padding[k];
    if (padding == 0)
        return AXLE_OK;
    if (options->transposed && padding > 0 &&
        (padding < params->stride[k] || padding < params->dilation[k]))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID,
                          "conv: output_padding is %d; it belongs to transposed convolutions and "
                          "is less than stride %d or dilation %d",
                          padding, params->stride[k], params->dilation[k]);
}

static int check_spatial(const axle_conv_options *options)
{
    const axle_conv_params *params = &options->params;
    for (int k = 0; k < options->dims; k++)
        if (axle__check_least("conv", "kernel", options->kernel[k], 1) ||
            axle__check_least("conv", "stride", params->stride[k], 1) ||
            axle__check_least("conv", "padding", params->padding[k], 0) ||
            axle__check_least("conv", "dilation", params->dilation[k], 1) ||
            check_output_padding(options, k))
            return axle_error_code();
    if (options->transposed && params->relu)
        return axle_error_set(AXLE_ERR_INVALID,
                              "conv: a transposed convolution takes no relu in the same pass");
    return AXLE_OK;
}

static int add_parameters(struct conv *conv)
{
    const axle_conv_options *options = &conv->options;
    int64_t groups = options->params.groups;
    int64_t rows = options->transposed ? options->in_channels : options->out_channels;
    int64_t columns = (options->transposed ? options->out_channels : options->in_channels) / groups;
    int64_t dims[5] = {rows, columns, options->kernel[0], options->kernel[1], options->kernel[2]};
    int rank = options->dims + 2;
    int64_t fan = axle__dims_count("conv", rank - 1, dims + 1);
    if (fan < 0)
        return axle_error_code();
    double bound = axle__fan_bound(fan);
    int status = axle__add_uniform(&conv->base, "weight", bound, rank, dims, &conv->weight);
    if (!status && options->bias)
        status = axle__add_uniform(&conv->base, "bias", bound, AXLE_DIMS(options->out_channels),
                                   &conv->bias);
    return status;
}

int axle_conv_create(const axle_conv_options *given, axle_module **out)
{
    axle_conv_options options = AXLE_CONV_OPTIONS_INIT;
    if (axle__options_copy("conv", given, &options, sizeof(options)) || check_channels(&options) ||
        check_spatial(&options))
        return axle_error_code();
    struct conv *conv = NULL;
    int status = axle_module_new(&axle__conv_class, (axle_module **)&conv);
    if (!status) {
        conv->options = options;
        status = add_parameters(conv);
    }
    return axle__module_finish(status, (axle_module *)conv, out);
}

int axle_conv2d_create(int64_t in_channels, int64_t out_channels, int kernel, int stride,
                       int padding, int bias, axle_module **out)
{
    axle_conv_options options = AXLE_CONV_OPTIONS_INIT;
    options.in_channels = in_channels;
    options.out_channels = out_channels;
    options.bias = bias;
    for (int k = 0; k < 2; k++) {
        options.kernel[k] = kernel;
        options.params.stride[k] = stride;
        options.params.padding[k] = padding;
    }
    return axle_conv_create(&options, out);
}
