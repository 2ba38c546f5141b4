/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the processes of a job, and ending them. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "launch_environment.h"
#include "launch_listen.h"
#include "launch_supervisor.h"

/* Seconds that a process has after SIGTERM, and between repetitions of SIGKILL, which one in an
 * uninterruptible wait does not feel at once. */
static const double term_grace = 5.0, kill_pause = 1.0;

/* ------------------------------------------------------------------ start */

/* The log goes on over restarts. NULL, with errno, where it cannot be opened. */
static FILE *open_log(const launch_job *job, int rank)
{
    char *path;
    if (asprintf(&path, "%s/rank-%d.log", job->plan->settings->log_dir, rank) < 0)
        return NULL;
    FILE *log = fopen(path, job->restart ? "ae" : "we");
    free(path);
    return log;
}

static int failed_to_start(launch_job *job, const launch_child *child, const char *what, int code,
                           int exit_code)
{
    launch_output_print(&job->err, "axle launch: rank %d: %s: %s\n", child->rank, what,
                        strerror(code));
    return exit_code;
}

static int start_child(launch_job *job, int local, int listen_fd)
{
    launch_plan *plan = job->plan;
    launch_child *child = &job->children[local];
    launch_environment environment;
    int tag = plan->first_rank + local, executing;
    *child = (launch_child){
        .rank = tag,
        .out = {.descriptor = -1, .to = &job->out, .tag = -1, .tail_count = -1},
        .err = {.descriptor = -1, .to = &job->err, .tag = -1},
    };
    if (plan->settings->tag_output)
        child->out.tag = child->err.tag = tag;
    if (plan->settings->log_dir) {
        child->out.log = child->err.log = open_log(job, tag);
        if (!child->out.log)
            return failed_to_start(job, child, plan->settings->log_dir, errno, EXIT_FAILED);
    }
    int code =
        launch_environment_make(plan, local, job->restart, listen_fd, &environment) ? ENOMEM : 0;
    executing = 0;
    if (!code) {
        const launch_start start = {job->path,
                                    plan->settings->program,
                                    environment.entries,
                                    listen_fd,
                                    local == 0 && !isatty(STDIN_FILENO),
                                    job->files};
        code = launch_child_start(child, &start, &executing);
    }
    launch_environment_release(&environment);
    if (code)
        return failed_to_start(job, child, executing ? job->path : "it cannot be started", code,
                               executing ? EXIT_USAGE : EXIT_FAILED);
    launch_warden_watch(&job->warden, child->pid);
    return -1;
}

int launch_job_start(launch_job *job)
{
    int listen_fd, code = launch_listen(job->plan, &listen_fd);
    if (code >= 0)
        return code;
    if (job->restart == 0)
        launch_plan_report(job->plan);
    job->failed = NULL;
    job->stopping = 0;
    memset(job->children, 0, (size_t)job->plan->processes * sizeof(*job->children));
    for (job->count = 0; job->count < job->plan->processes && code < 0; job->count++)
        code = start_child(job, job->count, job->count == 0 ? listen_fd : -1);
    if (listen_fd >= 0)
        close(listen_fd);
    return code;
}

/* ------------------------------------------------------------------ end */

int launch_job_alive(const launch_job *job)
{
    for (int k = 0; k < job->count; k++)
        if (job->children[k].grouped)
            return 1;
    return 0;
}

void launch_job_stop(launch_job *job, int number, double seconds)
{
    for (int k = 0; k < job->count; k++) {
        launch_child_signal(&job->children[k], number);
        /* One that is stopped would not feel it before it goes on. */
        launch_child_signal(&job->children[k], SIGCONT);
    }
    job->stopping = number;
    job->deadline = clock_seconds() + (number == SIGKILL ? kill_pause : seconds);
}

static void end_child(launch_job *job, launch_child *child)
{
    launch_stream_end(&child->out);
    launch_stream_end(&child->err);
    if (child->out.log && (ferror(child->out.log) | fclose(child->out.log)))
        launch_output_print(&job->err, "axle launch: the log of rank %d is not whole: %s\n",
                            child->rank, strerror(errno));
    child->out.log = child->err.log = NULL;
}

void launch_job_end(launch_job *job)
{
    if (launch_job_alive(job) && !job->stopping)
        launch_job_stop(job, SIGTERM, term_grace);
    while (launch_job_alive(job))
        launch_job_turn(job);
    for (int k = 0; k < job->count; k++)
        end_child(job, &job->children[k]);
}
