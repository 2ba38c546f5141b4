/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/module.h"

static axle_tensor *flatten_forward(axle_module *self, axle_tensor *x)
{
    (void)self;
    return axle_flatten(x, 1, -1);
}

static const axle_module_class flatten_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "flatten",
    .instance_size = sizeof(axle_module),
    .forward = flatten_forward,
};

int axle_flatten_create(axle_module **out)
{
    return axle_module_new(&flatten_class, out);
}
