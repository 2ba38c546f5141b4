/* SPDX-License-Identifier: Apache-2.0 */
/* What every run's folder has: config.json, and pictures. */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/folder.h"
#include "../common/whole_file.h"
#include "sink.h"

typedef struct files {
    sink base;
    char *folder;
} files;

static void files_release(sink *self)
{
    free(((files *)self)->folder);
    free(self);
}

static int files_open(const sink_setup *setup, sink **out)
{
    files *self = calloc(1, sizeof(*self));
    if (!self || !(self->folder = strdup(setup->folder))) {
        free(self);
        return sink_no_memory();
    }
    self->base.class = &files_sink;
    *out = &self->base;
    return AXLE_OK;
}

static int files_config(sink *self, const json_t *config, double time)
{
    char *text = json_dumps(config, JSON_INDENT(2)), *path = NULL;
    (void)time;
    if (!text || asprintf(&path, "%s/config.json", ((files *)self)->folder) < 0) {
        free(text);
        return sink_no_memory();
    }
    size_t length = strlen(text);
    text[length] = '\n'; /* instead of the end */
    int code = whole_file_write(path, text, length + 1);
    free(path);
    free(text);
    return code;
}

/* A name as a file's, in which nothing leads to another folder. */
static char *file_name(const char *name)
{
    char *out = malloc(3 * strlen(name) + 1), *end = out;
    for (const unsigned char *c = (const unsigned char *)name; out && *c; c++) {
        int plain = isalnum(*c) || *c >= 0x80 || *c == '-' || *c == '_';
        if (plain || (*c == '.' && c != (const unsigned char *)name))
            *end++ = (char)*c;
        else
            end += sprintf(end, "%%%02X", *c);
    }
    if (out)
        *end = '\0';
    return out;
}

static int files_picture(sink *self, const sink_picture *picture)
{
    char *name = file_name(picture->name), *folder = NULL, *path = NULL;
    int code = AXLE_OK;
    if (!name || asprintf(&folder, "%s/images/%s", ((files *)self)->folder, name) < 0 ||
        asprintf(&path, "%s/%08" PRId64 ".png", folder, picture->step) < 0)
        code = sink_no_memory();
    if (!code)
        code = folder_make(folder, NULL);
    if (!code)
        code = whole_file_write(path, picture->image->png, picture->image->png_size);
    free(path);
    free(folder);
    free(name);
    return code;
}

const sink_class files_sink = {
    .open = files_open,
    .config = files_config,
    .picture = files_picture,
    .release = files_release,
};
