/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/memory.h"
#include "io/shards.h"

/* A run of neighbouring tensors that make a file. */
typedef struct stretch {
    size_t first, count;
} stretch;

typedef struct writing {
    const char *folder, *base;
    const axle__shard_content *content;
    stretch *part;
    size_t parts;
    axle__file_fn fn;
    void *user;
} writing;

static int cut(writing *w, uint64_t most)
{
    uint64_t bytes = 0;
    w->part = axle__alloc(w->content->count + 1, sizeof(*w->part));
    if (!w->part)
        return AXLE_ERR_NOMEM;
    w->parts = 1;
    for (size_t k = 0; k < w->content->count; k++) {
        uint64_t size = w->content->sources[k].entry.size;
        stretch *last = &w->part[w->parts - 1];
        if (most > 0 && last->count > 0 && size > most - (bytes < most ? bytes : most)) {
            w->part[w->parts++] = (stretch){k, 1};
            bytes = size;
            continue;
        }
        last->count++;
        bytes += size;
    }
    return AXLE_OK;
}

/* Of the file of part k; for axle__free(). */
static char *name_of(const writing *w, size_t k)
{
    if (w->parts == 1)
        return axle__format("%s.safetensors", w->base);
    return axle__format("%s-%05zu-of-%05zu.safetensors", w->base, k + 1, w->parts);
}

static bool holds(const writing *w, size_t k, const char *name)
{
    for (size_t j = 0; j < w->part[k].count; j++)
        if (strcmp(w->content->sources[w->part[k].first + j].entry.name, name) == 0)
            return true;
    return false;
}

/* Aliases stand beside the tensor that they are names of. */
static size_t metadata_of(const writing *w, size_t k, const char *(*out)[2])
{
    size_t n = 0;
    for (; n < w->content->metadata_count; n++) {
        out[n][0] = w->content->metadata[n][0];
        out[n][1] = w->content->metadata[n][1];
    }
    for (size_t j = 0; j < w->content->alias_count; j++) {
        if (!holds(w, k, w->content->aliases[j][1]))
            continue;
        out[n][0] = w->content->aliases[j][0];
        out[n++][1] = w->content->aliases[j][1];
    }
    return n;
}

static int tell(const writing *w, const char *name, axle__file_sum sum)
{
    return w->fn ? w->fn(name, sum, w->user) : AXLE_OK;
}

static int write_part(const writing *w, size_t k)
{
    size_t most = w->content->alias_count + w->content->metadata_count;
    const char *(*metadata)[2] = axle__alloc(most + 1, sizeof(*metadata));
    char *name = metadata ? name_of(w, k) : NULL;
    char *path = name ? axle__format("%s/%s", w->folder, name) : NULL;
    axle__file_sum sum;
    int code = path ? AXLE_OK : AXLE_ERR_NOMEM;
    if (!code)
        code = axle__safetensors_write_sources(path, w->content->sources + w->part[k].first,
                                               w->part[k].count, (const char *const(*)[2])metadata,
                                               metadata_of(w, k, metadata), &sum);
    if (!code)
        code = tell(w, name, sum);
    axle__free((void *)metadata);
    axle__free(name);
    axle__free(path);
    return code;
}

/* ---- the index */

static int map_part(const writing *w, size_t k, json_t *map, uint64_t *total)
{
    char *name = name_of(w, k);
    int wrong = !name;
    for (size_t j = 0; j < w->part[k].count && !wrong; j++) {
        const axle__safetensors_entry *entry = &w->content->sources[w->part[k].first + j].entry;
        *total += entry->size;
        wrong = json_object_set_new(map, entry->name, json_string(name));
    }
    axle__free(name);
    return wrong ? axle_error_set(AXLE_ERR_NOMEM, "%s: no memory for an index", w->folder)
                 : AXLE_OK;
}

static int write_text(const writing *w, const char *name, const json_t *root)
{
    char *text = json_dumps(root, JSON_INDENT(2));
    char *path = axle__format("%s/%s", w->folder, name);
    axle__file_writer *writer;
    axle__file_sum sum;
    int code = text && path
                   ? axle__file_writer_open(path, &writer)
                   : axle_error_set(AXLE_ERR_NOMEM, "%s: no memory for %s", w->folder, name);
    if (!code) {
        axle__file_writer_write(writer, text, strlen(text));
        sum = axle__file_writer_sum(writer);
        code = axle__file_writer_commit(writer);
    }
    if (!code)
        code = tell(w, name, sum);
    axle__free(path);
    free(text);
    return code;
}

static int write_index(const writing *w, const char *name)
{
    json_t *map = json_object(), *root = NULL;
    uint64_t total = 0;
    int code = AXLE_OK;
    for (size_t k = 0; k < w->parts && !code; k++)
        code = map_part(w, k, map, &total);
    if (!code)
        root = json_pack("{s:{s:I}, s:O}", "metadata", "total_size", (json_int_t)total,
                         "weight_map", map);
    if (!code)
        code = root ? write_text(w, name, root)
                    : axle_error_set(AXLE_ERR_NOMEM, "%s: no memory for an index", w->folder);
    json_decref(map);
    json_decref(root);
    return code;
}

/* One file and several with an index are two ways to say the same; the other one must go. */
static int finish(const writing *w)
{
    char *index = axle__format("%s.safetensors.index.json", w->base);
    char *other = index ? axle__format("%s/%s%s", w->folder, w->parts > 1 ? w->base : index,
                                       w->parts > 1 ? ".safetensors" : "")
                        : NULL;
    int code = other ? AXLE_OK : AXLE_ERR_NOMEM;
    if (!code && w->parts > 1)
        code = write_index(w, index);
    if (!code)
        unlink(other);
    axle__free(index);
    axle__free(other);
    return code;
}

int axle__shards_write(const char *folder, const char *base, const axle__shard_content *content,
                       uint64_t most, axle__file_fn fn, void *user)
{
    writing w = {.folder = folder, .base = base, .content = content, .fn = fn, .user = user};
    int code = cut(&w, most);
    for (size_t k = 0; k < w.parts && !code; k++)
        code = write_part(&w, k);
    if (!code)
        code = finish(&w);
    axle__free(w.part);
    return code;
}
