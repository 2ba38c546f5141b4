/* SPDX-License-Identifier: Apache-2.0 */
/* Models in checkpoints, and models alone. */
#include <stdlib.h>

#include "base/folder.h"
#include "base/memory.h"
#include "train/agree.h"
#include "train/checkpoint.h"
#include "train/replicas.h"

/* ------------------------------------------------------------------ which ones */

static axle_module *module_of(axle_object *object)
{
    if (object->type == AXLE__OBJECT_MODEL)
        return axle_model_module((axle_model *)object);
    return object->type == AXLE__OBJECT_MODULE ? (axle_module *)object : NULL;
}

/* The next one that is not the module of an earlier one. */
static axle_module *next_module(const axle_accelerator *accelerator, int *at)
{
    while (*at < accelerator->count) {
        axle_module *module = module_of(accelerator->prepared[*at].object);
        bool seen = false;
        for (int k = 0; k < *at && module; k++)
            seen |= module_of(accelerator->prepared[k].object) == module;
        ++*at;
        if (module && !seen)
            return module;
    }
    return NULL;
}

static int count_modules(const axle_accelerator *accelerator)
{
    int at = 0, count = 0;
    while (next_module(accelerator, &at))
        count++;
    return count;
}

static char *file_name(int k)
{
    return k == 0 ? axle__strdup("model") : axle__format("model_%d", k);
}

/* ------------------------------------------------------------------ saving */

static int collect(const void *module, axle__snapshot_file *file)
{
    int status = axle__state_collect(module, &file->entries);
    return status ? status : axle__state_content(&file->entries, &file->sources, &file->content);
}

int axle__reserve_models(const axle_accelerator *accelerator, axle__rooms *rooms)
{
    int at = 0, status = AXLE_OK;
    for (const axle_module *module; !status && (module = next_module(accelerator, &at));)
        status = axle__rooms_reserve_tensors(rooms, collect, module);
    return status;
}

int axle__capture_models(axle__capture *capture, json_t **out)
{
    int at = 0, k = 0, status = capture->status;
    const axle_module *module;
    if (status || !capture->main)
        return status;
    *out = json_array();
    for (; !status && (module = next_module(capture->accelerator, &at)); k++) {
        status = axle__snapshot_tensors(&capture->snapshot, file_name(k), collect, module);
        if (!status &&
            json_array_append_new(*out, json_pack("{s:I}", "parameters",
                                                  (json_int_t)axle_module_parameter_count(module))))
            status = axle__json_failed();
    }
    return status;
}

/* ------------------------------------------------------------------ loading */

int axle__check_models(axle__restore *restore, const json_t *value)
{
    int count = count_modules(restore->accelerator), at = 0;
    int status = axle__restore_check_count(restore, value, count, "models");
    if (status)
        return status;
    restore->models = axle__alloc((size_t)count, sizeof(*restore->models));
    if (!restore->models)
        return AXLE_ERR_NOMEM;
    restore->model_count = count;
    for (int k = 0; k < count && !status; k++) {
        axle__staged_model *model = &restore->models[k];
        char *base = file_name(k);
        status = base ? axle__shards_parse(restore->path, base, restore->files, restore->count,
                                           &model->files)
                      : AXLE_ERR_NOMEM;
        if (!status)
            status = axle__state_collect(next_module(restore->accelerator, &at), &model->entries);
        if (!status)
            status = axle__state_stage(restore->path, &model->files, &model->entries);
        axle__free(base);
    }
    return status;
}

int axle__apply_models(axle__restore *restore, const json_t *value)
{
    int status = AXLE_OK;
    (void)value;
    for (int k = 0; k < restore->model_count && !status; k++)
        status = axle__state_commit(&restore->models[k].entries);
    return status;
}

void axle__unstage_models(axle__restore *restore)
{
    for (int k = 0; k < restore->model_count; k++) {
        axle__state_free(&restore->models[k].entries);
        axle__shards_close(&restore->models[k].files);
    }
    axle__free(restore->models);
    restore->models = NULL;
}

/* ------------------------------------------------------------------ models alone */

static int check_object(const char *who, const void *object, axle_module **out)
{
    *out = object ? module_of((axle_object *)(uintptr_t)object) : NULL;
    return *out ? AXLE_OK
                : axle_error_set(AXLE_ERR_INVALID, "%s: that is no model and no module", who);
}

static int write_model(const axle_module *module, const char *directory, uint64_t shard_size)
{
    axle__state_entries entries = {0};
    axle__safetensors_source *sources = NULL;
    axle__shard_content content = {0};
    int status = axle__folder_make(directory);
    if (!status)
        status = axle__state_collect(module, &entries);
    if (!status)
        status = axle__state_content(&entries, &sources, &content);
    if (!status)
        status = axle__shards_write(directory, "model", &content, shard_size, NULL, NULL);
    axle__state_content_free(sources, &content);
    axle__state_free(&entries);
    return status;
}

int axle_save_model(axle_accelerator *accelerator, const void *object, const char *directory,
                    const axle_model_file_options *options)
{
    const axle_model_file_options defaults = AXLE_MODEL_FILE_OPTIONS_INIT;
    axle_module *module;
    int status = check_object("axle_save_model", object, &module);
    if (!status && !directory)
        status = axle_error_set(AXLE_ERR_INVALID, "axle_save_model: the folder is NULL");
    if (!status && (!accelerator || axle_is_main_process(accelerator)))
        status = write_model(module, directory, (options ? options : &defaults)->shard_size);
    return accelerator ? axle__agree(accelerator, status) : status;
}

int axle_load_model(axle_accelerator *accelerator, void *object, const char *path)
{
    axle_module *module;
    int status = check_object("axle_load_model", object, &module);
    if (!status && !path)
        status = axle_error_set(AXLE_ERR_INVALID, "axle_load_model: the path is NULL");
    if (!status && (!accelerator || axle_is_main_process(accelerator)))
        status = axle_module_load(module, path);
    if (!accelerator)
        return status;
    status = axle__agree(accelerator, status);
    return status ? status : axle__replicas_copy_module(accelerator, module);
}
