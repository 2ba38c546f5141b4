/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A message is shorter than PIPE_BUF, so it is written as a whole. */
void process_tell(int channel, const message *m)
{
    while (write(channel, m, sizeof(*m)) < 0 && errno == EINTR)
        ;
}

/* A plugin that prints must not spoil the report, and one that crashes leaves no core behind. */
static void enter_child(void)
{
    const struct rlimit none = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

/* 1: a message; 0: the end; -1: nothing for so long. */
static int receive(int channel, int64_t limit_s, message *m)
{
    size_t have = 0;
    while (have < sizeof(*m)) {
        struct pollfd ready = {.fd = channel, .events = POLLIN};
        const int64_t limit_ms = limit_s * 1000;
        const int polled = poll(&ready, 1, limit_ms > INT32_MAX ? -1 : (int)limit_ms);
        if (polled == 0)
            return -1;
        const ssize_t got = polled < 0 ? -1 : read(channel, (char *)m + have, sizeof(*m) - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        have += (size_t)got;
    }
    return 1;
}

static int note_end(int status, int timed_out, int64_t limit_s, note *n)
{
    if (timed_out)
        return note_fail(n, "it did not end within %" PRId64 " seconds", limit_s);
    if (WIFSIGNALED(status))
        return note_fail(n, "it crashed: %s", strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return note_fail(n, "it ended the process with status %d", WEXITSTATUS(status));
    return 1;
}

int process_run(process_fn work, void *arg, int64_t limit_s, message_fn on_message, void *user,
                note *n)
{
    int ends[2], status = 0, more;
    message m;
    if (pipe(ends) != 0)
        return note_fail(n, "no pipe: %s", strerror(errno));
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return note_fail(n, "no process: %s", strerror(errno));
    }
    if (child == 0) {
        close(ends[0]);
        enter_child();
        work(arg, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    while ((more = receive(ends[0], limit_s, &m)) > 0)
        on_message(user, &m);
    if (more < 0)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    return note_end(status, more < 0, limit_s, n);
}
