/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files of named tensors, for programs. */
#include "axle/safetensors.h"

#include <string.h>

#include "axle/status.h"
#include "base/error.h"
#include "base/memory.h"
#include "io/shards.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

struct axle_tensor_file {
    axle__shards shards;
    axle_stored_tensor *at;
    int64_t count;
};

static void describe(const axle__safetensors_entry *entry, axle_stored_tensor *out)
{
    *out = (axle_stored_tensor){.name = entry->name,
                                .dtype = entry->dtype,
                                .rank = entry->rank,
                                .dims = entry->dims,
                                .data = entry->data,
                                .size = entry->size};
}

static int list_tensors(axle_tensor_file *file)
{
    size_t n = 0;
    for (size_t f = 0; f < file->shards.count; f++)
        n += axle__safetensors_count(file->shards.file[f]);
    file->at = axle__alloc(n + 1, sizeof(*file->at));
    if (!file->at)
        return axle_error_code();
    for (size_t f = 0; f < file->shards.count; f++)
        for (size_t k = 0; k < axle__safetensors_count(file->shards.file[f]); k++)
            describe(axle__safetensors_at(file->shards.file[f], k), &file->at[file->count++]);
    return AXLE_OK;
}

int axle_tensor_file_open(const char *path, const char *base, axle_tensor_file **out)
{
    if (!path)
        return axle__missing("axle_tensor_file_open", "the path");
    axle_tensor_file *file = axle__alloc(1, sizeof(*file));
    if (!file)
        return axle_error_code();
    int status = axle__shards_open(path, base ? base : "model", &file->shards);
    if (!status)
        status = list_tensors(file);
    if (status)
        axle_tensor_file_close(file);
    else
        *out = file;
    return status;
}

void axle_tensor_file_close(axle_tensor_file *file)
{
    if (!file)
        return;
    axle__shards_close(&file->shards);
    axle__free(file->at);
    axle__free(file);
}

int64_t axle_tensor_file_count(const axle_tensor_file *file)
{
    return file->count;
}

const axle_stored_tensor *axle_tensor_file_at(const axle_tensor_file *file, int64_t k)
{
    if (k >= 0 && k < file->count)
        return &file->at[k];
    axle_error_set(AXLE_ERR_INDEX, "axle_tensor_file_at: there is no tensor %lld of %lld",
                   (long long)k, (long long)file->count);
    return NULL;
}

const axle_stored_tensor *axle_tensor_file_find(const axle_tensor_file *file, const char *name)
{
    for (int64_t k = 0; k < file->count; k++)
        if (strcmp(file->at[k].name, name) == 0)
            return &file->at[k];
    return NULL;
}

const char *axle_tensor_file_metadata(const axle_tensor_file *file, const char *key)
{
    return file->shards.count ? axle__safetensors_metadata(file->shards.file[0], key) : NULL;
}

/* ------------------------------------------------------------------ into a tensor */

static int check_target(const axle_stored_tensor *stored, const axle_tensor *out)
{
    char ours[AXLE__DIMS_TEXT], theirs[AXLE__DIMS_TEXT];
    int dtype = axle_tensor_dtype(out);
    if (!axle__dims_equal(stored->rank, stored->dims, axle__rank(out), out->view.dim))
        return axle_error_set(AXLE_ERR_SHAPE, "tensor '%s' is %s, not %s", stored->name,
                              axle__dims_text(stored->rank, stored->dims, theirs),
                              axle__shape_text(out, ours));
    if (dtype == stored->dtype ||
        (axle_dtype_is_float(dtype) && axle_dtype_is_float(stored->dtype)))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DTYPE, "tensor '%s' is %s, not %s", stored->name,
                          axle_dtype_name(stored->dtype), axle_dtype_name(dtype));
}

int axle_tensor_file_read(const axle_stored_tensor *stored, axle_tensor *out)
{
    if (!stored || !out)
        return axle__missing("axle_tensor_file_read", stored ? "the tensor" : "what to read");
    if (check_target(stored, out))
        return axle_error_code();
    if (stored->dtype == axle_tensor_dtype(out))
        return axle_tensor_write(out, stored->data, stored->size);
    axle_tensor *host = axle__tensor_new("axle_tensor_file_read", axle_device_host(), stored->dtype,
                                         stored->rank, stored->dims, NULL);
    int status = host ? axle_tensor_write(host, stored->data, stored->size) : axle_error_code();
    if (!status)
        status = axle_tensor_assign(out, host);
    axle_tensor_release(host);
    return status;
}
