/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initial values as transformers has them: norms are the identity, biases 0, and all other weights
 * normal with deviation initializer_range. Models adjust what they have of their own.
 */
#include <string.h>

#include "network.h"

typedef struct initialising {
    axle__network *network;
    axle__name_fn wanted;
    void *user;
} initialising;

bool axle__ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* The module that a parameter belongs to is a norm: it is known by its class. */
static bool is_of_norm(const axle__network *network, const char *path)
{
    char parent[256];
    const char *dot = strrchr(path, '.');
    if (!dot || (size_t)(dot - path) >= sizeof(parent))
        return false;
    memcpy(parent, path, (size_t)(dot - path));
    parent[dot - path] = '\0';
    const axle_module *module = axle_module_child(&network->base, parent);
    return module && strcmp(module->type->name, "layer_norm") == 0;
}

static int draw(const axle__network *network, const char *path, axle_tensor *tensor)
{
    if (axle__ends_with(path, "bias"))
        return axle_init_constant(tensor, 0.0);
    if (is_of_norm(network, path))
        return axle_init_constant(tensor, 1.0);
    return axle_init_normal(tensor, 0.0, network->sizes.deviation);
}

static int initialise_one(const char *path, axle_tensor *tensor, void *user)
{
    const initialising *what = user;
    const axle__architecture *kind = what->network->kind;
    if (what->wanted && !what->wanted(path, what->user))
        return AXLE_OK;
    int status = draw(what->network, path, tensor);
    return !status && kind->adjust ? kind->adjust(what->network, path, tensor) : status;
}

int axle__initialise(axle__network *network, axle__name_fn wanted, void *user)
{
    initialising what = {network, wanted, user};
    return axle_module_each_parameter(&network->base, initialise_one, &what);
}
