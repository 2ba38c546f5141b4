/* SPDX-License-Identifier: Apache-2.0 */
/* A process of the job, in a process group of its own. */
#ifndef AXLE_CLI_LAUNCH_CHILD_H
#define AXLE_CLI_LAUNCH_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

#include "launch_stream.h"

typedef struct launch_child {
    pid_t pid; /* and number of its group; 0: not started */
    int rank;
    int running; /* it was not waited for yet */
    int grouped; /* somebody may be left in its group */
    int status;  /* of wait() */
    launch_stream out, err;
} launch_child;

typedef struct launch_start {
    const char *path;
    char **argv, **environment;
    int listen_fd; /* inherited; -1: none */
    int keeps_stdin;
    struct rlimit files; /* limit of open files, as the launcher found it */
} launch_start;

/* Find a program as a shell does, as memory for free(). NULL: *problem says why not. */
char *launch_find_program(const char *name, const char **problem);
/* Start it. The streams' descriptors are set, nothing else of theirs. Returns 0, or errno of what
 * failed; *executing tells whether that was to execute the program. */
int launch_child_start(launch_child *child, const launch_start *start, int *executing);
/* Signal everybody in its group. */
void launch_child_signal(const launch_child *child, int number);

#endif
