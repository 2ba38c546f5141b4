/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a commit: as the server tells them, and as the Python library keeps them in the
 * cache (trees/COMMIT.json), so that it and we know offline whether all of them are there.
 */
#include "hub.h"

#include <fnmatch.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

enum { TREE_VERSION = 1 };

/* What a program needs to fine-tune a language model. */
static const char *const usual_files[] = {"config.json",
                                          "generation_config.json",
                                          "tokenizer.json",
                                          "tokenizer_config.json",
                                          "vocab.txt",
                                          "special_tokens_map.json",
                                          "vocab.json",
                                          "added_tokens.json",
                                          "merges.txt",
                                          "*.safetensors",
                                          "*.safetensors.index.json",
                                          NULL};

bool axle__hub_wants(const axle__hub_request *request, const char *path)
{
    const char *const *patterns = request->options.files ? request->options.files : usual_files;
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, path, FNM_PATHNAME | FNM_PERIOD) == 0)
            return true;
    return false;
}

void axle__hub_listing_free(axle__hub_listing *listing)
{
    for (size_t k = 0; k < listing->count; k++)
        free(listing->files[k].path);
    free(listing->files);
    free(listing->tree);
    *listing = (axle__hub_listing){0};
}

static bool add(axle__hub_listing *listing, const char *path, const json_t *size)
{
    char *copy = strdup(path);
    if (!copy)
        return false;
    listing->files[listing->count++] = (axle__hub_file){
        copy, json_is_integer(size) ? (int64_t)json_integer_value(size) : (int64_t)-1};
    return true;
}

/* A sibling as the library's tree has it; NULL where the server left something out. */
static json_t *tree_entry(const json_t *sibling)
{
    json_t *size = json_object_get(sibling, "size"), *blob = json_object_get(sibling, "blobId");
    const json_t *lfs = json_object_get(sibling, "lfs");
    if (!json_is_integer(size) || !json_is_string(blob))
        return NULL;
    json_t *entry = json_pack("{s:O, s:O}", "size", size, "blob_id", blob);
    json_t *sum = json_object_get(lfs, "sha256"), *length = json_object_get(lfs, "size");
    if (entry && json_is_string(sum) && json_is_integer(length)) {
        json_object_set(entry, "lfs_sha256", sum);
        json_object_set(entry, "lfs_size", length);
    }
    return entry;
}

static int take_sibling(axle__hub_request *request, const json_t *sibling, json_t **tree,
                        axle__hub_listing *out)
{
    const char *path = json_string_value(json_object_get(sibling, "rfilename"));
    if (!path || !axle__hub_is_path(path))
        return axle__hub_fail(request, AXLE_ERR_FORMAT, "%s: the server names a file '%s'",
                              request->model, path ? path : "(none)");
    if (!add(out, path, json_object_get(sibling, "size")))
        return axle__hub_out_of_memory(request);
    json_t *entry = *tree ? tree_entry(sibling) : NULL;
    if (!entry || json_object_set_new(*tree, path, entry)) {
        json_decref(*tree);
        *tree = NULL;
    }
    return AXLE_OK;
}

static int take_siblings(axle__hub_request *request, const json_t *siblings, axle__hub_listing *out)
{
    json_t *tree = json_object();
    size_t count = json_array_size(siblings);
    int code = AXLE_OK;
    out->files = calloc(count + 1, sizeof(*out->files));
    if (!out->files)
        code = axle__hub_out_of_memory(request);
    for (size_t k = 0; k < count && !code; k++)
        code = take_sibling(request, json_array_get(siblings, k), &tree, out);
    if (!code && tree) {
        json_t *root = json_pack("{s:i, s:O}", "format_version", TREE_VERSION, "files", tree);
        out->tree = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
        json_decref(root);
    }
    json_decref(tree);
    return code;
}

int axle__hub_listing_parse(axle__hub_request *request, const char *text, size_t size,
                            axle__hub_listing *out)
{
    json_error_t error;
    axle__hub_listing listing = {.commit = ""};
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    const char *commit = json_string_value(json_object_get(root, "sha"));
    const json_t *siblings = json_object_get(root, "siblings");
    int code = AXLE_OK;
    if (!root)
        code = axle__hub_fail(request, AXLE_ERR_FORMAT, "%s: the server's answer: %s (line %d)",
                              request->model, error.text, error.line);
    else if (!commit || !axle__hub_is_commit(commit) || !json_is_array(siblings))
        code =
            axle__hub_fail(request, AXLE_ERR_FORMAT,
                           "%s: the server's answer names no commit, or no files", request->model);
    if (!code) {
        memcpy(listing.commit, commit, sizeof(listing.commit));
        code = take_siblings(request, siblings, &listing);
    }
    json_decref(root);
    if (code)
        axle__hub_listing_free(&listing);
    else
        *out = listing;
    return code;
}

bool axle__hub_listing_parse_tree(const char *text, size_t size, axle__hub_listing *out)
{
    axle__hub_listing listing = {.commit = ""};
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL), *value;
    json_t *files = json_object_get(root, "files");
    const json_t *version = json_object_get(root, "format_version");
    bool good = json_is_object(files) && json_integer_value(version) == TREE_VERSION;
    listing.files = good ? calloc(json_object_size(files) + 1, sizeof(*listing.files)) : NULL;
    good = good && listing.files;
    const char *path;
    json_object_foreach(files, path, value) good =
        good && axle__hub_is_path(path) && add(&listing, path, json_object_get(value, "size"));
    json_decref(root);
    if (good)
        *out = listing;
    else
        axle__hub_listing_free(&listing);
    return good;
}
