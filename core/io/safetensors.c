/* SPDX-License-Identifier: Apache-2.0 */
#include "io/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "base/file.h"
#include "base/memory.h"
#include "io/safetensors_dtype.h"

struct axle__safetensors {
    char *path;
    axle__file_map map; /* empty where the caller owns the bytes */
    json_t *header;     /* owns the names */
    axle__safetensors_entry *entries;
    size_t count;
    const unsigned char *data; /* the bytes behind the header */
    size_t data_size;
};

#define malformed(file, ...) malformed_at((file)->path, axle__format(__VA_ARGS__))

/* Takes `what` over. */
static int malformed_at(const char *path, char *what)
{
    if (!what)
        return AXLE_ERR_NOMEM;
    axle_error_set(AXLE_ERR_FORMAT, "%s: %s", path, what);
    axle__free(what);
    return AXLE_ERR_FORMAT;
}

static uint64_t read_u64(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (int k = 7; k >= 0; k--)
        value = value << 8 | bytes[k];
    return value;
}

/* ---- the header's text */

/* The key that ends where Jansson stopped, with its quotes: its own message leaves long ones out.
 */
static const char *repeated_key(const char *text, int end, int *length)
{
    int start = end - 2;
    while (start > 0 && !(text[start] == '"' && text[start - 1] != '\\'))
        start--;
    *length = end - start;
    return text + (start > 0 ? start : 0);
}

static int malformed_json(const axle__safetensors *file, const char *text,
                          const json_error_t *error)
{
    int length;
    if (json_error_code(error) == json_error_out_of_memory)
        return axle_error_set(AXLE_ERR_NOMEM, "%s: no memory for the header", file->path);
    if (json_error_code(error) != json_error_duplicate_key || error->position < 2)
        return malformed(file, "the header is not valid JSON: %s (byte %d)", error->text,
                         error->position);
    const char *key = repeated_key(text, error->position, &length);
    return malformed(file, "the header has %.*s twice", length, key);
}

static int parse_header(axle__safetensors *file, const unsigned char *bytes, size_t size)
{
    if (size < 8)
        return malformed(file, "%zu bytes are too few for a safetensors file", size);
    uint64_t length = read_u64(bytes);
    if (length > AXLE__SAFETENSORS_HEADER_MAX)
        return malformed(file, "a header of %" PRIu64 " bytes is longer than %u", length,
                         AXLE__SAFETENSORS_HEADER_MAX);
    if (length > size - 8)
        return malformed(file, "the header has %" PRIu64 " bytes, but only %zu follow", length,
                         size - 8);
    const char *text = (const char *)bytes + 8;
    if (length == 0 || text[0] != '{')
        return malformed(file, "the header does not begin with {");
    json_error_t error;
    file->header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!file->header)
        return malformed_json(file, text, &error);
    file->data = bytes + 8 + length;
    file->data_size = size - 8 - (size_t)length;
    return AXLE_OK;
}

/* ---- one tensor's description */

static int parse_dtype(const axle__safetensors *file, const json_t *value,
                       axle__safetensors_entry *entry)
{
    const char *name = json_string_value(json_object_get(value, "dtype"));
    if (!name)
        return malformed(file, "tensor '%s' has no dtype", entry->name);
    entry->dtype = axle__safetensors_dtype(name);
    if (!entry->dtype)
        return malformed(file, "tensor '%s' has the unknown dtype %s", entry->name, name);
    return AXLE_OK;
}

/* Bytes that the shape needs; checked, since the product may overflow. */
static int parse_shape(const axle__safetensors *file, const json_t *value,
                       axle__safetensors_entry *entry)
{
    const json_t *shape = json_object_get(value, "shape");
    if (!json_is_array(shape))
        return malformed(file, "tensor '%s' has no shape", entry->name);
    size_t rank = json_array_size(shape);
    if (rank > AXLE_MAX_RANK)
        return malformed(file, "tensor '%s' has %zu dims, more than %d", entry->name, rank,
                         AXLE_MAX_RANK);
    size_t bytes = axle_dtype_size(entry->dtype);
    for (size_t k = 0; k < rank; k++) {
        const json_t *dim = json_array_get(shape, k);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return malformed(file, "tensor '%s': dim %zu is not a number from 0", entry->name, k);
        entry->dims[k] = json_integer_value(dim);
        if ((uint64_t)entry->dims[k] > SIZE_MAX ||
            !axle__size_mul(bytes, (size_t)entry->dims[k], &bytes))
            return malformed(file, "tensor '%s': the product of its shape overflows", entry->name);
    }
    entry->rank = (int)rank;
    entry->size = bytes;
    return AXLE_OK;
}

static int parse_offsets(const axle__safetensors *file, const json_t *value,
                         axle__safetensors_entry *entry)
{
    const json_t *offsets = json_object_get(value, "data_offsets");
    const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return malformed(file, "tensor '%s' has no pair of data_offsets", entry->name);
    json_int_t begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin)
        return malformed(file, "tensor '%s' has the data_offsets [%lld, %lld]", entry->name,
                         (long long)begin, (long long)end);
    if ((uint64_t)end > file->data_size)
        return malformed(file, "tensor '%s' ends at byte %lld of %zu", entry->name, (long long)end,
                         file->data_size);
    if ((uint64_t)(end - begin) != entry->size)
        return malformed(file, "tensor '%s' has %lld bytes where its shape needs %zu", entry->name,
                         (long long)(end - begin), entry->size);
    entry->data = file->data + begin;
    return AXLE_OK;
}

/* Kernels rely on booleans that are 0 or 1. */
static int check_booleans(const axle__safetensors *file, const axle__safetensors_entry *entry)
{
    if (entry->dtype != AXLE_DTYPE_BOOL)
        return AXLE_OK;
    const unsigned char *bytes = entry->data;
    for (size_t k = 0; k < entry->size; k++)
        if (bytes[k] > 1)
            return malformed(file, "tensor '%s': element %zu is %d, which is no BOOL", entry->name,
                             k, bytes[k]);
    return AXLE_OK;
}

static int parse_tensor(const axle__safetensors *file, const char *name, const json_t *value,
                        axle__safetensors_entry *entry)
{
    entry->name = name;
    if (!json_is_object(value))
        return malformed(file, "tensor '%s' is not described by an object", name);
    int code = parse_dtype(file, value, entry);
    if (!code)
        code = parse_shape(file, value, entry);
    if (!code)
        code = parse_offsets(file, value, entry);
    return code ? code : check_booleans(file, entry);
}

static int check_metadata(const axle__safetensors *file, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return malformed(file, AXLE__SAFETENSORS_METADATA " is not an object");
    json_object_foreach(metadata, key, value) if (!json_is_string(value)) return malformed(
        file, AXLE__SAFETENSORS_METADATA ": '%s' is not a string", key);
    return AXLE_OK;
}

static int parse_tensors(axle__safetensors *file)
{
    const char *name;
    json_t *value;
    file->entries = axle__alloc(json_object_size(file->header), sizeof(*file->entries));
    if (!file->entries)
        return AXLE_ERR_NOMEM;
    json_object_foreach(file->header, name, value)
    {
        bool metadata = strcmp(name, AXLE__SAFETENSORS_METADATA) == 0;
        int code = metadata ? check_metadata(file, value)
                            : parse_tensor(file, name, value, &file->entries[file->count]);
        if (code)
            return code;
        file->count += !metadata;
    }
    return AXLE_OK;
}

/* ---- the tensors together */

/* By place; empty tensors before the one that begins where they lie. */
static int by_place(const void *left, const void *right)
{
    const axle__safetensors_entry *a = left, *b = right;
    if (a->data != b->data)
        return (const char *)a->data < (const char *)b->data ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

/* Every byte belongs to exactly one tensor. */
static int check_places(const axle__safetensors *file)
{
    const unsigned char *end = file->data, *limit = file->data + file->data_size;
    for (size_t k = 0; k < file->count; k++) {
        const axle__safetensors_entry *entry = &file->entries[k];
        const unsigned char *begin = entry->data;
        if (begin < end)
            return malformed(file, "tensors '%s' and '%s' overlap", entry[-1].name, entry->name);
        if (begin > end)
            return malformed(file, "%td bytes before tensor '%s' belong to none", begin - end,
                             entry->name);
        end = begin + entry->size;
    }
    if (end != limit)
        return malformed(file, "%td bytes after the last tensor%s%s%s belong to none", limit - end,
                         file->count ? " '" : "",
                         file->count ? file->entries[file->count - 1].name : "",
                         file->count ? "'" : "");
    return AXLE_OK;
}

static int parse(axle__safetensors *file, const unsigned char *bytes, size_t size)
{
    int code = parse_header(file, bytes, size);
    if (!code)
        code = parse_tensors(file);
    if (code)
        return code;
    qsort(file->entries, file->count, sizeof(*file->entries), by_place);
    return check_places(file);
}

/* ---- the file */

static bool host_is_little_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

int axle__safetensors_parse(const char *path, const void *bytes, size_t size,
                            axle__safetensors **out)
{
    if (!host_is_little_endian())
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "%s: safetensors need a little-endian processor", path);
    axle__safetensors *file = axle__alloc(1, sizeof(*file));
    if (!file)
        return AXLE_ERR_NOMEM;
    file->path = axle__strdup(path);
    int code = file->path ? parse(file, bytes, size) : AXLE_ERR_NOMEM;
    if (code) {
        axle__safetensors_close(file);
        return code;
    }
    *out = file;
    return AXLE_OK;
}

int axle__safetensors_open(const char *path, axle__safetensors **out)
{
    axle__file_map map;
    int code = axle__file_map_open(path, &map);
    if (code)
        return code;
    axle__safetensors *file;
    code = axle__safetensors_parse(path, map.data, map.size, &file);
    if (code) {
        axle__file_map_close(&map);
        return code;
    }
    file->map = map;
    *out = file;
    return AXLE_OK;
}

void axle__safetensors_close(axle__safetensors *file)
{
    if (!file)
        return;
    json_decref(file->header);
    axle__file_map_close(&file->map);
    axle__free(file->entries);
    axle__free(file->path);
    axle__free(file);
}

size_t axle__safetensors_count(const axle__safetensors *file)
{
    return file->count;
}

const axle__safetensors_entry *axle__safetensors_at(const axle__safetensors *file, size_t k)
{
    return &file->entries[k];
}

const axle__safetensors_entry *axle__safetensors_find(const axle__safetensors *file,
                                                      const char *name)
{
    for (size_t k = 0; k < file->count; k++)
        if (strcmp(file->entries[k].name, name) == 0)
            return &file->entries[k];
    return NULL;
}

const char *axle__safetensors_metadata(const axle__safetensors *file, const char *key)
{
    const json_t *metadata = json_object_get(file->header, AXLE__SAFETENSORS_METADATA);
    return json_string_value(json_object_get(metadata, key));
}
