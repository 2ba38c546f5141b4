/* SPDX-License-Identifier: Apache-2.0 */
/* Which parameters of a module learn. */
#include <fnmatch.h>

#include "axle/autograd.h"
#include "base/error.h"
#include "nn/module.h"

struct freeze {
    const char *pattern;
    int on;
    int64_t matches;
};

/* A gradient that is there already would still be applied, and decay with it. */
static int freeze_match(const char *path, axle_tensor *tensor, void *user)
{
    struct freeze *freeze = user;
    if (fnmatch(freeze->pattern, path, 0) != 0)
        return AXLE_OK;
    freeze->matches++;
    int status = freeze->on ? axle_tensor_set_grad(tensor, NULL) : AXLE_OK;
    return status ? status : axle_tensor_set_requires_grad(tensor, !freeze->on);
}

int axle_module_freeze(axle_module *module, const char *pattern, int on)
{
    struct freeze freeze = {pattern, on, 0};
    if (!module || !pattern)
        return axle__missing("axle_module_freeze", module ? "the pattern" : "the module");
    int status = axle__module_walk(module, AXLE__PARAMETERS, true, freeze_match, &freeze);
    if (!status && freeze.matches == 0)
        status = axle_error_set(AXLE_ERR_NOT_FOUND, "axle_module_freeze: no parameter matches '%s'",
                                pattern);
    return status;
}

static int count_trainable(const char *path, axle_tensor *tensor, void *user)
{
    (void)path;
    if (axle_tensor_requires_grad(tensor))
        *(int64_t *)user += axle_tensor_count(tensor);
    return AXLE_OK;
}

int axle_module_trainable_count(const axle_module *module, int64_t *out)
{
    int64_t count = 0;
    int status = axle_module_each_parameter(module, count_trainable, &count);
    if (!status)
        *out = count;
    return status;
}
