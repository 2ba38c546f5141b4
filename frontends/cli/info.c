/* SPDX-License-Identifier: Apache-2.0 */
/* axle info: what this installation is and finds. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "axle/device.h"
#include "axle/status.h"
#include "command.h"

enum { WIDTH = 80, INDENT = 2 };

typedef struct info_settings {
    int json, settings;
} info_settings;

static const info_settings defaults = {0, 0};

static const cli_option options[] = {
    CLI_OPTION("json", FLAG, info_settings, json, .help = "print one JSON object"),
    CLI_OPTION("settings", FLAG, info_settings, settings,
               .help = "print the environment variables that Axle reads, and nothing else"),
    CLI_OPTION_END,
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* ------------------------------------------------------------------ parts */

static void print_build(const json_t *info)
{
    const char *label;
    json_t *value;
    printf("axle %s\n", text_of(info, "version"));
    printf("%*s%-16s %s\n", INDENT, "", "library", text_of(info, "library"));
    printf("%*s%-16s %lld usable, %lld threads\n", INDENT, "", "cores",
           (long long)json_integer_value(json_object_get(info, "cores")),
           (long long)json_integer_value(json_object_get(info, "threads")));
    json_object_foreach(json_object_get(info, "build"), label,
                        value) if (strcmp(label, "version") != 0)
        printf("%*s%-16s %s\n", INDENT, "", label, json_string_value(value));
}

static void print_search_path(const json_t *info)
{
    size_t k;
    json_t *folder;
    puts("\nbackends are looked for in");
    json_array_foreach(json_object_get(info, "search_path"), k, folder)
        printf("%*s%s\n", INDENT, "", json_string_value(folder));
}

/* Print words, separated by commas, in lines that begin with `indent` blanks. */
static void print_words(const json_t *words, int indent)
{
    size_t k, count = json_array_size(words);
    json_t *word;
    int column = 0;
    json_array_foreach(words, k, word)
    {
        const char *text = json_string_value(word);
        int width = (int)strlen(text) + 1, fits = column + 1 + width <= WIDTH;
        if (column == 0 || !fits)
            printf("%s%*s", column ? "\n" : "", indent, "");
        else
            putchar(' ');
        column = column == 0 || !fits ? indent + width : column + 1 + width;
        printf("%s%s", text, k + 1 < count ? "," : "");
    }
    putchar('\n');
}

static void print_device(const json_t *device, size_t number)
{
    double bytes = json_number_value(json_object_get(device, "memory_bytes"));
    const char *description = text_of(device, "description"), *driver = text_of(device, "driver");
    printf("%*s%zu: %s, %s, %.1f GiB\n", 2 * INDENT, "", number, text_of(device, "name"),
           text_of(device, "kind"), bytes / (1 << 30));
    if (*description)
        printf("%*s%s\n", 3 * INDENT + 1, "", description);
    if (*driver)
        printf("%*sdriver: %s\n", 3 * INDENT + 1, "", driver);
    printf("%*scomputes in: ", 3 * INDENT + 1, "");
    print_words(json_object_get(device, "dtypes"), 0);
    if (*text_of(device, "error"))
        printf("%*scan not be used: %s\n", 3 * INDENT + 1, "", text_of(device, "error"));
}

/* What the backend met while it looked for its devices. */
static void print_findings(const json_t *backend)
{
    size_t k;
    json_t *line;
    json_array_foreach(json_object_get(backend, "findings"), k, line)
        printf("%*snote: %s\n", 2 * INDENT, "", json_string_value(line));
}

/* The reason of a backend that finds no device holds its findings. */
static void print_backend(const json_t *backend)
{
    const char *path = json_string_value(json_object_get(backend, "path"));
    size_t k;
    json_t *device;
    if (strcmp(text_of(backend, "status"), "ok") != 0) {
        printf("%*s%-12s rejected: %s\n", INDENT, "", text_of(backend, "name"),
               text_of(backend, "reason"));
        if (path)
            printf("%*s%s\n", 2 * INDENT, "", path);
        return;
    }
    printf("%*s%-12s %s, %s\n", INDENT, "", text_of(backend, "name"), text_of(backend, "version"),
           path ? path : "built in");
    json_array_foreach(json_object_get(backend, "devices"), k, device) print_device(device, k);
    print_findings(backend);
}

static void print_backends(const json_t *info)
{
    size_t k;
    json_t *backend;
    puts("\nbackends");
    json_array_foreach(json_object_get(info, "backends"), k, backend) print_backend(backend);
}

static void print_operators(const json_t *info)
{
    const json_t *operators = json_object_get(info, "operators");
    printf("\n%zu operators\n", json_array_size(operators));
    print_words(operators, INDENT);
}

/* With the help of each where `with_help`. */
static void print_settings(const json_t *info, int with_help)
{
    size_t k;
    json_t *setting;
    json_array_foreach(json_object_get(info, "settings"), k, setting)
    {
        printf("%*s%-20s %s%s\n", with_help ? 0 : INDENT, "", text_of(setting, "name"),
               text_of(setting, "value"),
               json_is_true(json_object_get(setting, "given")) ? "" : " (default)");
        if (with_help)
            printf("%*s%s\n", 2 * INDENT, "", text_of(setting, "help"));
    }
}

static void print_all(const json_t *info)
{
    print_build(info);
    print_search_path(info);
    print_backends(info);
    print_operators(info);
    puts("\nsettings");
    print_settings(info, 0);
}

/* ------------------------------------------------------------------ the command */

static void print_json(const json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2));
    putchar('\n');
}

static int run(const void *given, const int *operands, int n)
{
    const info_settings *settings = given;
    (void)operands;
    (void)n;
    char *text;
    if (axle_info_json(&text))
        return command_failed(&info_command, NULL);
    json_error_t error;
    json_t *info = json_loads(text, 0, &error);
    axle_free(text);
    if (!info)
        return command_error(&info_command, "the description is no JSON: %s", error.text);
    if (settings->json)
        print_json(settings->settings ? json_object_get(info, "settings") : info);
    else if (settings->settings)
        print_settings(info, 1);
    else
        print_all(info);
    json_decref(info);
    return EXIT_DONE;
}

const command info_command = {
    .name = "info",
    .summary = "show backends, devices, operators, settings and how Axle was built",
    .about = "Show this installation: version and build options, backends found and rejected with\n"
             "the reason, devices, operators, and the settings in force.",
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
