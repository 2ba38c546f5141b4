/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing the layers that get adapters. */
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "axle/lora.h"
#include "axle/random.h"
#include "base/error.h"
#include "base/memory.h"
#include "nn/linear.h"

/* A pattern of the list, and the layers that match any so far. */
struct search {
    const char *pattern;
    int matches; /* of this pattern */
    axle__linear **layers;
    size_t count;
};

static bool fits(const char *pattern, const char *path)
{
    while (fnmatch(pattern, path, 0) != 0) {
        path = strchr(path, '.');
        if (!path)
            return false;
        path++;
    }
    return true;
}

static int consider(const char *path, axle_module *module, void *user)
{
    struct search *search = user;
    axle__linear *linear = axle__linear_of(module);
    if (!linear || !fits(search->pattern, path))
        return AXLE_OK;
    search->matches++;
    for (size_t k = 0; k < search->count; k++)
        if (search->layers[k] == linear)
            return AXLE_OK;
    axle__linear **layers = axle__resize(search->layers, search->count + 1, sizeof(axle__linear *));
    if (!layers)
        return axle_error_code();
    search->layers = layers;
    layers[search->count++] = linear;
    return AXLE_OK;
}

static int find_layers(axle_module *module, const char *targets, struct search *search)
{
    char *list = axle__strdup(targets), *rest = list;
    int status = list ? AXLE_OK : axle_error_code();
    while (!status && (search->pattern = strsep(&rest, ","))) {
        search->matches = 0;
        status = axle_module_each_module(module, consider, search);
        if (!status && search->matches == 0)
            status =
                axle_error_set(AXLE_ERR_NOT_FOUND, "axle_lora_apply: no linear layer matches '%s'",
                               search->pattern);
    }
    axle__free(list);
    return status;
}

static int check_apply(axle_module *module, const axle_lora_options *o)
{
    const char *who = "axle_lora_apply";
    if (!module || !o->targets)
        return axle__missing(who, module ? "targets" : "the module");
    if (!isfinite(o->alpha))
        return axle_error_set(AXLE_ERR_INVALID, "%s: alpha %g", who, o->alpha);
    if (axle__check_least(who, "rank", o->rank, 1) || axle__check_least(who, "seed", o->seed, -1) ||
        axle__check_probability(who, "dropout", o->dropout))
        return axle_error_code();
    int count = axle_lora_count(module);
    if (count == 0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_STATE, "%s: %d layers have adapters already", who, count);
}

static int attach_all(const struct search *search, const axle_lora_options *o)
{
    axle_random_state before = axle_random_get();
    int status = AXLE_OK;
    size_t k = 0;
    if (o->seed >= 0)
        axle_seed((uint64_t)o->seed);
    for (; k < search->count && !status; k++)
        status = axle__lora_attach(search->layers[k], o->rank, o->alpha, o->dropout);
    if (o->seed >= 0 || status)
        axle_random_set(before);
    while (status && k > 0)
        if (search->layers[--k]->lora)
            axle__lora_detach(search->layers[k]);
    return status;
}

int axle_lora_apply(axle_module *module, const axle_lora_options *options)
{
    axle_lora_options o = AXLE_LORA_OPTIONS_INIT;
    struct search search = {0};
    int status = axle__options_copy("axle_lora_apply", options, &o, sizeof(o));
    if (!status)
        status = check_apply(module, &o);
    if (!status)
        status = find_layers(module, o.targets, &search);
    if (!status)
        status = attach_all(&search, &o);
    axle__free(search.layers);
    return status ? status : axle__lora_freeze(module);
}
