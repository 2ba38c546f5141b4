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

/* Children first to end - 1. */
static axle_tensor *run_children(axle_module *self, int first, int end, axle_tensor *x)
{
    for (int k = first; k < end && x; k++) {
        axle__forward_fn fused = fused_at(self, k);
        axle_module *child = axle__child_at(self, k);
        x = fused ? fused(child, x) : axle_module_forward(child, x);
        k += fused != NULL;
    }
    return x;
}

static axle_tensor *run_again(axle_tensor *const *in, int n_in, void *user)
{
    const axle__again *again = user;
    (void)n_in;
    if (axle_scope_push())
        return NULL;
    return axle_scope_pop_keep(
        run_children(again->module, again->number[0], again->number[1], in[0]));
}

/* The least s for which s * s >= n. */
static int root_of(int n)
{
    int s = 0;
    while (s * s < n)
        s++;
    return s;
}

/* Backward has all of one piece at a time, and what is between pieces: n / s + s is least for
 * s = sqrt(n). What is last in forward is needed first in backward, so it is not dropped. */
static axle_tensor *run_in_pieces(axle_module *self, axle_tensor *x)
{
    int n = axle_module_child_count(self), size = root_of(n), first = 0;
    while (first + size < n && x) {
        int end = first + size;
        end += fused_at(self, end - 1) != NULL;
        if (end >= n)
            break;
        axle__again again = {self, {first, end}};
        x = axle__recomputed(&again, run_again, &x, 1);
        first = end;
    }
    return run_children(self, first, n, x);
}

static axle_tensor *sequential_forward(axle_module *self, axle_tensor *x)
{
    if (axle__is_recomputed(self))
        return run_in_pieces(self, x);
    return run_children(self, 0, axle_module_child_count(self), x);
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
