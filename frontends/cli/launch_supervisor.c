/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "launch_supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Descriptors of the launcher's own, and of each child: two pipes and a log. */
enum { OWN_FILES = 32, FILES_A_CHILD = 3 };

/* ------------------------------------------------------------------ signals */

/* Signals are read from a descriptor: none can come between a look and a wait. A hangup that nohup
 * had ignored stays so. SIGCHLD is for ends alone. */
static int catch_signals(sigset_t *before)
{
    sigset_t caught;
    struct sigaction hangup, child = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    sigemptyset(&child.sa_mask);
    sigemptyset(&caught);
    sigaddset(&caught, SIGCHLD);
    sigaddset(&caught, SIGINT);
    sigaddset(&caught, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&caught, SIGHUP);
    sigaction(SIGCHLD, &child, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &caught, before);
    return signalfd(-1, &caught, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* ------------------------------------------------------------------ what became of it */

static int exit_code_of(int status)
{
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static void report_failure(launch_job *job)
{
    const launch_stream *err = &job->failed->err;
    if (!launch_stream_tail(err, 0) || !launch_stream_is_far(err))
        return;
    launch_output_print(&job->err, "axle launch: rank %d ended with these lines:\n",
                        job->failed->rank);
    for (int n = 0; launch_stream_tail(err, n); n++)
        launch_output_print(&job->err, "  %s\n", launch_stream_tail(err, n));
}

/* Of the start that just ended. */
static int result(launch_job *job)
{
    if (job->failed) {
        report_failure(job);
        return exit_code_of(job->failed->status);
    }
    if (job->interrupted)
        return EXIT_SIGNAL + job->interrupted;
    return job->out.error ? EXIT_FAILED : EXIT_DONE;
}

static int64_t restarts(const launch_job *job)
{
    int64_t most = job->plan->values.max_restarts;
    return most == LAUNCH_UNSET ? 0 : most;
}

/* ------------------------------------------------------------------ runs */

static int run_once(launch_job *job)
{
    int code = launch_job_start(job);
    while (code < 0 && launch_job_alive(job))
        launch_job_turn(job);
    launch_job_end(job);
    if (code < 0)
        code = result(job);
    for (int k = 0; k < job->count; k++) {
        launch_stream_release(&job->children[k].out);
        launch_stream_release(&job->children[k].err);
    }
    return code;
}

static int run_all(launch_job *job)
{
    int code = run_once(job);
    while (job->failed && !job->interrupted && job->restart < restarts(job)) {
        job->restart++;
        launch_output_print(&job->err, "axle launch: restart %d of %lld\n", job->restart,
                            (long long)restarts(job));
        code = run_once(job);
    }
    return code;
}

/* ------------------------------------------------------------------ the launcher itself */

/* Children get back the limit that the launcher found. */
static int raise_files(launch_job *job)
{
    rlim_t needed = (rlim_t)(OWN_FILES + FILES_A_CHILD * job->plan->processes);
    if (getrlimit(RLIMIT_NOFILE, &job->files) != 0)
        return command_error(&launch_command, "limit of open files: %s", strerror(errno));
    struct rlimit raised = job->files;
    if (raised.rlim_cur == RLIM_INFINITY || raised.rlim_cur >= needed)
        return -1;
    raised.rlim_cur =
        raised.rlim_max == RLIM_INFINITY || raised.rlim_max > needed ? needed : raised.rlim_max;
    if (raised.rlim_cur < needed || setrlimit(RLIMIT_NOFILE, &raised) != 0)
        return command_error(
            &launch_command, "%d processes need %llu open files; ulimit -n is %llu",
            job->plan->processes, (unsigned long long)needed, (unsigned long long)raised.rlim_max);
    return -1;
}

static int supervise(launch_job *job)
{
    int code = raise_files(job);
    if (code >= 0)
        return code;
    /* What children leave behind becomes ours, so that it can be ended, and waited for. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (launch_warden_start(&job->warden))
        return command_error(&launch_command, "cannot start a process: %s", strerror(errno));
    code = run_all(job);
    launch_warden_stop(&job->warden);
    return code;
}

int launch_supervise(launch_plan *plan, const char *path)
{
    sigset_t before;
    launch_job job = {.plan = plan,
                      .path = path,
                      .out = {.descriptor = STDOUT_FILENO},
                      .err = {.descriptor = STDERR_FILENO}};
    job.children = calloc((size_t)plan->processes, sizeof(*job.children));
    if (!job.children)
        return command_error(&launch_command, "out of memory");
    job.signals = catch_signals(&before);
    int code = job.signals < 0
                   ? command_error(&launch_command, "cannot read signals: %s", strerror(errno))
                   : supervise(&job);
    /* All children are gone; from here a signal just ends us, however slow our reader is. */
    sigprocmask(SIG_SETMASK, &before, NULL);
    launch_output_flush(&job.out, -1);
    launch_output_flush(&job.err, -1);
    if (job.out.error && code == EXIT_DONE)
        code = command_error(&launch_command, "standard output: %s", strerror(job.out.error));
    launch_output_release(&job.out);
    launch_output_release(&job.err);
    if (job.signals >= 0)
        close(job.signals);
    free(job.children);
    return code;
}
