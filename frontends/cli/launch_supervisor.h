/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a job to its end, and again after failures. */
#ifndef AXLE_CLI_LAUNCH_SUPERVISOR_H
#define AXLE_CLI_LAUNCH_SUPERVISOR_H

#include "launch_child.h"
#include "launch_plan.h"
#include "launch_warden.h"

typedef struct launch_job {
    launch_plan *plan;
    const char *path; /* of the program */
    launch_child *children;
    int count;
    launch_output out, err;
    launch_warden warden;
    int signals; /* descriptor from which signals are read */
    struct rlimit files;
    int restart;           /* how often the job was started again */
    int interrupted;       /* the signal that ends the job; 0: none */
    double interrupted_at; /* when */
    launch_child *failed;  /* the first that failed, in this start */
    int stopping;          /* the last signal sent to all; 0: none */
    double deadline;       /* when the next, stronger one is due */
} launch_job;

/* Returns the exit code: of the child that failed first, 128 and the number of a signal, or that of
 * an error of the launcher's own, which it says. */
int launch_supervise(launch_plan *plan, const char *path);

/* Start all. Returns -1 to go on, or an exit code after a message. */
int launch_job_start(launch_job *job);
/* One wait for whatever comes first: output, signals, ends of children, deadlines. */
void launch_job_turn(launch_job *job);
/* Whether a process is left, children's children included. */
int launch_job_alive(const launch_job *job);
/* Send a signal to all; a stronger one follows after so many seconds. */
void launch_job_stop(launch_job *job, int number, double seconds);
/* Close the streams, with what is left in them. */
void launch_job_end(launch_job *job);

#endif
