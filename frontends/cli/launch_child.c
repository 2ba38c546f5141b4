/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "launch_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------ the program */

/* NULL where it can be executed. */
static const char *refusal(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return strerror(errno);
    if (S_ISDIR(about.st_mode))
        return "it is a folder";
    return access(path, X_OK) == 0 ? NULL : "it is not executable (chmod +x makes it so)";
}

/* The first in PATH; `problem` keeps why an earlier one was passed over. */
static char *search_path(const char *name, const char **problem)
{
    const char *folder = getenv("PATH");
    *problem = "there is no such program in PATH";
    for (folder = folder ? folder : "/usr/bin:/bin"; folder; folder = strchr(folder, ':')) {
        folder += *folder == ':';
        int length = (int)strcspn(folder, ":");
        char *path;
        if (asprintf(&path, "%.*s%s%s", length, folder, length ? "/" : "./", name) < 0)
            return NULL;
        const char *refused = access(path, F_OK) == 0 ? refusal(path) : *problem;
        if (!refused)
            return path;
        *problem = refused;
        free(path);
    }
    return NULL;
}

char *launch_find_program(const char *name, const char **problem)
{
    if (!strchr(name, '/'))
        return search_path(name, problem);
    *problem = refusal(name);
    return *problem ? NULL : strdup(name);
}

/* ------------------------------------------------------------------ the child's side */

/* Signals as a program expects them, whatever was ignored or blocked when we were started. A
 * hangup that nohup had ignored stays so. */
static void restore_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGQUIT, SIGTSTP};
    sigset_t none;
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
        signal(numbers[k], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

typedef struct child_pipes {
    int out[2], err[2], failure[2];
} child_pipes;

static _Noreturn void run(const launch_start *start, const child_pipes *pipes, pid_t parent)
{
    setpgid(0, 0);
    /* The launcher may have died before it was asked for. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() != parent)
        _exit(EXIT_FAILURE);
    restore_signals();
    setrlimit(RLIMIT_NOFILE, &start->files);
    int input = start->keeps_stdin ? STDIN_FILENO : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (dup2(input, STDIN_FILENO) >= 0 && dup2(pipes->out[1], STDOUT_FILENO) >= 0 &&
        dup2(pipes->err[1], STDERR_FILENO) >= 0 &&
        (start->listen_fd < 0 || fcntl(start->listen_fd, F_SETFD, 0) == 0))
        execvpe(start->path, start->argv, start->environment);
    int code = errno;
    ssize_t told = write(pipes->failure[1], &code, sizeof(code));
    _exit(told == (ssize_t)sizeof(code) ? EXIT_FAILURE : EXIT_FAILURE + 1);
}

/* ------------------------------------------------------------------ the launcher's side */

static void close_pair(int pair[2])
{
    for (int k = 0; k < 2; k++)
        if (pair[k] >= 0)
            close(pair[k]);
}

static void close_pipes(child_pipes *pipes)
{
    close_pair(pipes->out);
    close_pair(pipes->err);
    close_pair(pipes->failure);
}

/* Only our ends do not block. */
static int open_pipes(child_pipes *pipes)
{
    *pipes = (child_pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe2(pipes->out, O_CLOEXEC) || pipe2(pipes->err, O_CLOEXEC) ||
        pipe2(pipes->failure, O_CLOEXEC) || fcntl(pipes->out[0], F_SETFL, O_NONBLOCK) ||
        fcntl(pipes->err[0], F_SETFL, O_NONBLOCK)) {
        int code = errno;
        close_pipes(pipes);
        return code;
    }
    return 0;
}

/* errno of a failed exec; 0 once the program runs, which closes the pipe. */
static int await_program(int descriptor)
{
    int code = 0;
    ssize_t got;
    do
        got = read(descriptor, &code, sizeof(code));
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(code) ? code : 0;
}

int launch_child_start(launch_child *child, const launch_start *start, int *executing)
{
    child_pipes pipes;
    *executing = 0;
    int code = open_pipes(&pipes);
    if (code)
        return code;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        run(start, &pipes, parent);
    code = pid < 0 ? errno : 0;
    if (pid > 0) {
        setpgid(pid, pid);
        close(pipes.failure[1]);
        pipes.failure[1] = -1;
        *executing = 1;
        code = await_program(pipes.failure[0]);
    }
    if (code) {
        close_pipes(&pipes);
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        return code;
    }
    child->pid = pid;
    child->running = child->grouped = 1;
    child->out.descriptor = pipes.out[0];
    child->err.descriptor = pipes.err[0];
    pipes.out[0] = pipes.err[0] = -1;
    close_pipes(&pipes);
    return 0;
}

void launch_child_signal(const launch_child *child, int number)
{
    if (child->grouped)
        kill(-child->pid, number);
}
