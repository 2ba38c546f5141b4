/* SPDX-License-Identifier: Apache-2.0 */
/* Modules whose forward pass backward computes again. */
#include "base/memory.h"
#include "nn/module.h"

void axle_module_checkpoint(axle_module *module, int on)
{
    module->state->checkpoint = on != 0;
}

bool axle__is_recomputed(const axle_module *module)
{
    return module->state->checkpoint && axle_grad_enabled();
}

static void forget(void *user)
{
    axle__again *again = user;
    axle_module_release(again->module);
    axle__free(again);
}

axle_tensor *axle__recomputed(const axle__again *again, axle_tensor_fn fn, axle_tensor *const *in,
                              int n_in)
{
    axle__again *copy = axle__alloc(1, sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *again;
    axle_module_retain(copy->module);
    return axle_checkpoint(fn, in, n_in, copy, forget);
}
