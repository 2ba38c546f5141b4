/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/linear.h"

static bool is_adapted(const axle__linear *linear)
{
    return linear->lora && !linear->lora->plain;
}

static axle_tensor *linear_forward(axle_module *self, axle_tensor *x)
{
    const axle__linear *linear = (axle__linear *)self;
    axle_tensor *y = axle_linear(x, linear->weight, linear->bias);
    return is_adapted(linear) ? axle__lora_add(linear, x, y) : y;
}

static axle_tensor *linear_relu_forward(axle_module *self, axle_tensor *x)
{
    const axle__linear *linear = (axle__linear *)self;
    return axle_linear_relu(x, linear->weight, linear->bias);
}

static void linear_destroy(axle_module *self)
{
    axle__lora_free((axle__linear *)self);
}

const axle_module_class axle__linear_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "linear",
    .instance_size = sizeof(axle__linear),
    .forward = linear_forward,
    .destroy = linear_destroy,
};

axle__forward_fn axle__linear_with_relu(const axle_module *module)
{
    if (module->type != &axle__linear_class || axle__is_recomputed(module) ||
        is_adapted((const axle__linear *)module))
        return NULL;
    return linear_relu_forward;
}

int axle_linear_create(int64_t in, int64_t out_features, int bias, axle_module **out)
{
    if (axle__check_least("linear", "in", in, 0) ||
        axle__check_least("linear", "out", out_features, 0))
        return axle_error_code();
    axle__linear *linear = NULL;
    double bound = axle__fan_bound(in);
    int status = axle_module_new(&axle__linear_class, (axle_module **)&linear);
    if (!status)
        status = axle__add_uniform(&linear->base, "weight", bound, AXLE_DIMS(out_features, in),
                                   &linear->weight);
    if (!status && bias)
        status =
            axle__add_uniform(&linear->base, "bias", bound, AXLE_DIMS(out_features), &linear->bias);
    return axle__module_finish(status, (axle_module *)linear, out);
}
