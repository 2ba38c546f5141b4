/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/text.h"
#include "nn/module.h"

struct activation {
    axle_module base;
    axle__activation_fn fn;
};

/* With PyTorch's defaults for what they take beside x. */
static axle_tensor *leaky_relu(axle_tensor *x)
{
    return axle_leaky_relu(x, 0.01);
}

static axle_tensor *elu(axle_tensor *x)
{
    return axle_elu(x, 1.0);
}

static axle_tensor *softplus(axle_tensor *x)
{
    return axle_softplus(x, 1.0, 20.0);
}

static axle_tensor *identity(axle_tensor *x)
{
    return x;
}

static const struct {
    const char *name;
    axle__activation_fn fn;
} activations[] = {
    {"relu", axle_relu},           {"gelu", axle_gelu},
    {"gelu_new", axle_gelu_tanh},  {"gelu_pytorch_tanh", axle_gelu_tanh},
    {"gelu_tanh", axle_gelu_tanh}, {"silu", axle_silu},
    {"tanh", axle_tanh},           {"sigmoid", axle_sigmoid},
    {"leaky_relu", leaky_relu},    {"elu", elu},
    {"mish", axle_mish},           {"hard_swish", axle_hard_swish},
    {"softplus", softplus},        {"identity", identity},
};
enum { N_ACTIVATIONS = sizeof(activations) / sizeof(activations[0]) };

axle__activation_fn axle__activation_find(const char *who, const char *name)
{
    for (int k = 0; k < N_ACTIVATIONS && name; k++)
        if (strcmp(activations[k].name, name) == 0)
            return activations[k].fn;
    char list[256];
    axle__text text;
    axle__text_init(&text, list, sizeof(list));
    for (int k = 0; k < N_ACTIVATIONS; k++)
        axle__text_add(&text, "%s%s", k ? ", " : "", activations[k].name);
    axle_error_set(AXLE_ERR_NOT_FOUND, "%s: no activation '%s'; there are %s", who,
                   name ? name : "", list);
    return NULL;
}

static axle_tensor *activation_forward(axle_module *self, axle_tensor *x)
{
    return ((struct activation *)self)->fn(x);
}

static const axle_module_class activation_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "activation",
    .instance_size = sizeof(struct activation),
    .forward = activation_forward,
};

axle__activation_fn axle__activation_of(const axle_module *module)
{
    if (module->type != &activation_class)
        return NULL;
    return ((const struct activation *)module)->fn;
}

int axle_activation_create(const char *name, axle_module **out)
{
    axle__activation_fn fn = axle__activation_find("activation", name);
    if (!fn)
        return axle_error_code();
    struct activation *activation = NULL;
    int status = axle_module_new(&activation_class, (axle_module **)&activation);
    if (!status)
        activation->fn = fn;
    return axle__module_finish(status, (axle_module *)activation, out);
}
