/* SPDX-License-Identifier: Apache-2.0 */
/* Models into folders. */
#include <stdlib.h>
#include <string.h>

#include "../../common/folder.h"
#include "../../common/options_copy.h"
#include "axle/safetensors.h"
#include "config.h"
#include "network.h"

typedef struct content {
    char **name;
    axle_tensor **tensor;
    int64_t count, room;
} content;

static int out_of_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory for names of tensors");
}

static int make_room(content *all)
{
    int64_t room = all->room ? 2 * all->room : 64;
    char **name = realloc(all->name, (size_t)room * sizeof(*name));
    if (name)
        all->name = name;
    axle_tensor **tensor = realloc(all->tensor, (size_t)room * sizeof(*tensor));
    if (tensor)
        all->tensor = tensor;
    if (!name || !tensor)
        return out_of_memory();
    all->room = room;
    return AXLE_OK;
}

static int add(const char *path, axle_tensor *tensor, void *user)
{
    content *all = user;
    if (all->count == all->room && make_room(all))
        return axle_error_code();
    char *name = strdup(path);
    if (!name)
        return out_of_memory();
    all->name[all->count] = name;
    all->tensor[all->count++] = tensor;
    return AXLE_OK;
}

static int write_tensors(const axle__network *network, const char *directory,
                         const axle_save_pretrained_options *o)
{
    static const char *const format[1][2] = {{"format", "pt"}};
    axle_tensor_file_options options = AXLE_TENSOR_FILE_OPTIONS_INIT;
    content all = {0};
    options.dtype = o->dtype;
    options.shard_size = o->shard_size;
    options.metadata = format;
    options.metadata_count = 1;
    int status = axle_module_each_parameter(&network->base, add, &all);
    if (!status)
        status = axle_tensor_file_write(directory, (const char *const *)all.name, all.tensor,
                                        all.count, &options);
    for (int64_t k = 0; k < all.count; k++)
        free(all.name[k]);
    free(all.name);
    free(all.tensor);
    return status;
}

/* ------------------------------------------------------------------ config.json */

/* PyTorch's name of an element type; NULL for others. */
static const char *torch_name(int dtype)
{
    static const struct {
        int dtype;
        const char *name;
    } names[] = {{AXLE_DTYPE_F32, "float32"},
                 {AXLE_DTYPE_F64, "float64"},
                 {AXLE_DTYPE_F16, "float16"},
                 {AXLE_DTYPE_BF16, "bfloat16"}};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        if (names[k].dtype == dtype)
            return names[k].name;
    return NULL;
}

static int write_config(const axle__network *network, const char *directory, int dtype)
{
    axle_transformer_config *config;
    int status = axle__config_copy(network->config, &config);
    if (status)
        return status;
    const axle_tensor *words = axle_module_parameter(network->words, "weight");
    const char *type = torch_name(dtype ? dtype : axle_tensor_dtype(words));
    status = axle__config_put(config, "architectures", json_pack("[s]", network->task->class_name));
    if (!status && type)
        status = axle_transformer_config_set_string(config, "torch_dtype", type);
    if (!status)
        status = axle_transformer_config_write(config, directory);
    axle_transformer_config_release(config);
    return status;
}

int axle_transformer_save_pretrained(const axle_model *model, const char *directory,
                                     const axle_save_pretrained_options *options)
{
    axle_save_pretrained_options o = AXLE_SAVE_PRETRAINED_OPTIONS_INIT;
    const axle__network *network = axle__network_of(model);
    if (!network)
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_transformer_save_pretrained: the model is no transformer");
    int status = options_copy("axle_transformer_save_pretrained", options, &o, sizeof(o));
    if (status)
        return status;
    status = folder_make(directory, NULL);
    if (!status)
        status = write_tensors(network, directory, &o);
    return status ? status : write_config(network, directory, o.dtype);
}
