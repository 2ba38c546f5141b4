/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/module.h"

/* What runs child k and the relu after it in one pass; NULL where they are not such a pair. Both
 * stay children, so that names count as they were added. */
static axle__forward_fn fused_at(const axle_module *self, int k)
{
    if (k + 1 >= axle_module_child_count(self) ||
        axle__activation_of(axle__child_at(self, k + 1)) != axle_relu)
        return NULL;
    axle__forward_fn linear = axle__linear_with_relu(axle__child_at(self, k));
    return linear ? linear : axle__conv_with_relu(axle__child_at(self, k));
}

static axle_tensor *sequential_forward(axle_module *self, axle_tensor *x)
{
    for (int k = 0; k < axle_module_child_count(self) && x; k++) {
        axle__forward_fn fused = fused_at(self, k);
        axle_module *child = axle__child_at(self, k);
        x = fused ? fused(child, x) : axle_module_forward(child, x);
        k += fused != NULL;
    }
    return x;
}

const axle_module_class axle__sequential_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "sequential",
    .instance_size = sizeof(axle_module),
    .forward = sequential_forward,
};

int axle_sequential_create(axle_module **out)
{
    return axle_module_new(&axle__sequential_class, out);
}
