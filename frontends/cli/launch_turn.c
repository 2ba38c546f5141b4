/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor waits for, and what it does about it. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "launch_supervisor.h"

/* After a signal to the launcher, children have time to finish what they are at. A second signal
 * ends them at once, but not one that came with the first, as a terminal and a shell both send. */
static const double signal_grace = 10.0, term_grace = 5.0, same_signal = 1.0;

/* Between two looks at groups whose leader is gone: nobody tells when the last of one ends. */
enum { LOOK_MILLISECONDS = 20, IDLE_MILLISECONDS = 60000 };

/* ------------------------------------------------------------------ children that ended */

static int running(const launch_job *job)
{
    int count = 0;
    for (int k = 0; k < job->count; k++)
        count += job->children[k].running;
    return count;
}

static void describe(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "exited with %d", WEXITSTATUS(status));
}

/* The first failure ends the others. */
static void child_ended(launch_job *job, launch_child *child, int status)
{
    char how[128];
    child->running = 0;
    child->status = status;
    if (status == 0 || job->failed || job->stopping)
        return;
    job->failed = child;
    describe(status, how, sizeof(how));
    int others = running(job);
    launch_output_print(&job->err, "axle launch: rank %d (process %ld) %s", child->rank,
                        (long)child->pid, how);
    if (others > 0)
        launch_output_print(&job->err, "; ending the %d %s", others,
                            others == 1 ? "other process" : "other processes");
    launch_output_print(&job->err, "\n");
    launch_job_stop(job, SIGTERM, term_grace);
}

/* Take note of the end of a process; -1 is whoever ended. Returns whether there was one. */
static int reap(launch_job *job, pid_t wanted)
{
    int status;
    pid_t pid = waitpid(wanted, &status, WNOHANG);
    for (int k = 0; pid > 0 && k < job->count; k++)
        if (job->children[k].running && job->children[k].pid == pid)
            child_ended(job, &job->children[k], status);
    return pid > 0;
}

/* In whatever order; also what children left behind, which is ours then. */
static void reap_all(launch_job *job)
{
    while (reap(job, -1))
        ;
}

/* A group's number may be given to a stranger once the group is empty, so it is forgotten then. */
static void look_at_groups(launch_job *job)
{
    for (int k = 0; k < job->count; k++) {
        launch_child *child = &job->children[k];
        if (child->running || !child->grouped || kill(-child->pid, 0) == 0)
            continue;
        child->grouped = 0;
        launch_warden_forget(&job->warden, child->pid);
    }
    if (!job->stopping && running(job) == 0 && launch_job_alive(job))
        launch_job_stop(job, SIGTERM, term_grace);
}

/* ------------------------------------------------------------------ signals and deadlines */

static void interrupted(launch_job *job, int number)
{
    double now = clock_seconds();
    if (job->interrupted && now - job->interrupted_at < same_signal)
        return;
    int again = job->interrupted != 0;
    if (!again) {
        job->interrupted = number;
        job->interrupted_at = now;
    }
    launch_job_stop(job, again ? SIGKILL : number, signal_grace);
}

/* Several ends while we were away make one signal, which names the first: waitpid() would not. The
 * others often ended because of that one. */
static void read_signals(launch_job *job)
{
    struct signalfd_siginfo about;
    while (read(job->signals, &about, sizeof(about)) == (ssize_t)sizeof(about))
        if (about.ssi_signo != SIGCHLD)
            interrupted(job, (int)about.ssi_signo);
        else
            reap(job, (pid_t)about.ssi_pid);
}

static void check_deadline(launch_job *job)
{
    if (!job->stopping || clock_seconds() < job->deadline)
        return;
    int polite = job->stopping == SIGINT || job->stopping == SIGHUP;
    launch_job_stop(job, polite ? SIGTERM : SIGKILL, term_grace);
}

/* Whoever reads our output has gone: nobody is interested any more. */
static void check_output(launch_job *job)
{
    if (!job->out.error || job->interrupted || job->failed || job->stopping)
        return;
    launch_output_print(&job->err, "axle launch: standard output: %s\n", strerror(job->out.error));
    launch_job_stop(job, SIGTERM, term_grace);
}

/* ------------------------------------------------------------------ one turn */

static int wait_milliseconds(const launch_job *job)
{
    int most = IDLE_MILLISECONDS;
    if (job->stopping)
        most = (int)fmax(0.0, ceil(1e3 * (job->deadline - clock_seconds())));
    for (int k = 0; k < job->count; k++)
        if (!job->children[k].running && job->children[k].grouped && most > LOOK_MILLISECONDS)
            most = LOOK_MILLISECONDS;
    return most;
}

/* poll() passes over what is negative. */
static struct pollfd entry(int wanted, int descriptor, short events)
{
    return (struct pollfd){.fd = wanted ? descriptor : -1, .events = events};
}

enum { SIGNALS, OUT, ERR, FIRST_STREAM };

static void turn(launch_job *job, struct pollfd *polls)
{
    int count = FIRST_STREAM;
    polls[SIGNALS] = entry(1, job->signals, POLLIN);
    polls[OUT] = entry(launch_output_pending(&job->out), job->out.descriptor, POLLOUT);
    polls[ERR] = entry(launch_output_pending(&job->err), job->err.descriptor, POLLOUT);
    for (int k = 0; k < job->count; k++) {
        const launch_child *child = &job->children[k];
        polls[count++] = entry(!launch_output_full(&job->out), child->out.descriptor, POLLIN);
        polls[count++] = entry(!launch_output_full(&job->err), child->err.descriptor, POLLIN);
    }
    if (poll(polls, (nfds_t)count, wait_milliseconds(job)) < 0)
        return;
    for (int k = 0; k < job->count; k++) {
        if (polls[FIRST_STREAM + 2 * k].revents)
            launch_stream_read(&job->children[k].out);
        if (polls[FIRST_STREAM + 2 * k + 1].revents)
            launch_stream_read(&job->children[k].err);
    }
    if (polls[OUT].revents)
        launch_output_write(&job->out);
    if (polls[ERR].revents)
        launch_output_write(&job->err);
    if (polls[SIGNALS].revents)
        read_signals(job);
}

void launch_job_turn(launch_job *job)
{
    struct pollfd polls[FIRST_STREAM + 2 * LAUNCH_MOST_PROCESSES];
    turn(job, polls);
    reap_all(job);
    look_at_groups(job);
    check_output(job);
    check_deadline(job);
}
