/* SPDX-License-Identifier: Apache-2.0 */
/* config.json. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../common/whole_file.h"
#include "config.h"

/* `path`, or config.json in it; for free(). */
static char *file_of(const char *path)
{
    struct stat about;
    char *file = NULL;
    bool folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    if (asprintf(&file, "%s%s", path, folder ? "/config.json" : "") >= 0)
        return file;
    axle__config_out_of_memory();
    return NULL;
}

static int load(const char *file, json_t **out)
{
    json_error_t error;
    *out = json_load_file(file, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(*out))
        return AXLE_OK;
    if (*out)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: it is no JSON object", file);
    if (json_error_code(&error) == json_error_cannot_open_file)
        return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: %s", file, error.text);
    return axle_error_set(AXLE_ERR_FORMAT, "%s: %s (line %d)", file, error.text, error.line);
}

static int read_file(const char *file, axle_transformer_config **out)
{
    json_t *root;
    int status = load(file, &root);
    const char *type = json_string_value(json_object_get(root, "model_type"));
    const axle__architecture *kind = type ? axle__architecture_find(type) : NULL;
    if (!status && !type)
        status = axle_error_set(AXLE_ERR_FORMAT, "%s: there is no model_type", file);
    else if (!status && !kind)
        status = axle__config_unknown_type(type);
    if (!status)
        return axle__config_wrap(kind, root, out);
    json_decref(root);
    return status;
}

int axle_transformer_config_read(const char *path, axle_transformer_config **out)
{
    char *file = file_of(path);
    int status = file ? read_file(file, out) : axle_error_code();
    free(file);
    return status;
}

int axle_transformer_config_write(const axle_transformer_config *config, const char *directory)
{
    char *text =
        json_dumps(config->root, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    char *path = NULL, *line = NULL;
    int size = text ? asprintf(&line, "%s\n", text) : -1;
    int length = size < 0 ? -1 : asprintf(&path, "%s/config.json", directory);
    int status =
        length < 0 ? axle__config_out_of_memory() : whole_file_write(path, line, (size_t)size);
    if (length >= 0)
        free(path);
    if (size >= 0)
        free(line);
    free(text);
    return status;
}
