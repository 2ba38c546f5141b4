/* SPDX-License-Identifier: Apache-2.0 */
/* Writing configuration files, and printing what they hold. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "../common/folder.h"
#include "../common/whole_file.h"
#include "axle/status.h"
#include "config_file.h"

#ifdef HAVE_YAML
#include <yaml.h>

/* The key of an option. */
static void key_of(const cli_option *option, char key[64])
{
    snprintf(key, 64, "%s", option->name);
    for (char *at = key; *at; at++)
        if (*at == '-')
            *at = '_';
}

static void text_of(const launch_values *values, const cli_option *option, char text[4096])
{
    const char *at = (const char *)values + option->offset;
    if (option->kind == OPTION_INTEGER)
        snprintf(text, 4096, "%lld", (long long)*(const int64_t *)(const void *)at);
    else if (option->kind == OPTION_CHOICE)
        snprintf(text, 4096, "%s", option->names()[*(const int *)(const void *)at]);
    else
        snprintf(text, 4096, "%s", *(const char *const *)(const void *)at);
}

static int emit_scalar(yaml_emitter_t *emitter, const char *text)
{
    yaml_event_t event;
    return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                        (int)strlen(text), 1, 1, YAML_ANY_SCALAR_STYLE) &&
           yaml_emitter_emit(emitter, &event);
}

static int emit_begin(yaml_emitter_t *emitter)
{
    yaml_event_t event;
    return yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
           yaml_emitter_emit(emitter, &event) &&
           yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE) &&
           yaml_emitter_emit(emitter, &event);
}

static int emit_end(yaml_emitter_t *emitter)
{
    yaml_event_t event;
    return yaml_mapping_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event) &&
           yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(emitter, &event);
}

static int emit_values(yaml_emitter_t *emitter, const launch_values *values)
{
    int ok = 1;
    char key[64], text[4096];
    for (const cli_option *option = launch_options; ok && launch_value_option(option->name);
         option++) {
        if (!launch_value_given(values, option))
            continue;
        key_of(option, key);
        text_of(values, option, text);
        ok = emit_scalar(emitter, key) && emit_scalar(emitter, text);
    }
    return ok;
}

/* Returns whether it went well. */
static int emit(FILE *stream, const launch_values *values)
{
    yaml_emitter_t emitter;
    yaml_event_t event;
    if (!yaml_emitter_initialize(&emitter))
        return 0;
    yaml_emitter_set_output_file(&emitter, stream);
    int ok = yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
             yaml_emitter_emit(&emitter, &event) && emit_begin(&emitter) &&
             emit_values(&emitter, values) && emit_end(&emitter) &&
             yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(&emitter, &event);
    yaml_emitter_delete(&emitter);
    return ok;
}
#else
static int emit(FILE *stream, const launch_values *values)
{
    (void)stream;
    (void)values;
    return 0;
}
#endif

int config_file_print(const struct command *command, FILE *stream, const launch_values *values)
{
    return emit(stream, values) ? EXIT_DONE
                                : command_error(command, "the configuration cannot be written");
}

/* The folders above a file. */
static int prepare_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash && slash > path ? strndup(path, (size_t)(slash - path)) : NULL;
    int created, code = folder ? folder_prepare(folder, &created) : AXLE_OK;
    free(folder);
    return code;
}

int config_file_write(const struct command *command, const char *path, const launch_values *values)
{
    whole_file file = {0};
    if (prepare_folder(path) || whole_file_open(&file, path))
        return command_failed(command, NULL);
    fputs("# Written by axle config; read by axle launch.\n", file.stream);
    int code = config_file_print(command, file.stream, values);
    if (code)
        whole_file_discard(&file);
    else if (whole_file_commit(&file))
        code = command_failed(command, NULL);
    return code;
}
