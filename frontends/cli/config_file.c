/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "config_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "names.h"

char *config_file_default_path(void)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int written = -1;
    /* The XDG specification has relative paths ignored. */
    if (folder && folder[0] == '/')
        written = asprintf(&path, "%s/axle/config.yaml", folder);
    else if (home && home[0] == '/')
        written = asprintf(&path, "%s/.config/axle/config.yaml", home);
    return written < 0 ? NULL : path;
}

int config_file_error(const config_file *file, const config_value *value, const char *format, ...)
{
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    command_error(file->command, "%s:%d: %s: %s", file->path, value->line, value->key, message);
    return EXIT_USAGE;
}

char *config_file_keep(config_file *file, char *text)
{
    char **grown =
        text ? reallocarray(file->kept, (size_t)file->kept_count + 1, sizeof(*grown)) : NULL;
    if (!grown) {
        free(text);
        return NULL;
    }
    file->kept = grown;
    file->kept[file->kept_count++] = text;
    return text;
}

void config_file_release(config_file *file)
{
    for (int k = 0; k < file->kept_count; k++)
        free(file->kept[k]);
    free(file->kept);
    if (file->unused)
        fclose(file->unused);
    free(file->unused_text);
    *file = (config_file){0};
}

#ifdef HAVE_YAML
#include <yaml.h>

bool config_file_supported(void)
{
    return true;
}

static char *copy_scalar(const yaml_node_t *node)
{
    return strndup((const char *)node->data.scalar.value, node->data.scalar.length);
}

/* A list of scalars as one text, separated by commas; NULL where it holds anything else. */
static char *join_list(yaml_document_t *document, const yaml_node_t *node)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    bool scalars = stream != NULL;
    for (const yaml_node_item_t *item = node->data.sequence.items.start;
         scalars && item < node->data.sequence.items.top; item++) {
        const yaml_node_t *of = yaml_document_get_node(document, *item);
        scalars = of && of->type == YAML_SCALAR_NODE;
        if (scalars)
            fprintf(stream, "%s%s", item > node->data.sequence.items.start ? "," : "",
                    (const char *)of->data.scalar.value);
    }
    if (stream && fclose(stream) != 0)
        scalars = false;
    if (scalars)
        return text;
    free(text);
    return NULL;
}

/* As YAML has it: nothing, a tilde, or null. */
static bool is_null(const yaml_node_t *node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};
    return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           names_find(words, (const char *)node->data.scalar.value) >= 0;
}

static int store_pair(config_file *file, yaml_document_t *document, const yaml_node_pair_t *pair)
{
    const yaml_node_t *key = yaml_document_get_node(document, pair->key);
    const yaml_node_t *node = yaml_document_get_node(document, pair->value);
    config_value value = {.key = "a key", .line = (int)key->start_mark.line + 1};
    if (key->type != YAML_SCALAR_NODE)
        return config_file_error(file, &value, "it is no text");
    value.key = (const char *)key->data.scalar.value;
    for (const yaml_node_pair_t *other = pair - 1;
         other >= yaml_document_get_root_node(document)->data.mapping.pairs.start; other--) {
        const yaml_node_t *name = yaml_document_get_node(document, other->key);
        if (strcmp((const char *)name->data.scalar.value, value.key) == 0)
            return config_file_error(file, &value, "it stands in line %d already",
                                     (int)name->start_mark.line + 1);
    }
    if (is_null(node))
        return -1;
    if (node->type != YAML_MAPPING_NODE) {
        value.list = node->type == YAML_SEQUENCE_NODE;
        value.quoted = !value.list && node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        value.text =
            config_file_keep(file, value.list ? join_list(document, node) : copy_scalar(node));
    }
    return config_keys_store(file, &value);
}

static int store_all(config_file *file, yaml_document_t *document)
{
    const yaml_node_t *root = yaml_document_get_root_node(document);
    if (!root)
        return -1;
    if (root->type != YAML_MAPPING_NODE) {
        command_error(file->command, "%s:%d: lines of the form 'key: value' are wanted", file->path,
                      (int)root->start_mark.line + 1);
        return EXIT_USAGE;
    }
    int code = -1;
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         code < 0 && pair < root->data.mapping.pairs.top; pair++)
        code = store_pair(file, document, pair);
    return code;
}

static int parse(config_file *file, FILE *stream)
{
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser))
        return command_error(file->command, "out of memory");
    yaml_parser_set_input_file(&parser, stream);
    int code = EXIT_USAGE;
    if (yaml_parser_load(&parser, &document)) {
        code = store_all(file, &document);
        yaml_document_delete(&document);
    } else {
        command_error(file->command, "%s:%d: no YAML: %s", file->path,
                      (int)parser.problem_mark.line + 1,
                      parser.problem ? parser.problem : "out of memory");
    }
    yaml_parser_delete(&parser);
    return code;
}
#else
bool config_file_supported(void)
{
    return false;
}

static int parse(config_file *file, FILE *stream)
{
    (void)stream;
    return command_error(file->command, "%s: this axle was built without libyaml, which reads it",
                         file->path);
}
#endif

int config_file_read(config_file *file, const struct command *command, const char *path, int quiet)
{
    *file = (config_file){.command = command, .path = path, .values = launch_defaults.values};
    FILE *stream = fopen(path, "re");
    if (!stream) {
        command_error(command, "%s: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    int code = parse(file, stream);
    fclose(stream);
    return code < 0 ? config_keys_finish(file, quiet) : code;
}
