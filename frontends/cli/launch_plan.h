/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch does: the command line over the environment over the file over what is found. */
#ifndef AXLE_CLI_LAUNCH_PLAN_H
#define AXLE_CLI_LAUNCH_PLAN_H

#include "config_file.h"
#include "launch.h"

/* Starts as {0}, which release accepts, too. */
typedef struct launch_plan {
    const launch_settings *settings;
    launch_values values; /* as given, on the command line or in the file */
    config_file file;
    char *file_path;
    int hosts, host;
    int processes, first_rank; /* of this host */
    int world;
    const char *address; /* where processes meet; NULL: AXLE_RENDEZVOUS says it */
    int port;
    int axle_threads, omp_threads; /* LAUNCH_UNSET: as the environment has it */
    char *gpu_backend;             /* the backend whose devices are given out; NULL */
    char job[128], secret[128];
    FILE *said; /* what was chosen without being asked for */
    char *said_text;
    size_t said_size;
    long said_file; /* where what comes from the file ends */
} launch_plan;

/* Returns -1 to go on, or an exit code after a message. */
int launch_plan_make(launch_plan *plan, const launch_settings *settings);
void launch_plan_release(launch_plan *plan);
/* AXLE_BACKEND of a process, as memory for free(); NULL to leave it as it is. */
char *launch_plan_backend(const launch_plan *plan, int local);
/* Print a line that says where values come from that were not on the command line. */
void launch_plan_report(launch_plan *plan);

/* The number of GPUs of the backend that has most of them, with its name as memory for free(). */
int launch_detect_gpus(char **backend);

#endif
