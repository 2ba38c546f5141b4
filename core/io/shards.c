/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: the index is believed no more than any other file. */
#include <config.h>

#include "io/shards.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/folder.h"
#include "base/memory.h"

/* Where files come from: a folder, or memory. */
typedef struct origin {
    const char *folder;
    const axle__blob *blobs; /* NULL: the folder */
    size_t count;
} origin;

static const axle__blob *blob_of(const origin *from, const char *name)
{
    for (size_t k = 0; k < from->count; k++)
        if (strcmp(from->blobs[k].name, name) == 0)
            return &from->blobs[k];
    return NULL;
}

static bool is_there(const origin *from, const char *name)
{
    if (from->blobs)
        return blob_of(from, name) != NULL;
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", from->folder, name);
    return length < (int)sizeof(path) && access(path, F_OK) == 0;
}

static int open_one(const origin *from, const char *name, axle__safetensors **out)
{
    char *path = axle__format("%s/%s", from->folder, name);
    if (!path)
        return AXLE_ERR_NOMEM;
    const axle__blob *blob = from->blobs ? blob_of(from, name) : NULL;
    int code = AXLE_OK;
    if (!from->blobs)
        code = axle__safetensors_open(path, out);
    else if (blob)
        code = axle__safetensors_parse(path, blob->bytes, blob->size, out);
    else
        code = axle_error_set(AXLE_ERR_NOT_FOUND, "%s: it is not there", path);
    axle__free(path);
    return code;
}

static int add_file(axle__shards *shards, const origin *from, const char *name)
{
    axle__safetensors **files =
        axle__resize(shards->file, shards->count + 1, sizeof(axle__safetensors *));
    if (!files)
        return AXLE_ERR_NOMEM;
    shards->file = files;
    int code = open_one(from, name, &files[shards->count]);
    shards->count += code == AXLE_OK;
    return code;
}

/* ---- the index */

static int bad_index(const origin *from, const char *name, const char *what, const char *which)
{
    return axle_error_set(AXLE_ERR_FORMAT, "%s/%s: %s '%s'", from->folder, name, what, which);
}

static bool lies_in(const char *file, const char *folder, size_t length)
{
    return length > 0 && strncmp(file, folder, length) == 0 && file[length] == '/';
}

/* Length of a path without its last part; 0 where there is none. */
static size_t parent(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length > 0 ? length - 1 : 0;
}

/*
 * In the cache of Hugging Face's library, models--NAME/snapshots/COMMIT holds links to
 * models--NAME/blobs, and what several models share lies in the folder blobs beside models--NAME.
 */
static bool lies_in_cache(const char *file, const char *folder)
{
    static const char snapshots[] = "/snapshots", model[] = "/models--", blobs[] = "/blobs/";
    size_t commits = parent(folder, strlen(folder)), own = parent(folder, commits);
    size_t cache = parent(folder, own);
    if (commits - own != strlen(snapshots) || memcmp(folder + own, snapshots, commits - own) != 0 ||
        strncmp(folder + cache, model, strlen(model)) != 0)
        return false;
    return (lies_in(file, folder, own) && strncmp(file + own, blobs, strlen(blobs)) == 0) ||
           (lies_in(file, folder, cache) && strncmp(file + cache, blobs, strlen(blobs)) == 0);
}

/* Links that lead out of the folder are no better than names that do. */
static bool leads_out(const origin *from, const char *name)
{
    char path[PATH_MAX], file[PATH_MAX], folder[PATH_MAX];
    struct stat about;
    int length = snprintf(path, sizeof(path), "%s/%s", from->folder, name);
    if (from->blobs || length >= (int)sizeof(path) || lstat(path, &about) ||
        !S_ISLNK(about.st_mode) || !realpath(path, file) || !realpath(from->folder, folder))
        return false;
    return !lies_in(file, folder, strlen(folder)) && !lies_in_cache(file, folder);
}

static bool is_plain(const char *name)
{
    size_t length = strlen(name), suffix = strlen(".safetensors");
    return length > suffix && !strchr(name, '/') && name[0] != '.' &&
           strcmp(name + length - suffix, ".safetensors") == 0;
}

/* Each value names a file that is in the folder; files are opened once. */
static int open_mapped(const origin *from, const char *index, const json_t *map, json_t *places,
                       axle__shards *out)
{
    const char *tensor;
    json_t *value;
    json_object_foreach((json_t *)map, tensor, value)
    {
        const char *name = json_string_value(value);
        if (!name)
            return bad_index(from, index, "no file is given for tensor", tensor);
        if (json_object_get(places, name))
            continue;
        if (!is_plain(name) || leads_out(from, name))
            return bad_index(from, index, "a file of the folder cannot be called", name);
        if (!is_there(from, name))
            return axle_error_set(AXLE_ERR_NOT_FOUND, "%s/%s: there is no file '%s'", from->folder,
                                  index, name);
        int code = add_file(out, from, name);
        if (code)
            return code;
        if (json_object_set_new(places, name, json_integer((json_int_t)out->count - 1)))
            return axle_error_set(AXLE_ERR_NOMEM, "%s: no memory for its index", from->folder);
    }
    return AXLE_OK;
}

static int check_mapped(const origin *from, const char *index, const json_t *map,
                        const json_t *places, const axle__shards *shards)
{
    const char *tensor;
    json_t *value;
    json_object_foreach((json_t *)map, tensor, value)
    {
        const char *name = json_string_value(value);
        size_t place = (size_t)json_integer_value(json_object_get(places, name));
        if (!axle__safetensors_find(shards->file[place], tensor))
            return axle_error_set(AXLE_ERR_FORMAT,
                                  "%s/%s: tensor '%s' is not in the file that it names, %s",
                                  from->folder, index, tensor, name);
    }
    return AXLE_OK;
}

static int read_index(const origin *from, const char *name, json_t **out)
{
    json_error_t error;
    const axle__blob *blob = from->blobs ? blob_of(from, name) : NULL;
    char *text = NULL, *path = axle__format("%s/%s", from->folder, name);
    size_t size = 0;
    int code = path ? AXLE_OK : AXLE_ERR_NOMEM;
    if (!code && !blob)
        code = axle__file_read(path, &text, &size);
    if (!code) {
        *out = json_loadb(blob ? blob->bytes : text, blob ? blob->size : size,
                          JSON_REJECT_DUPLICATES, &error);
        if (!*out)
            code =
                axle_error_set(AXLE_ERR_FORMAT, "%s: %s (line %d)", path, error.text, error.line);
    }
    axle__free(text);
    axle__free(path);
    return code;
}

static int open_index(const origin *from, const char *name, axle__shards *out)
{
    json_t *root = NULL, *places = json_object();
    int code = read_index(from, name, &root);
    const json_t *map = json_object_get(root, "weight_map");
    if (!code && (!json_is_object(map) || json_object_size(map) == 0))
        code = bad_index(from, name, "there is no", "weight_map");
    if (!code)
        code = open_mapped(from, name, map, places, out);
    if (!code)
        code = check_mapped(from, name, map, places, out);
    json_decref(places);
    json_decref(root);
    return code;
}

/* ---- finding the files */

static int open_folder(const origin *from, const char *base, axle__shards *out)
{
    char *single = axle__format("%s.safetensors", base);
    char *index = axle__format("%s.safetensors.index.json", base);
    int code = single && index ? AXLE_OK : AXLE_ERR_NOMEM;
    if (!code && is_there(from, single))
        code = add_file(out, from, single);
    else if (!code && is_there(from, index))
        code = open_index(from, index, out);
    else if (!code)
        code = axle_error_set(AXLE_ERR_NOT_FOUND, "%s: there is neither %s nor %s", from->folder,
                              single, index);
    axle__free(single);
    axle__free(index);
    if (code)
        axle__shards_close(out);
    return code;
}

static int open_file(const char *path, axle__shards *out)
{
    char *folder = axle__folder_of(path);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    origin from = {.folder = folder};
    size_t length = strlen(name);
    int code = folder ? AXLE_OK : AXLE_ERR_NOMEM;
    if (!code && length > 5 && strcmp(name + length - 5, ".json") == 0)
        code = open_index(&from, name, out);
    else if (!code)
        code = add_file(out, &from, name);
    axle__free(folder);
    if (code)
        axle__shards_close(out);
    return code;
}

int axle__shards_open(const char *path, const char *base, axle__shards *out)
{
    origin from = {.folder = path};
    return axle__folder_exists(path) ? open_folder(&from, base, out) : open_file(path, out);
}

int axle__shards_parse(const char *folder, const char *base, const axle__blob *blobs, size_t n,
                       axle__shards *out)
{
    static const axle__blob none = {"", NULL, 0};
    origin from = {folder, blobs ? blobs : &none, n};
    return open_folder(&from, base, out);
}

void axle__shards_close(axle__shards *shards)
{
    for (size_t k = 0; k < shards->count; k++)
        axle__safetensors_close(shards->file[k]);
    axle__free(shards->file);
    *shards = (axle__shards){0};
}

const axle__safetensors_entry *axle__shards_find(const axle__shards *shards, const char *name)
{
    const axle__safetensors_entry *found = NULL;
    for (size_t k = 0; k < shards->count && !found; k++)
        found = axle__safetensors_find(shards->file[k], name);
    return found;
}
