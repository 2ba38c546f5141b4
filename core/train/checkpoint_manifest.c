/* SPDX-License-Identifier: Apache-2.0 */
/* state.json: what a checkpoint consists of, and the sums to tell whether it still does. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/memory.h"
#include "train/checkpoint.h"

enum { FORMAT_VERSION = 1, REAL_DIGITS = 17 };
static const char format_name[] = "axle-checkpoint", sum_key[] = "checksum";

int axle__json_failed(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "checkpoint: no memory for its description");
}

/* ------------------------------------------------------------------ text */

/* The sum is one of the content, however it is laid out. */
static int sum_of(const json_t *state, char text[9])
{
    char *plain = json_dumps(state, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    if (!plain)
        return axle__json_failed();
    snprintf(text, 9, "%08x", (unsigned)axle__crc32c(0, plain, strlen(plain)));
    free(plain);
    return AXLE_OK;
}

char *axle__manifest_text(json_t *state)
{
    char sum[9];
    if (json_object_set_new(state, "format", json_string(format_name)) ||
        json_object_set_new(state, "version", json_integer(FORMAT_VERSION)) ||
        json_object_set_new(state, "axle", json_string(axle_version())) || sum_of(state, sum) ||
        json_object_set_new(state, sum_key, json_string(sum)))
        return NULL;
    return json_dumps(state, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS));
}

static int check_sum(const char *path, json_t *state)
{
    char sum[9];
    json_t *stored = json_incref(json_object_get(state, sum_key));
    json_object_del(state, sum_key);
    int status = sum_of(state, sum);
    const char *text = json_string_value(stored);
    if (!status && (!text || strcmp(text, sum) != 0))
        status = axle_error_set(AXLE_ERR_FORMAT,
                                "%s: " AXLE__CHECKPOINT_STATE " is damaged: its "
                                "checksum is %s, and should be %s",
                                path, sum, text ? text : "there");
    json_decref(stored);
    return status;
}

/* The version comes before the sum, which another one may compute otherwise. */
static int check_kind(const char *path, const json_t *state)
{
    const char *format = json_string_value(json_object_get(state, "format"));
    json_int_t version = json_integer_value(json_object_get(state, "version"));
    const char *axle = json_string_value(json_object_get(state, "axle"));
    if (!format || strcmp(format, format_name) != 0)
        return axle_error_set(AXLE_ERR_FORMAT,
                              "%s: " AXLE__CHECKPOINT_STATE " is not that of a checkpoint of Axle",
                              path);
    if (version > FORMAT_VERSION)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "%s: it was written by Axle %s in version %" PRId64
                              " of the format; this one reads version %d",
                              path, axle ? axle : "of another version", (int64_t)version,
                              FORMAT_VERSION);
    return AXLE_OK;
}

int axle__manifest_parse(const char *path, const char *text, size_t size, json_t **out)
{
    json_error_t error;
    json_t *state = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!state)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: " AXLE__CHECKPOINT_STATE ", line %d: %s", path,
                              error.line, error.text);
    int status = check_kind(path, state);
    if (!status)
        status = check_sum(path, state);
    if (status)
        json_decref(state);
    else
        *out = state;
    return status;
}

int axle__manifest_read(const char *path, json_t **out)
{
    char *file = axle__format("%s/" AXLE__CHECKPOINT_STATE, path), *text = NULL;
    size_t size;
    int status = file ? axle__file_read(file, &text, &size) : AXLE_ERR_NOMEM;
    if (!status)
        status = axle__manifest_parse(path, text, size, out);
    axle__free(text);
    axle__free(file);
    return status;
}

/* ------------------------------------------------------------------ files */

static int damaged(const char *path, const char *name, const char *what, uint64_t is,
                   uint64_t should)
{
    return axle_error_set(AXLE_ERR_FORMAT,
                          "%s: %s is damaged: its %s is %" PRIu64 ", and should be %" PRIu64, path,
                          name, what, is, should);
}

static int check_file(const char *path, const char *name, const json_t *about,
                      const axle__file_map *map)
{
    const char *text = json_string_value(json_object_get(about, "crc32c"));
    uint64_t size = (uint64_t)json_integer_value(json_object_get(about, "size"));
    if (map->size != size)
        return damaged(path, name, "size", map->size, size);
    uint32_t sum = axle__crc32c(0, map->data, map->size);
    uint32_t should = text ? (uint32_t)strtoul(text, NULL, 16) : ~sum;
    return sum == should ? AXLE_OK : damaged(path, name, "CRC-32C", sum, should);
}

static int open_file(const char *path, const char *name, const json_t *about,
                     axle__checkpoint_files *out)
{
    char *file = axle__format("%s/%s", path, name);
    axle__file_map *map = &out->maps[out->count];
    int status = file ? AXLE_OK : AXLE_ERR_NOMEM;
    if (!status && strchr(name, '/'))
        status =
            axle_error_set(AXLE_ERR_FORMAT, "%s: no file of it can be called '%s'", path, name);
    if (!status)
        status = axle__file_map_open(file, map);
    axle__free(file);
    if (status)
        return status;
    out->blobs[out->count++] = (axle__blob){name, map->data, map->size};
    return check_file(path, name, about, map);
}

int axle__checkpoint_open(const char *path, axle__checkpoint_files *out)
{
    int status = axle__manifest_read(path, &out->state);
    if (status)
        return status;
    json_t *files = json_object_get(out->state, "files"), *about;
    const char *name;
    size_t count = json_object_size(files);
    out->blobs = axle__alloc(count, sizeof(*out->blobs));
    out->maps = axle__alloc(count, sizeof(*out->maps));
    if (!out->blobs || !out->maps)
        status = AXLE_ERR_NOMEM;
    json_object_foreach(files, name, about)
    {
        if (!status)
            status = open_file(path, name, about, out);
    }
    if (status)
        axle__checkpoint_close(out);
    return status;
}

void axle__checkpoint_close(axle__checkpoint_files *files)
{
    for (size_t k = 0; k < files->count; k++)
        axle__file_map_close(&files->maps[k]);
    axle__free(files->blobs);
    axle__free(files->maps);
    json_decref(files->state);
    *files = (axle__checkpoint_files){0};
}
