/* SPDX-License-Identifier: Apache-2.0 */
/* The options of axle launch. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "option_value.h"

const char *const *launch_precisions(void)
{
    static const char *const names[] = {"no", "bf16", "fp16", "f32", NULL};
    return names;
}

/* Whole numbers, separated by commas. */
static int check_counts(const char *text, char *problem)
{
    int count = 0;
    for (const char *at = text;; at++, count++) {
        char *end;
        long number = strtol(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0')) {
            snprintf(problem, PROBLEM_SIZE,
                     "'%s' is no whole number, nor several separated by commas", text);
            return -1;
        }
        if (number < 1 || number > LAUNCH_MOST_PROCESSES) {
            snprintf(problem, PROBLEM_SIZE, "%.*s does not lie in [1, %d]", (int)(end - at), at,
                     LAUNCH_MOST_PROCESSES);
            return -1;
        }
        at = end;
        if (*at == '\0')
            break;
    }
    if (count < LAUNCH_MOST_HOSTS)
        return 0;
    snprintf(problem, PROBLEM_SIZE, "more than %d numbers", LAUNCH_MOST_HOSTS);
    return -1;
}

int launch_count_at(const char *list, int position, int *count)
{
    int found = 0, value = 0;
    for (const char *at = list;; at++, found++) {
        char *end;
        int number = (int)strtol(at, &end, 10);
        if (found == 0 || found == position)
            value = number;
        at = end;
        if (*at == '\0')
            break;
    }
    *count = found + 1;
    return value;
}

static int check_backends(const char *text, char *problem)
{
    size_t length = strlen(text);
    if (text[0] != ',' && text[length - 1] != ',' && !strstr(text, ",,"))
        return 0;
    snprintf(problem, PROBLEM_SIZE, "'%s' has an empty entry", text);
    return -1;
}

/* One colon is that of a port; an IPv6 address has two at least. */
static int check_address(const char *text, char *problem)
{
    const char *colon = strchr(text, ':');
    if (text[0] != '[' && (!colon || strchr(colon + 1, ':')))
        return 0;
    snprintf(problem, PROBLEM_SIZE,
             "'%.256s' is more than a name or an address; the port is given with --main-port",
             text);
    return -1;
}

const launch_settings launch_defaults = {
    .values = {.num_hosts = LAUNCH_UNSET,
               .host_rank = LAUNCH_UNSET,
               .main_port = LAUNCH_UNSET,
               .threads = LAUNCH_UNSET,
               .accumulate = LAUNCH_UNSET,
               .timeout = LAUNCH_UNSET,
               .max_restarts = LAUNCH_UNSET,
               .precision = LAUNCH_UNSET},
};

enum { MOST = 1 << 30, MOST_THREADS = 1 << 16, MOST_PORT = 65535, MOST_SECONDS = 31536000 };

#define LAUNCH_VALUE(label, type, field, ...)                                                      \
    CLI_OPTION(label, type, launch_settings, values.field, __VA_ARGS__)
#define LAUNCH_OPTION(label, type, field, ...)                                                     \
    CLI_OPTION(label, type, launch_settings, field, __VA_ARGS__)

const cli_option launch_options[] = {
    LAUNCH_VALUE("num-processes", TEXT, num_processes, .letter = 'n', .value = "N[,N]...",
                 .help = "processes on each host; with commas, those of host 0, 1, ...",
                 .unset = "one a GPU, at least 1", .check = check_counts),
    LAUNCH_VALUE("num-hosts", INTEGER, num_hosts, .value = "N", .low = 1, .high = LAUNCH_MOST_HOSTS,
                 .unset = "1", .help = "hosts that take part; each runs axle launch"),
    LAUNCH_VALUE("host-rank", INTEGER, host_rank, .value = "N", .high = LAUNCH_MOST_HOSTS - 1,
                 .unset = "0", .help = "number of this host, from 0"),
    LAUNCH_VALUE("main-address", TEXT, main_address, .value = "HOST", .unset = "127.0.0.1",
                 .help = "name or address of host 0, as the others reach it",
                 .check = check_address),
    LAUNCH_VALUE("main-port", INTEGER, main_port, .value = "PORT", .high = MOST_PORT,
                 .unset = "0; 29500 with several hosts",
                 .help = "port on host 0 where processes meet; 0 is any free one"),
    LAUNCH_VALUE("backend", TEXT, backend, .value = "LIST", .unset = "AXLE_BACKEND",
                 .help = "backend of all processes, or of each on this host, separated by commas",
                 .check = check_backends),
    LAUNCH_VALUE("threads", INTEGER, threads, .value = "N", .low = 1, .high = MOST_THREADS,
                 .unset = "usable cores / processes", .help = "threads of each process"),
    LAUNCH_VALUE("precision", CHOICE, precision, .value = "TYPE", .unset = "the program's",
                 .help = "precision of products", .names = launch_precisions),
    LAUNCH_VALUE("accumulate", INTEGER, accumulate, .value = "N", .low = 1, .high = MOST,
                 .unset = "the program's", .help = "batches an update"),
    LAUNCH_VALUE("timeout", INTEGER, timeout, .value = "SECONDS", .low = 1, .high = MOST_SECONDS,
                 .unset = "AXLE_TIMEOUT", .help = "silence after which a process counts as lost"),
    LAUNCH_VALUE("max-restarts", INTEGER, max_restarts, .value = "N", .high = MOST, .unset = "0",
                 .help = "how often all processes are started again after a failure"),
    LAUNCH_OPTION("config", FILE, config, .value = "FILE", .unset = "axle/config.yaml in ~/.config",
                  .help = "file with values for the options above"),
    LAUNCH_OPTION("log-dir", FOLDER, log_dir, .value = "DIR",
                  .help = "write the output of each process to rank-N.log there, too"),
    LAUNCH_OPTION("tag-output", FLAG, tag_output, .help = "begin each line of output with [rank]"),
    LAUNCH_OPTION("quiet", FLAG, quiet, .help = "do not say what was chosen"),
    CLI_OPTION_END,
};

const cli_option *launch_value_option(const char *name)
{
    for (const cli_option *option = launch_options; option->offset < sizeof(launch_values);
         option++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

bool launch_value_given(const launch_values *values, const cli_option *option)
{
    const char *at = (const char *)values + option->offset;
    if (option->kind == OPTION_INTEGER)
        return *(const int64_t *)(const void *)at != LAUNCH_UNSET;
    if (option->kind == OPTION_CHOICE)
        return *(const int *)(const void *)at != LAUNCH_UNSET;
    return *(const char *const *)(const void *)at != NULL;
}
