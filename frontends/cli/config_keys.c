/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of configuration files, and what they mean for axle launch. */
#define _GNU_SOURCE 1
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "config_file.h"
#include "names.h"
#include "option_value.h"

/* accelerate's names of options. */
static const struct alias {
    const char *key, *option;
} aliases[] = {
    {"num_machines", "num-hosts"},       {"machine_rank", "host-rank"},
    {"main_process_ip", "main-address"}, {"main_process_port", "main-port"},
    {"mixed_precision", "precision"},
};
enum { ALIASES = sizeof(aliases) / sizeof(aliases[0]) };

/* accelerate's keys that are no options here. */
static const struct switch_key {
    const char *key;
    size_t offset;
} switches[] = {
    {"use_cpu", offsetof(launch_values, use_cpu)},
    {"debug", offsetof(launch_values, debug)},
};
enum { SWITCHES = sizeof(switches) / sizeof(switches[0]) };

/* accelerate's keys that choose between things of which there is one here. */
static const char *const unused[] = {
    "compute_environment", "distributed_type",
    "downcast_bf16",       "dynamo_backend",
    "dynamo_config",       "gpu_ids",
    "rdzv_backend",        "enable_cpu_affinity",
    "same_network",        "tpu_env",
    "tpu_use_cluster",     "main_training_function",
    "tpu_use_sudo",        NULL,
};

enum { NAME_SIZE = 64 };

/* The option that a key stands for. */
static const cli_option *option_of(const char *key)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof(name), "%s", key);
    for (int k = 0; k < ALIASES; k++)
        if (strcmp(aliases[k].key, key) == 0)
            snprintf(name, sizeof(name), "%s", aliases[k].option);
    if (strchr(key, '-'))
        return NULL;
    for (char *at = name; *at; at++)
        if (*at == '_')
            *at = '-';
    return launch_value_option(name);
}

/* All keys, NULL-terminated; those of options are written to `names`. */
static void list_keys(const char *keys[MAX_OPTIONS], char names[MAX_OPTIONS][NAME_SIZE])
{
    int count = 0;
    for (const cli_option *option = launch_options; launch_value_option(option->name); option++) {
        snprintf(names[count], NAME_SIZE, "%s", option->name);
        for (char *at = names[count]; *at; at++)
            if (*at == '-')
                *at = '_';
        keys[count] = names[count];
        count++;
    }
    for (int k = 0; k < ALIASES; k++)
        keys[count++] = aliases[k].key;
    for (int k = 0; k < SWITCHES; k++)
        keys[count++] = switches[k].key;
    keys[count] = NULL;
}

static void warn_unknown(const config_file *file, const config_value *value)
{
    const char *keys[MAX_OPTIONS];
    char names[MAX_OPTIONS][NAME_SIZE];
    list_keys(keys, names);
    const char *nearest = names_nearest(keys, value->key);
    command_error(file->command, "%s:%d: warning: unknown key '%s' is ignored%s%s%s", file->path,
                  value->line, value->key, nearest ? "; did you mean '" : "",
                  nearest ? nearest : "", nearest ? "'?" : "");
}

static int note_unused(config_file *file, const config_value *value)
{
    if (!file->unused)
        file->unused = open_memstream(&file->unused_text, &file->unused_size);
    if (!file->unused)
        return config_file_error(file, value, "out of memory");
    fprintf(file->unused, "%s%s", file->unused_count++ ? ", " : "", value->key);
    return -1;
}

static int store_switch(config_file *file, const config_value *value, size_t offset)
{
    static const char *const yes[] = {"true", "yes", "on", "True", "Yes", "TRUE", NULL};
    static const char *const no[] = {"false", "no", "off", "False", "No", "FALSE", NULL};
    int *at = (int *)(void *)((char *)&file->values + offset);
    if (!value->text || value->list || value->quoted ||
        (names_find(yes, value->text) < 0 && names_find(no, value->text) < 0))
        return config_file_error(file, value, "'%s' is neither true nor false",
                                 value->text ? value->text : "a mapping");
    *at = names_find(yes, value->text) >= 0;
    return -1;
}

/* What an option of that kind wants. */
static const char *wanted(const cli_option *option)
{
    return option->kind == OPTION_INTEGER || strcmp(option->name, "num-processes") == 0
               ? "a whole number"
               : "text";
}

static int store_option(config_file *file, const config_value *value, const cli_option *option)
{
    char problem[PROBLEM_SIZE];
    const char *text = value->text;
    bool takes_list =
        strcmp(option->name, "num-processes") == 0 || strcmp(option->name, "backend") == 0;
    if (!text || (value->list && !takes_list))
        return config_file_error(file, value, "%s is wanted, not %s", wanted(option),
                                 text ? "a list" : "a mapping");
    if (value->quoted && strcmp(wanted(option), "text") != 0)
        return config_file_error(file, value, "'%s' is in quotes, and so text; %s is wanted", text,
                                 wanted(option));
    if (option_value_parse(option, text, &file->values, problem))
        return config_file_error(file, value, "%s", problem);
    if (strcmp(value->key, "num_machines") == 0)
        file->machines = true;
    if (strcmp(value->key, "num_processes") == 0)
        file->processes_line = value->line;
    return -1;
}

int config_keys_store(config_file *file, const config_value *value)
{
    const cli_option *option = option_of(value->key);
    if (option)
        return store_option(file, value, option);
    for (int k = 0; k < SWITCHES; k++)
        if (strcmp(switches[k].key, value->key) == 0)
            return store_switch(file, value, switches[k].offset);
    if (names_find(unused, value->key) >= 0)
        return note_unused(file, value);
    warn_unknown(file, value);
    return -1;
}

/* accelerate counts the processes of all machines together. */
static int share_among_machines(config_file *file)
{
    launch_values *values = &file->values;
    int count, total = launch_count_at(values->num_processes, 0, &count);
    int64_t machines = values->num_hosts;
    if (count > 1 || machines == 1)
        return -1;
    const config_value at = {.key = "num_processes", .line = file->processes_line};
    if (total % machines != 0)
        return config_file_error(file, &at, "%d processes do not divide among %lld machines", total,
                                 (long long)machines);
    char *text;
    if (asprintf(&text, "%d", total / (int)machines) < 0)
        text = NULL;
    values->num_processes = config_file_keep(file, text);
    return values->num_processes ? -1 : config_file_error(file, &at, "out of memory");
}

int config_keys_finish(config_file *file, int quiet)
{
    if (file->unused && fflush(file->unused) == 0 && !quiet)
        command_error(file->command, "%s: keys that mean nothing to axle: %s", file->path,
                      file->unused_text);
    return file->machines && file->values.num_processes ? share_among_machines(file) : -1;
}
