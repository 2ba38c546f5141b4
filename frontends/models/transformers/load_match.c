/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensor of the files is which of the model. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

enum { LONGEST_NAME = 512 };

static int out_of_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory for names of tensors");
}

/* ------------------------------------------------------------------ the model's names */

static int add_target(const char *path, axle_tensor *tensor, void *user)
{
    axle__loading *loading = user;
    if (loading->count == loading->room) {
        size_t room = loading->room ? 2 * loading->room : 64;
        axle__target *target = realloc(loading->target, room * sizeof(*target));
        if (!target)
            return out_of_memory();
        loading->target = target;
        loading->room = room;
    }
    size_t first = 0;
    while (first < loading->count && loading->target[first].tensor != tensor)
        first++;
    char *name = strdup(path);
    if (!name)
        return out_of_memory();
    loading->target[loading->count++] =
        (axle__target){.name = name, .tensor = tensor, .first = first};
    return AXLE_OK;
}

static axle__target *find(axle__loading *loading, const char *name)
{
    for (size_t k = 0; k < loading->count; k++)
        if (strcmp(loading->target[k].name, name) == 0)
            return &loading->target[k];
    return NULL;
}

/* ------------------------------------------------------------------ names of files */

static bool is_ignored(const axle__network *network, const char *name)
{
    static const char *const buffers[] = {"position_ids", "*.position_ids", NULL};
    for (int k = 0; buffers[k]; k++)
        if (fnmatch(buffers[k], name, 0) == 0)
            return true;
    for (int k = 0; network->kind->ignored && network->kind->ignored[k]; k++)
        if (fnmatch(network->kind->ignored[k], name, 0) == 0)
            return true;
    return false;
}

/* The name with the base model's prefix put before it, or taken off where the model is that. */
static bool change_prefix(const axle__network *network, const char *name, char out[LONGEST_NAME])
{
    const char *prefix = network->kind->prefix;
    size_t length = strlen(prefix);
    int written;
    if (network->task->head)
        written = snprintf(out, LONGEST_NAME, "%s.%s", prefix, name);
    else if (strncmp(name, prefix, length) == 0 && name[length] == '.')
        written = snprintf(out, LONGEST_NAME, "%s", name + length + 1);
    else
        return false;
    return written < LONGEST_NAME;
}

/* Weight and bias of norms had other names once. */
static bool change_norm(const char *name, char out[LONGEST_NAME])
{
    static const char *const changes[][2] = {{".LayerNorm.gamma", ".LayerNorm.weight"},
                                             {".LayerNorm.beta", ".LayerNorm.bias"}};
    for (int k = 0; k < 2; k++) {
        if (!axle__ends_with(name, changes[k][0]))
            continue;
        int length = (int)(strlen(name) - strlen(changes[k][0]));
        return snprintf(out, LONGEST_NAME, "%.*s%s", length, name, changes[k][1]) < LONGEST_NAME;
    }
    return false;
}

/* The target of a name; *distance tells what it took to find it. */
static axle__target *find_for(axle__loading *loading, const char *name, int *distance)
{
    char other[LONGEST_NAME], norm[LONGEST_NAME];
    axle__target *target = find(loading, name);
    *distance = 0;
    if (!target && change_prefix(loading->network, name, other)) {
        *distance = 1;
        target = find(loading, other);
    }
    if (!target && change_norm(name, norm)) {
        *distance = 2;
        target = find(loading, norm);
        if (!target && change_prefix(loading->network, norm, other))
            target = find(loading, other);
    }
    return target;
}

/* ------------------------------------------------------------------ matching */

static bool has_dims(const axle_stored_tensor *stored, const axle_tensor *tensor)
{
    return stored->rank == axle_tensor_rank(tensor) &&
           memcmp(stored->dims, axle_tensor_dims(tensor),
                  (size_t)stored->rank * sizeof(*stored->dims)) == 0;
}

static int match_one(axle__loading *loading, const axle_stored_tensor *stored)
{
    int distance;
    if (is_ignored(loading->network, stored->name))
        return AXLE_OK;
    axle__target *target = find_for(loading, stored->name, &distance);
    if (!target || (target->stored && target->distance <= distance))
        return axle__names_add(&loading->unexpected, stored->name);
    const axle_stored_tensor *before = target->stored;
    target->stored = stored;
    target->distance = distance;
    target->mismatched = !has_dims(stored, target->tensor);
    return before ? axle__names_add(&loading->unexpected, before->name) : AXLE_OK;
}

static bool same_bytes(const axle_stored_tensor *a, const axle_stored_tensor *b)
{
    return a->dtype == b->dtype && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* A tied tensor is stored under any of its names; the first target gets what there is. */
static int join_tied(axle__loading *loading)
{
    for (size_t k = 0; k < loading->count; k++) {
        axle__target *target = &loading->target[k], *first = &loading->target[target->first];
        if (target == first || !target->stored)
            continue;
        if (!first->stored) {
            first->stored = target->stored;
            first->mismatched = target->mismatched;
        } else if (!same_bytes(first->stored, target->stored)) {
            return axle_error_set(AXLE_ERR_FORMAT,
                                  "tensors '%s' and '%s' differ and are one in the model",
                                  first->stored->name, target->stored->name);
        }
    }
    return AXLE_OK;
}

static int list_rest(axle__loading *loading)
{
    int status = AXLE_OK;
    for (size_t k = 0; k < loading->count && !status; k++) {
        const axle__target *target = &loading->target[k];
        if (target->first == k && !target->stored)
            status = axle__names_add(&loading->missing, target->name);
        else if (target->first == k && target->mismatched)
            status = axle__names_add(&loading->mismatched, target->name);
    }
    return status;
}

int axle__load_match(axle__loading *loading)
{
    int64_t n = axle_tensor_file_count(loading->file);
    int status = axle_module_each_parameter_name(&loading->network->base, add_target, loading);
    for (int64_t k = 0; k < n && !status; k++)
        status = match_one(loading, axle_tensor_file_at(loading->file, k));
    if (!status)
        status = join_tied(loading);
    return status ? status : list_rest(loading);
}

void axle__load_end(axle__loading *loading)
{
    for (size_t k = 0; k < loading->count; k++)
        free(loading->target[k].name);
    free(loading->target);
    free((void *)loading->missing.at);
    free((void *)loading->unexpected.at);
    free((void *)loading->mismatched.at);
}
