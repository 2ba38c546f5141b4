/* SPDX-License-Identifier: Apache-2.0 */
/* Averages of parameters in checkpoints: a file of tensors, named as the parameters are. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "optim/ema.h"
#include "tensor/tensor.h"
#include "train/checkpoint.h"

static char *file_name(int k)
{
    return k == 0 ? axle__strdup("ema") : axle__format("ema_%d", k);
}

int axle_register_ema(axle_accelerator *accelerator, axle_ema *ema)
{
    axle__checkpoints *c;
    if (!accelerator || !ema)
        return axle_error_set(AXLE_ERR_INVALID, "axle_register_ema: %s is NULL",
                              accelerator ? "it" : "the accelerator");
    int status = axle__checkpoints_of(accelerator, &c);
    for (int k = 0; !status && k < c->ema_count; k++)
        if (c->ema[k] == ema)
            return AXLE_OK;
    axle_ema **all =
        status ? NULL : axle__resize(c->ema, (size_t)c->ema_count + 1, sizeof(axle_ema *));
    if (!all)
        return axle_error_code();
    c->ema = all;
    c->ema[c->ema_count++] = ema;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ saving */

static int collect(const void *averages, axle__snapshot_file *file)
{
    const axle_ema *ema = averages;
    file->sources = axle__alloc((size_t)ema->count + 1, sizeof(*file->sources));
    int status = file->sources ? AXLE_OK : AXLE_ERR_NOMEM;
    file->content = (axle__shard_content){.sources = file->sources};
    for (int k = 0; k < ema->count && !status; k++) {
        status = axle__list_take(&file->names, axle__strdup(ema->item[k].path));
        if (!status)
            file->sources[file->content.count++] =
                axle__safetensors_source_of(file->names.item[k], ema->item[k].average);
    }
    return status;
}

int axle__reserve_averages(const axle_accelerator *accelerator, axle__rooms *rooms)
{
    const axle__checkpoints *c = accelerator->checkpoints;
    int status = AXLE_OK;
    for (int k = 0; k < c->ema_count && !status; k++)
        status = axle__rooms_reserve_tensors(rooms, collect, c->ema[k]);
    return status;
}

static int capture_one(axle__capture *capture, const axle_ema *ema, int k)
{
    if (ema->swapped)
        return axle_error_set(AXLE_ERR_STATE, "axle_save_state: the module holds the averages; "
                                              "swap them back first");
    return axle__snapshot_tensors(&capture->snapshot, file_name(k), collect, ema);
}

int axle__capture_averages(axle__capture *capture, json_t **out)
{
    const axle__checkpoints *c = capture->accelerator->checkpoints;
    int status = capture->status;
    if (status || !capture->main)
        return status;
    *out = json_array();
    for (int k = 0; k < c->ema_count && !status; k++) {
        const axle_ema *ema = c->ema[k];
        status = capture_one(capture, ema, k);
        if (!status &&
            json_array_append_new(*out, json_pack("{s:I, s:I}", "updates", (json_int_t)ema->updates,
                                                  "seen", (json_int_t)ema->seen)))
            status = axle__json_failed();
    }
    return status;
}

/* ------------------------------------------------------------------ loading */

static int check_item(const axle__restore *restore, const axle__shards *files,
                      const axle__averaged *item)
{
    const axle__safetensors_entry *entry = axle__shards_find(files, item->path);
    const axle_tensor *average = item->average;
    if (!entry)
        return axle__restore_error(restore, AXLE_ERR_NOT_FOUND, "it holds no average of '%s'",
                                   item->path);
    if (entry->dtype != (int)axle__dtype(average))
        return axle__restore_error(
            restore, AXLE_ERR_DTYPE, "the average of '%s' is %s, the program's %s", item->path,
            axle_dtype_name(entry->dtype), axle_dtype_name((int)axle__dtype(average)));
    if (entry->rank != axle__rank(average) ||
        memcmp(entry->dims, average->view.dim, (size_t)entry->rank * sizeof(int64_t)) != 0)
        return axle__restore_error(restore, AXLE_ERR_SHAPE,
                                   "the average of '%s' has another shape than the program's",
                                   item->path);
    return AXLE_OK;
}

static int check_one(axle__restore *restore, axle_ema *ema, int k, axle__shards *files)
{
    char *base = file_name(k);
    int status =
        base ? axle__shards_parse(restore->path, base, restore->files, restore->count, files)
             : AXLE_ERR_NOMEM;
    axle__free(base);
    if (!status && ema->swapped)
        status = axle_error_set(AXLE_ERR_STATE, "axle_load_state: the module holds the averages; "
                                                "swap them back first");
    if (!status)
        status = axle__ema_lay_out(ema);
    size_t count = 0;
    for (size_t f = 0; f < files->count && !status; f++)
        count += axle__safetensors_count(files->file[f]);
    if (!status && count != (size_t)ema->count)
        status = axle__restore_error(restore, AXLE_ERR_NOT_FOUND,
                                     "it holds averages of %zu parameters, the program has %d",
                                     count, ema->count);
    for (int j = 0; j < ema->count && !status; j++)
        status = check_item(restore, files, &ema->item[j]);
    return status;
}

int axle__check_averages(axle__restore *restore, const json_t *value)
{
    const axle__checkpoints *c = restore->accelerator->checkpoints;
    int status = axle__restore_check_count(restore, value, c->ema_count, "averages");
    if (status)
        return status;
    restore->averages = axle__alloc((size_t)c->ema_count + 1, sizeof(*restore->averages));
    if (!restore->averages)
        return AXLE_ERR_NOMEM;
    restore->average_count = c->ema_count;
    for (int k = 0; k < c->ema_count && !status; k++)
        status = check_one(restore, c->ema[k], k, &restore->averages[k]);
    return status;
}

static int64_t integer_of(const json_t *value, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(value, key));
}

int axle__apply_averages(axle__restore *restore, const json_t *value)
{
    const axle__checkpoints *c = restore->accelerator->checkpoints;
    int status = AXLE_OK;
    for (int k = 0; k < c->ema_count && !status; k++) {
        axle_ema *ema = c->ema[k];
        const json_t *about = json_array_get(value, (size_t)k);
        for (int j = 0; j < ema->count && !status; j++) {
            const axle__safetensors_entry *entry =
                axle__shards_find(&restore->averages[k], ema->item[j].path);
            status = axle_tensor_write(ema->item[j].average, entry->data, entry->size);
        }
        ema->updates = integer_of(about, "updates");
        ema->seen = integer_of(about, "seen");
    }
    return status;
}

void axle__unstage_averages(axle__restore *restore)
{
    for (int k = 0; k < restore->average_count; k++)
        axle__shards_close(&restore->averages[k]);
    axle__free(restore->averages);
    restore->averages = NULL;
}
