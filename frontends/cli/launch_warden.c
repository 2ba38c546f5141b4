/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "launch_warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"

/* Through the pipe goes the number of a group to watch, or its negative to forget it. */
static void change(pid_t *groups, int *count, pid_t said)
{
    if (said > 0 && *count < LAUNCH_MOST_PROCESSES)
        groups[(*count)++] = said;
    for (int k = 0; said < 0 && k < *count; k++)
        if (groups[k] == -said)
            groups[k--] = groups[--*count];
}

static void watch(int descriptor)
{
    static pid_t groups[LAUNCH_MOST_PROCESSES];
    int count = 0;
    pid_t said;
    ssize_t got;
    while ((got = read(descriptor, &said, sizeof(said))) != 0)
        if (got == (ssize_t)sizeof(said))
            change(groups, &count, said);
        else if (got < 0 && errno != EINTR)
            break;
    for (int k = 0; k < count; k++)
        kill(-groups[k], SIGKILL);
}

/* Whoever reads what the launcher prints waits until nobody holds its output open. */
static void close_all_but(int kept)
{
    long most = sysconf(_SC_OPEN_MAX);
    for (int descriptor = 0; descriptor < most && descriptor < 1 << 16; descriptor++)
        if (descriptor != kept)
            close(descriptor);
}

static _Noreturn void run(int descriptor)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    setpgid(0, 0);
    prctl(PR_SET_NAME, "axle-warden");
    close_all_but(descriptor);
    watch(descriptor);
    _exit(0);
}

int launch_warden_start(launch_warden *warden)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    warden->pid = fork();
    if (warden->pid == 0)
        run(ends[0]);
    close(ends[0]);
    warden->pipe = ends[1];
    if (warden->pid > 0)
        return 0;
    close(ends[1]);
    return -1;
}

static void tell(const launch_warden *warden, pid_t said)
{
    ssize_t sent;
    do
        sent = write(warden->pipe, &said, sizeof(said));
    while (sent < 0 && errno == EINTR);
}

void launch_warden_watch(const launch_warden *warden, pid_t group)
{
    tell(warden, group);
}

void launch_warden_forget(const launch_warden *warden, pid_t group)
{
    tell(warden, -group);
}

void launch_warden_stop(launch_warden *warden)
{
    close(warden->pipe);
    while (waitpid(warden->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
