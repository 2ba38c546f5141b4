/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saving and loading a module's tensors. A tied tensor is written once, under its first name; the
 * file's metadata maps its other names to that one, as other writers of the format do. In a file
 * that is read, each of its names will do.
 */
#include <string.h>

#include "axle/autograd.h"
#include "base/memory.h"
#include "io/module_state.h"
#include "nn/module.h"

/* ------------------------------------------------------------------ all names */

static int add_entry(const char *path, axle_tensor *tensor, void *user)
{
    axle__state_entries *all = user;
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 32;
        axle__state_entry *at = axle__resize(all->at, room, sizeof(*at));
        if (!at)
            return axle_error_code();
        all->at = at;
        all->room = room;
    }
    size_t first = 0;
    while (first < all->count && all->at[first].tensor != tensor)
        first++;
    char *name = axle__strdup(path);
    if (!name)
        return axle_error_code();
    all->at[all->count++] = (axle__state_entry){.name = name, .tensor = tensor, .first = first};
    return AXLE_OK;
}

int axle__state_collect(const axle_module *module, axle__state_entries *all)
{
    int status = axle__module_walk(module, AXLE__PARAMETERS, true, add_entry, all);
    return status ? status : axle__module_walk(module, AXLE__BUFFERS, true, add_entry, all);
}

void axle__state_free(axle__state_entries *all)
{
    for (size_t k = 0; k < all->count; k++) {
        axle__free(all->at[k].name);
        axle_tensor_release(all->at[k].staged);
    }
    axle__free(all->at);
    *all = (axle__state_entries){0};
}

/* ------------------------------------------------------------------ saving */

/* Readers of the format want to know whose tensors these are, and PyTorch's they are alike. */
static const char *const format[1][2] = {{"format", "pt"}};

int axle__state_content(const axle__state_entries *all, axle__safetensors_source **sources,
                        axle__shard_content *out)
{
    *sources = axle__alloc(all->count, sizeof(**sources));
    *out = (axle__shard_content){.sources = *sources,
                                 .aliases = axle__alloc(all->count + 1, sizeof(*out->aliases)),
                                 .metadata = format,
                                 .metadata_count = 1};
    if (!*sources || !out->aliases)
        return axle_error_code();
    for (size_t k = 0; k < all->count; k++) {
        const axle__state_entry *entry = &all->at[k];
        if (entry->first == k) {
            (*sources)[out->count++] = axle__safetensors_source_of(entry->name, entry->tensor);
        } else {
            out->aliases[out->alias_count][0] = entry->name;
            out->aliases[out->alias_count++][1] = all->at[entry->first].name;
        }
    }
    return AXLE_OK;
}

void axle__state_content_free(axle__safetensors_source *sources, axle__shard_content *content)
{
    axle__free(sources);
    axle__free((void *)content->aliases);
    *content = (axle__shard_content){0};
}

int axle_module_save(const axle_module *module, const char *path)
{
    axle__state_entries all = {NULL, 0, 0};
    axle__safetensors_source *sources = NULL;
    axle__shard_content content = {0};
    int status = axle__state_collect(module, &all);
    if (!status)
        status = axle__state_content(&all, &sources, &content);
    if (!status) {
        const char **last = content.aliases[content.alias_count]; /* there is room for one more */
        last[0] = format[0][0];
        last[1] = format[0][1];
        status = axle__safetensors_write_sources(path, sources, content.count,
                                                 (const char *const(*)[2])content.aliases,
                                                 content.alias_count + 1, NULL);
    }
    axle__state_content_free(sources, &content);
    axle__state_free(&all);
    return status;
}

/* ------------------------------------------------------------------ loading */

static int check_dims(const char *path, const axle__state_entry *entry,
                      const axle__safetensors_entry *stored)
{
    char ours[AXLE__DIMS_TEXT], theirs[AXLE__DIMS_TEXT];
    const axle_tensor *tensor = entry->tensor;
    size_t size = (size_t)stored->rank * sizeof(stored->dims[0]);
    if (stored->rank != axle__rank(tensor) || memcmp(stored->dims, tensor->view.dim, size) != 0)
        return axle_error_set(AXLE_ERR_SHAPE, "%s: tensor '%s' is %s, the module's %s", path,
                              entry->name, axle__dims_text(stored->rank, stored->dims, theirs),
                              axle__shape_text(tensor, ours));
    if (axle_dtype_is_float(stored->dtype) == axle_dtype_is_float((int)axle__dtype(tensor)))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DTYPE, "%s: tensor '%s' is %s, the module's %s", path,
                          entry->name, axle_dtype_name(stored->dtype),
                          axle_dtype_name((int)axle__dtype(tensor)));
}

static bool same_bytes(const axle__safetensors_entry *a, const axle__safetensors_entry *b)
{
    return a->dtype == b->dtype && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Find what the file holds for each tensor, under any of its names. */
static int match(const char *path, const axle__shards *files, axle__state_entries *all)
{
    for (size_t k = 0; k < all->count; k++) {
        axle__state_entry *entry = &all->at[k], *first = &all->at[entry->first];
        const axle__safetensors_entry *stored = axle__shards_find(files, entry->name);
        if (!stored)
            continue;
        if (check_dims(path, entry, stored))
            return axle_error_code();
        if (first->stored && !same_bytes(first->stored, stored))
            return axle_error_set(AXLE_ERR_FORMAT,
                                  "%s: tensors '%s' and '%s' differ and are one in the module",
                                  path, first->stored->name, stored->name);
        first->stored = first->stored ? first->stored : stored;
    }
    return AXLE_OK;
}

static int check_nothing_missing(const char *path, const axle__state_entries *all)
{
    for (size_t k = 0; k < all->count; k++)
        if (all->at[k].first == k && !all->at[k].stored)
            return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: there is no tensor '%s'", path,
                                  all->at[k].name);
    return AXLE_OK;
}

static bool has_name(const axle__state_entries *all, const char *name)
{
    for (size_t k = 0; k < all->count; k++)
        if (strcmp(all->at[k].name, name) == 0)
            return true;
    return false;
}

static int check_nothing_else(const char *path, const axle__shards *files,
                              const axle__state_entries *all)
{
    for (size_t f = 0; f < files->count; f++)
        for (size_t k = 0; k < axle__safetensors_count(files->file[f]); k++) {
            const char *name = axle__safetensors_at(files->file[f], k)->name;
            if (!has_name(all, name))
                return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: the module has no tensor '%s'", path,
                                      name);
        }
    return AXLE_OK;
}

/* Read a tensor from the file into one with the module's device and element type. */
static int stage(axle__state_entry *entry)
{
    const axle__safetensors_entry *stored = entry->stored;
    const axle_tensor *tensor = entry->tensor;
    axle_tensor *host = axle__tensor_new("axle_module_load", axle_device_host(), stored->dtype,
                                         stored->rank, stored->dims, NULL);
    entry->staged = axle__tensor_new("axle_module_load", tensor->device, (int)axle__dtype(tensor),
                                     axle__rank(tensor), tensor->view.dim, NULL);
    int status = host && entry->staged ? AXLE_OK : axle_error_code();
    if (!status)
        status = axle_tensor_write(host, stored->data, stored->size);
    if (!status)
        status = axle_tensor_assign(entry->staged, host);
    axle_tensor_release(host);
    return status;
}

int axle__state_stage(const char *path, const axle__shards *files, axle__state_entries *all)
{
    int status = match(path, files, all);
    if (!status)
        status = check_nothing_missing(path, all);
    if (!status)
        status = check_nothing_else(path, files, all);
    for (size_t k = 0; k < all->count && !status; k++)
        if (all->at[k].first == k)
            status = stage(&all->at[k]);
    return status;
}

int axle__state_commit(const axle__state_entries *all)
{
    int status = AXLE_OK;
    for (size_t k = 0; k < all->count && !status; k++)
        if (all->at[k].staged)
            status = axle_tensor_assign(all->at[k].tensor, all->at[k].staged);
    return status;
}

int axle_module_load(axle_module *module, const char *path)
{
    axle__state_entries all = {NULL, 0, 0};
    axle__shards files = {NULL, 0};
    int status = axle__shards_open(path, "model", &files);
    if (!status)
        status = axle__state_collect(module, &all);
    if (!status)
        status = axle__state_stage(path, &files, &all);
    if (!status)
        status = axle__state_commit(&all);
    axle__state_free(&all);
    axle__shards_close(&files);
    return status;
}
