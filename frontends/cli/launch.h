/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axle launch, in the order of its work: options, the plan that follows from them, a child a rank,
 * and the supervisor that passes their output on and ends them.
 */
#ifndef AXLE_CLI_LAUNCH_H
#define AXLE_CLI_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "command.h"

/* Processes on a host, hosts, and what stands for a number or choice that was not given. */
enum { LAUNCH_MOST_PROCESSES = 1024, LAUNCH_MOST_HOSTS = 256, LAUNCH_UNSET = -1 };

/* What the command line and a configuration file can both say. */
typedef struct launch_values {
    const char *num_processes; /* "2", or "2,3": of each host */
    int64_t num_hosts, host_rank;
    const char *main_address;
    int64_t main_port;
    const char *backend; /* "onednn", or "onednn,reference": of each local rank */
    int64_t threads, accumulate, timeout, max_restarts;
    int precision;
    int use_cpu, debug; /* in files of accelerate alone */
} launch_values;

typedef struct launch_settings {
    launch_values values;
    const char *config, *log_dir;
    int tag_output, quiet;
    char **program; /* with its arguments */
} launch_settings;

extern const launch_settings launch_defaults;
/* The launch_values among them come first. */
extern const cli_option launch_options[];
const char *const *launch_precisions(void);
/* The option of that name, where a file may say it, too; else NULL. */
const cli_option *launch_value_option(const char *name);
/* Whether `values` have it. */
bool launch_value_given(const launch_values *values, const cli_option *option);
/* The number at `position` of a list like "2,3"; the only one, where there is one. `count` gets how
 * many there are. */
int launch_count_at(const char *list, int position, int *count);

#endif
