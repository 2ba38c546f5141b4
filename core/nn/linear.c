/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/module.h"

struct linear {
    axle_module base;
    axle_tensor *weight; /* (out, in) */
    axle_tensor *bias;   /* (out), or NULL */
};

static axle_tensor *linear_forward(axle_module *self, axle_tensor *x)
{
    const struct linear *linear = (struct linear *)self;
    return axle_linear(x, linear->weight, linear->bias);
}

static axle_tensor *linear_relu_forward(axle_module *self, axle_tensor *x)
{
    const struct linear *linear = (struct linear *)self;
    return axle_linear_relu(x, linear->weight, linear->bias);
}

const axle_module_class axle__linear_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "linear",
    .instance_size = sizeof(struct linear),
    .forward = linear_forward,
};

axle__forward_fn axle__linear_with_relu(const axle_module *module)
{
    return module->type == &axle__linear_class ? linear_relu_forward : NULL;
}

int axle_linear_create(int64_t in, int64_t out_features, int bias, axle_module **out)
{
    if (axle__check_least("linear", "in", in, 0) ||
        axle__check_least("linear", "out", out_features, 0))
        return axle_error_code();
    struct linear *linear = NULL;
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
