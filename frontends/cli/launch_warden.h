/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that outlives its launcher for a moment: should the launcher be killed, it kills the
 * process groups that the launcher had started, so that not even grandchildren stay.
 */
#ifndef AXLE_CLI_LAUNCH_WARDEN_H
#define AXLE_CLI_LAUNCH_WARDEN_H

#include <sys/types.h>

typedef struct launch_warden {
    pid_t pid;
    int pipe; /* its end of file tells that the launcher is gone */
} launch_warden;

/* Returns 0, or -1 with errno. Called before there is any other child. */
int launch_warden_start(launch_warden *warden);
void launch_warden_watch(const launch_warden *warden, pid_t group);
void launch_warden_forget(const launch_warden *warden, pid_t group);
/* Ends it, and waits for that. */
void launch_warden_stop(launch_warden *warden);

#endif
