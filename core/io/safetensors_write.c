/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "base/file.h"
#include "base/memory.h"
#include "io/safetensors.h"
#include "io/safetensors_dtype.h"

/* A header under construction; the first error stays in `code`. */
typedef struct builder {
    const char *path;
    json_t *root;
    size_t offset; /* of the next tensor's bytes */
    int code;
} builder;

static json_t *shape_of(const axle__safetensors_entry *entry)
{
    json_t *shape = json_array();
    for (int k = 0; shape && k < entry->rank; k++)
        if (json_array_append_new(shape, json_integer(entry->dims[k]))) {
            json_decref(shape);
            return NULL;
        }
    return shape;
}

static int out_of_memory(const builder *b)
{
    return axle_error_set(AXLE_ERR_NOMEM, "cannot write %s: no memory for the header", b->path);
}

/* JSON is UTF-8, and a name is there once. */
static int check_name(const builder *b, const char *name)
{
    json_t *text = json_string(name);
    if (!text)
        return axle_error_set(AXLE_ERR_INVALID, "cannot write %s: a tensor's name is not UTF-8",
                              b->path);
    json_decref(text);
    if (strcmp(name, AXLE__SAFETENSORS_METADATA) == 0)
        return axle_error_set(AXLE_ERR_INVALID, "cannot write %s: no tensor can be named %s",
                              b->path, name);
    if (json_object_get(b->root, name))
        return axle_error_set(AXLE_ERR_INVALID, "cannot write %s: two tensors are named '%s'",
                              b->path, name);
    return AXLE_OK;
}

static void add_tensor(builder *b, const axle__safetensors_entry *entry)
{
    size_t end;
    if (!b->code)
        b->code = check_name(b, entry->name);
    if (b->code)
        return;
    if (!axle__size_add(b->offset, entry->size, &end)) {
        b->code = axle_error_set(AXLE_ERR_INVALID, "cannot write %s: it is too large", b->path);
        return;
    }
    json_t *value =
        json_pack("{s:s, s:o, s:[I, I]}", "dtype", axle__safetensors_dtype_name(entry->dtype),
                  "shape", shape_of(entry), "data_offsets", (json_int_t)b->offset, (json_int_t)end);
    if (json_object_set_new(b->root, entry->name, value))
        b->code = out_of_memory(b);
    b->offset = end;
}

static void add_metadata(builder *b, const char *const (*metadata)[2], size_t n)
{
    json_t *object = json_object();
    for (size_t k = 0; !b->code && k < n; k++)
        if (json_object_set_new(object, metadata[k][0], json_string(metadata[k][1])))
            b->code =
                axle_error_set(AXLE_ERR_INVALID, "cannot write %s: metadata '%s' is not UTF-8",
                               b->path, metadata[k][0]);
    if (b->code)
        json_decref(object);
    else if (json_object_set_new(b->root, AXLE__SAFETENSORS_METADATA, object))
        b->code = out_of_memory(b);
}

/* Wider elements first, so that all of them are aligned; otherwise the caller's order. */
static void arrange(const axle__safetensors_source *sources, size_t n,
                    const axle__safetensors_source **order)
{
    size_t used = 0;
    for (size_t bytes = 8; bytes; bytes /= 2)
        for (size_t k = 0; k < n; k++)
            if (axle_dtype_size(sources[k].entry.dtype) == bytes)
                order[used++] = &sources[k];
}

/* ---- writing */

static int write_header(axle__file_writer *writer, const builder *b)
{
    char *text = json_dumps(b->root, JSON_COMPACT);
    if (!text)
        return out_of_memory(b);
    size_t length = strlen(text), padding = (8 - length % 8) % 8;
    unsigned char size[8];
    for (int k = 0; k < 8; k++)
        size[k] = (unsigned char)((uint64_t)(length + padding) >> (8 * k));
    axle__file_writer_write(writer, size, sizeof(size));
    axle__file_writer_write(writer, text, length);
    int code = axle__file_writer_write(writer, "        ", padding);
    free(text);
    if (!code && length + padding > AXLE__SAFETENSORS_HEADER_MAX)
        code = axle_error_set(AXLE_ERR_INVALID, "cannot write %s: its header would have %zu bytes",
                              b->path, length + padding);
    return code;
}

static int write_tensor(axle__file_writer *writer, const axle__safetensors_source *source)
{
    const axle_tensor *tensor = source->tensor;
    size_t size = source->entry.size;
    void *data = NULL;
    if (size == 0)
        return AXLE_OK;
    if (!tensor)
        return axle__file_writer_write(writer, source->entry.data, size);
    if (axle_tensor_is_contiguous(tensor) && axle_tensor_device(tensor) == axle_device_host()) {
        int code = axle_tensor_data(tensor, &data);
        return code ? code : axle__file_writer_write(writer, data, size);
    }
    data = axle__alloc(size, 1);
    if (!data)
        return AXLE_ERR_NOMEM;
    int code = axle_tensor_read(tensor, data, size);
    if (!code)
        code = axle__file_writer_write(writer, data, size);
    axle__free(data);
    return code;
}

static int write_file(const builder *b, const axle__safetensors_source *const *order, size_t n,
                      axle__file_sum *sum)
{
    axle__file_writer *writer;
    int code = axle__file_writer_open(b->path, &writer);
    if (code)
        return code;
    code = write_header(writer, b);
    for (size_t k = 0; !code && k < n; k++)
        code = write_tensor(writer, order[k]);
    if (sum)
        *sum = axle__file_writer_sum(writer);
    if (!code)
        return axle__file_writer_commit(writer);
    axle__file_writer_abort(writer);
    return code;
}

int axle__safetensors_write_sources(const char *path, const axle__safetensors_source *sources,
                                    size_t n, const char *const (*metadata)[2], size_t n_metadata,
                                    axle__file_sum *sum)
{
    builder b = {.path = path, .root = json_object()};
    const axle__safetensors_source **order = axle__alloc(n, sizeof(*order));
    if (!order)
        b.code = AXLE_ERR_NOMEM;
    else
        arrange(sources, n, order);
    if (n_metadata)
        add_metadata(&b, metadata, n_metadata);
    for (size_t k = 0; !b.code && k < n; k++)
        add_tensor(&b, &order[k]->entry);
    if (!b.code)
        b.code = write_file(&b, order, n, sum);
    json_decref(b.root);
    axle__free(order);
    return b.code;
}

axle__safetensors_source axle__safetensors_source_of(const char *name, const axle_tensor *tensor)
{
    axle__safetensors_source source = {.tensor = tensor};
    source.entry.name = name;
    source.entry.dtype = axle_tensor_dtype(tensor);
    source.entry.rank = axle_tensor_rank(tensor);
    memcpy(source.entry.dims, axle_tensor_dims(tensor),
           (size_t)source.entry.rank * sizeof(source.entry.dims[0]));
    source.entry.size =
        (size_t)axle_tensor_count(tensor) * axle_dtype_size(axle_tensor_dtype(tensor));
    return source;
}

int axle__safetensors_write(const char *path, const axle__named_tensor *tensors, size_t n,
                            const char *const (*metadata)[2], size_t n_metadata)
{
    axle__safetensors_source *sources = axle__alloc(n, sizeof(*sources));
    if (!sources)
        return AXLE_ERR_NOMEM;
    for (size_t k = 0; k < n; k++)
        sources[k] = axle__safetensors_source_of(tensors[k].name, tensors[k].tensor);
    int code = axle__safetensors_write_sources(path, sources, n, metadata, n_metadata, NULL);
    axle__free(sources);
    return code;
}
