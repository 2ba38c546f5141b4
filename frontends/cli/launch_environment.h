/* SPDX-License-Identifier: Apache-2.0 */
/* The environment that a child gets: the launcher's own with changes. */
#ifndef AXLE_CLI_LAUNCH_ENVIRONMENT_H
#define AXLE_CLI_LAUNCH_ENVIRONMENT_H

#include <stdbool.h>

#include "launch_plan.h"

/* Starts as {0}. After a failure, functions do nothing. */
typedef struct launch_environment {
    char **entries; /* NULL-terminated */
    int count, room;
    bool failed;
} launch_environment;

/* Make that of the process with this local rank. listen_fd: -1 for none.
 * Returns 0, or -1 where memory ran out. */
int launch_environment_make(const launch_plan *plan, int local, int restart, int listen_fd,
                            launch_environment *out);
void launch_environment_release(launch_environment *environment);

#endif
