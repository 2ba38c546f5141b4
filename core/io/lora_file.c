/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of adapters. */
#include "io/lora_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "axle/autograd.h"
#include "axle/lora.h"
#include "base/memory.h"
#include "io/safetensors.h"
#include "nn/linear.h"

/* An adapted layer, and what a file holds for it. */
struct layer {
    char *path;
    axle__linear *linear;
    const axle__safetensors_entry *stored[2]; /* A, B */
    axle_tensor *staged[2];
};

struct layers {
    struct layer *at;
    size_t count;
};

static const char *const endings[2] = {"lora_A.weight", "lora_B.weight"};

static struct layer *add_layer(struct layers *all, const char *path, size_t length,
                               axle__linear *linear)
{
    struct layer *at = axle__resize(all->at, all->count + 1, sizeof(*at));
    if (!at)
        return NULL;
    all->at = at;
    char *copy = axle__format("%.*s", (int)length, path);
    if (!copy)
        return NULL;
    at[all->count] = (struct layer){.path = copy, .linear = linear};
    return &at[all->count++];
}

static void free_layers(struct layers *all)
{
    for (size_t k = 0; k < all->count; k++) {
        axle__free(all->at[k].path);
        axle_tensor_release(all->at[k].staged[0]);
        axle_tensor_release(all->at[k].staged[1]);
    }
    axle__free(all->at);
}

/* A shared layer is saved under its first path. */
static int collect(const char *path, axle_module *module, void *user)
{
    struct layers *all = user;
    axle__linear *linear = axle__linear_of(module);
    if (!linear || !linear->lora)
        return AXLE_OK;
    for (size_t k = 0; k < all->count; k++)
        if (all->at[k].linear == linear)
            return AXLE_OK;
    return add_layer(all, path, strlen(path), linear) ? AXLE_OK : axle_error_code();
}

static char *path_in(const char *folder, const char *name)
{
    return axle__format("%s/%s", folder, name);
}

/* ------------------------------------------------------------------ saving */

static int write_tensors(const struct layers *all, const char *path)
{
    axle__named_tensor *tensors = axle__alloc(2 * all->count, sizeof(*tensors));
    int status = tensors ? AXLE_OK : axle_error_code();
    size_t n = 0;
    for (size_t k = 0; k < all->count && !status; k++)
        for (int which = 0; which < 2 && !status; which++) {
            const struct layer *layer = &all->at[k];
            char *name = axle__format("%s%s%s%s", AXLE__LORA_PREFIX, layer->path,
                                      *layer->path ? "." : "", endings[which]);
            const axle__lora *lora = layer->linear->lora;
            status = name ? AXLE_OK : axle_error_code();
            tensors[n] = (axle__named_tensor){name, which ? lora->b : lora->a};
            n += name != NULL;
        }
    static const char *const metadata[][2] = {{"format", "pt"}};
    if (!status)
        status = axle__safetensors_write(path, tensors, n, metadata, 1);
    while (n > 0)
        axle__free((void *)tensors[--n].name);
    axle__free(tensors);
    return status;
}

static int write_config(const struct layers *all, const char *path)
{
    const axle__lora *lora = all->at[0].linear->lora;
    axle__lora_config config = {lora->rank, lora->alpha, lora->dropout};
    json_t *targets = json_array();
    for (size_t k = 0; k < all->count; k++)
        if (json_array_append_new(targets, json_string(all->at[k].path))) {
            json_decref(targets);
            return axle_error_set(AXLE_ERR_NOMEM, "%s: out of memory", path);
        }
    return axle__lora_config_write(path, &config, targets);
}

static int make_folder(const char *folder)
{
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_IO, "%s: %s", folder, strerror(errno));
}

int axle_lora_save(axle_module *module, const char *folder)
{
    struct layers all = {NULL, 0};
    char *tensors = path_in(folder, AXLE__LORA_TENSORS);
    char *config = path_in(folder, AXLE__LORA_CONFIG);
    int status = tensors && config ? AXLE_OK : axle_error_code();
    if (!status)
        status = axle_module_each_module(module, collect, &all);
    if (!status && all.count == 0)
        status = axle_error_set(AXLE_ERR_STATE, "axle_lora_save: no layer has an adapter");
    if (!status)
        status = make_folder(folder);
    if (!status)
        status = write_tensors(&all, tensors);
    if (!status)
        status = write_config(&all, config);
    free_layers(&all);
    axle__free(tensors);
    axle__free(config);
    return status;
}

/* ------------------------------------------------------------------ loading */

/* Length of a layer's path in the name of one of its factors, *which of the two; -1 for another
 * name. */
static long path_length(const char *name, int *which)
{
    size_t prefix = strlen(AXLE__LORA_PREFIX), length = strlen(name);
    if (strncmp(name, AXLE__LORA_PREFIX, prefix) != 0)
        return -1;
    for (*which = 0; *which < 2; ++*which) {
        size_t n = strlen(endings[*which]);
        if (length < prefix + n || strcmp(name + length - n, endings[*which]) != 0)
            continue;
        if (length == prefix + n)
            return 0;
        return name[length - n - 1] == '.' ? (long)(length - n - 1 - prefix) : -1;
    }
    return -1;
}

static int check_stored(const char *path, const axle__linear *linear, int64_t rank, int which,
                        const axle__safetensors_entry *stored)
{
    char theirs[AXLE__DIMS_TEXT], ours[AXLE__DIMS_TEXT];
    int64_t out = axle_tensor_dim(linear->weight, 0), in = axle_tensor_dim(linear->weight, 1);
    int64_t dims[2] = {which ? out : rank, which ? rank : in};
    if (stored->rank != 2 || memcmp(stored->dims, dims, sizeof(dims)) != 0)
        return axle_error_set(AXLE_ERR_SHAPE, "%s: tensor '%s' is %s, the layer's %s", path,
                              stored->name, axle__dims_text(stored->rank, stored->dims, theirs),
                              axle__dims_text(2, dims, ours));
    if (axle_dtype_is_float(stored->dtype))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DTYPE, "%s: tensor '%s' is %s", path, stored->name,
                          axle_dtype_name(stored->dtype));
}

static struct layer *layer_at(struct layers *all, axle_module *module, const char *path,
                              size_t length)
{
    for (size_t k = 0; k < all->count; k++)
        if (strlen(all->at[k].path) == length && strncmp(all->at[k].path, path, length) == 0)
            return &all->at[k];
    struct layer *layer = add_layer(all, path, length, NULL);
    if (!layer)
        return NULL;
    axle_module *child = length ? axle_module_child(module, layer->path) : module;
    layer->linear = child ? axle__linear_of(child) : NULL;
    if (layer->linear)
        return layer;
    axle_error_set(AXLE_ERR_NOT_FOUND, "axle_lora_load: the module has no linear layer '%s'",
                   layer->path);
    return NULL;
}

static int match(const char *path, const axle__safetensors *file, axle_module *module, int64_t rank,
                 struct layers *all)
{
    for (size_t k = 0; k < axle__safetensors_count(file); k++) {
        const axle__safetensors_entry *stored = axle__safetensors_at(file, k);
        int which;
        long length = path_length(stored->name, &which);
        if (length < 0)
            return axle_error_set(AXLE_ERR_UNSUPPORTED,
                                  "%s: tensor '%s' is no factor of an adapter", path, stored->name);
        struct layer *layer =
            layer_at(all, module, stored->name + strlen(AXLE__LORA_PREFIX), (size_t)length);
        if (!layer || check_stored(path, layer->linear, rank, which, stored))
            return axle_error_code();
        layer->stored[which] = stored;
    }
    for (size_t k = 0; k < all->count; k++)
        for (int which = 0; which < 2; which++)
            if (!all->at[k].stored[which])
                return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: layer '%s' has no %s", path,
                                      all->at[k].path, endings[which]);
    if (all->count == 0)
        return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: there is no adapter in it", path);
    return AXLE_OK;
}

/* Read tensors as the layers will hold them. */
static int stage(struct layer *layer, int which)
{
    const axle__safetensors_entry *stored = layer->stored[which];
    const axle_tensor *weight = layer->linear->weight;
    axle_tensor *host = axle__tensor_new("axle_lora_load", axle_device_host(), stored->dtype,
                                         stored->rank, stored->dims, NULL);
    layer->staged[which] = axle__tensor_new("axle_lora_load", weight->device,
                                            (int)axle__dtype(weight), 2, stored->dims, NULL);
    int status = host && layer->staged[which] ? AXLE_OK : axle_error_code();
    if (!status)
        status = axle_tensor_write(host, stored->data, stored->size);
    if (!status)
        status = axle_tensor_assign(layer->staged[which], host);
    axle_tensor_release(host);
    return status;
}

/* Adapters that are there must be those of the file. */
static int check_present(const struct layers *all, int count, int64_t rank)
{
    for (size_t k = 0; k < all->count && count > 0; k++) {
        const axle__lora *lora = all->at[k].linear->lora;
        if (!lora || lora->rank != rank || lora->plain)
            return axle_error_set(AXLE_ERR_STATE, "axle_lora_load: layer '%s' %s", all->at[k].path,
                                  !lora         ? "has no adapter, but others have"
                                  : lora->plain ? "is merged"
                                                : "has an adapter of another rank");
    }
    if (count == 0 || (size_t)count == all->count)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_STATE, "axle_lora_load: %d layers have adapters, the file %zu",
                          count, all->count);
}

static int attach_all(const struct layers *all, const axle__lora_config *config)
{
    int status = AXLE_OK;
    size_t k = 0;
    for (; k < all->count && !status; k++)
        status = axle__lora_attach(all->at[k].linear, config->rank, 0.0, 0.0);
    while (status && k > 0)
        if (all->at[--k].linear->lora)
            axle__lora_detach(all->at[k].linear);
    return status;
}

static int commit(const struct layers *all, const axle__lora_config *config)
{
    int status = AXLE_OK;
    for (size_t k = 0; k < all->count && !status; k++) {
        axle__lora *lora = all->at[k].linear->lora;
        lora->alpha = config->alpha;
        lora->dropout = config->dropout;
        status = axle_tensor_assign(lora->a, all->at[k].staged[0]);
        if (!status)
            status = axle_tensor_assign(lora->b, all->at[k].staged[1]);
    }
    return status;
}

static int load(axle_module *module, const char *tensors, const char *config_path,
                struct layers *all)
{
    axle__safetensors *file = NULL;
    axle__lora_config config;
    int count = axle_lora_count(module);
    int status = axle__lora_config_read(config_path, &config);
    if (!status)
        status = axle__safetensors_open(tensors, &file);
    if (!status)
        status = match(tensors, file, module, config.rank, all);
    if (!status)
        status = check_present(all, count, config.rank);
    for (size_t k = 0; k < 2 * all->count && !status; k++)
        status = stage(&all->at[k / 2], (int)(k % 2));
    axle__safetensors_close(file);
    if (!status && count == 0)
        status = attach_all(all, &config);
    if (!status)
        status = commit(all, &config);
    return status || count > 0 ? status : axle__lora_freeze(module);
}

int axle_lora_load(axle_module *module, const char *folder)
{
    struct layers all = {NULL, 0};
    char *tensors = path_in(folder, AXLE__LORA_TENSORS);
    char *config = path_in(folder, AXLE__LORA_CONFIG);
    int status = tensors && config ? load(module, tensors, config, &all) : axle_error_code();
    free_layers(&all);
    axle__free(tensors);
    axle__free(config);
    return status;
}
