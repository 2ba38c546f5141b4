/* SPDX-License-Identifier: Apache-2.0 */
/* Making and running networks. */
#include "network.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "sizes.h"

axle_tensor *axle__drop(const axle_module *module, axle_tensor *x, double p)
{
    return module->training && p > 0.0 ? axle_dropout(x, p) : x;
}

axle_tensor *axle__first_token(axle_tensor *hidden)
{
    return axle_select(hidden, 1, 0);
}

/* ------------------------------------------------------------------ the module */

static void network_destroy(axle_module *self)
{
    axle__network *network = (axle__network *)self;
    axle_transformer_config_release(network->config);
    free(network->layer);
}

static const axle_module_class network_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "transformer",
    .instance_size = sizeof(axle__network),
    .destroy = network_destroy,
};

axle__network *axle__network_of(const axle_model *model)
{
    axle_module *module = model ? axle_model_module(model) : NULL;
    return module && module->type == &network_class ? (axle__network *)module : NULL;
}

/* ------------------------------------------------------------------ making */

static int configure(axle__network *network, const axle_transformer_config *config,
                     const axle__task *task)
{
    network->kind = config->kind;
    network->task = task;
    int status = axle__config_copy(config, &network->config);
    if (!status && config->kind->check)
        status = config->kind->check(network->config);
    if (!status)
        status = axle__sizes_read(network->config, &network->sizes);
    if (!status)
        status = axle__config_name_labels(network->config);
    network->labels = status ? 0 : axle_transformer_config_label_count(network->config);
    if (!status)
        network->layer = calloc((size_t)network->sizes.layers + 1, sizeof(*network->layer));
    if (!status && !network->layer)
        status = axle_error_set(AXLE_ERR_NOMEM, "out of memory for a network");
    return status;
}

static int build(axle__network *network)
{
    axle__builder b = {AXLE_OK};
    axle_module *root = &network->base;
    network->body =
        network->task->head ? axle__build_folder(&b, root, network->kind->prefix) : root;
    axle_init_skip_push();
    if (!b.status)
        network->kind->build(&b, network);
    if (!b.status && network->task->head)
        network->task->head->build(&b, network);
    axle_init_skip_pop();
    return b.status;
}

int axle__network_create(const axle_transformer_config *config, const axle__task *task,
                         axle__network **out)
{
    axle_module *module;
    int status = axle_module_new(&network_class, &module);
    if (status)
        return status;
    axle__network *network = (axle__network *)module;
    status = configure(network, config, task);
    if (!status)
        status = build(network);
    if (status)
        axle_module_release(module);
    else
        *out = network;
    return status;
}

int axle__task_choose(const axle_transformer_config *config, const char *name,
                      const axle__task **out)
{
    char list[160] = "";
    for (const axle__task *task = config->kind->tasks; task->name; task++) {
        if (name && strcmp(task->name, name) == 0) {
            *out = task;
            return AXLE_OK;
        }
        strcat(strcat(list, *list ? ", " : ""), task->name);
    }
    return axle_error_set(AXLE_ERR_NOT_FOUND, "%s has no task '%.40s'; it has %s",
                          config->kind->model_type, name ? name : "", list);
}

int axle_transformer_create(const axle_transformer_config *config, const char *task,
                            axle_model **out)
{
    axle__network *network;
    const axle__task *row;
    int status = axle__task_choose(config, task, &row);
    if (!status)
        status = axle__network_create(config, row, &network);
    if (status)
        return status;
    status = axle__initialise(network, NULL, NULL);
    if (!status)
        return axle__network_model(network, out);
    axle_module_release(&network->base);
    return status;
}

const axle_transformer_config *axle_transformer_config_of(const axle_model *model)
{
    const axle__network *network = axle__network_of(model);
    return network ? network->config : NULL;
}

const char *axle_transformer_task_of(const axle_model *model)
{
    const axle__network *network = axle__network_of(model);
    return network ? network->task->name : NULL;
}
