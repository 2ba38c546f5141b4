/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job whose ranks are processes forked from the test. Each runs a body, which says with CHECK
 * what must hold; the test looks at how they ended. Nothing takes longer than an alarm.
 *
 *     static int adds(axle_group *group, void *user) { ... CHECK(x == 3); return 0; }
 *     ...
 *     job j = job_run(2, adds, NULL);
 *     job_expect_good(&j);
 *
 * The transport is that of AXLE_TRANSPORT, or the one of tests/unit/group/sockets.c.
 */
#ifndef AXLE_TESTS_UNIT_GROUP_PROCESSES_H
#define AXLE_TESTS_UNIT_GROUP_PROCESSES_H

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "axle/group.h"
#include "unit.h"

enum { JOB_MOST = 8, JOB_ALARM = 120, JOB_FAILED = 9 };

/* What a process notes for the test, in memory that all share. */
typedef struct job_note {
    char text[1400];
    double at; /* when the note was made, or the process killed or stopped */
    double numbers[32];
} job_note;

typedef struct job {
    int size;
    double timeout; /* seconds; 0: 60 */
    bool by_itself; /* the body joins the group, and gets NULL */
    bool reaped[JOB_MOST], stopped[JOB_MOST];
    pid_t pid[JOB_MOST];
    int status[JOB_MOST];
    job_note *notes;
} job;

typedef int (*job_body)(axle_group *group, void *user);

static job_note *job_own_note; /* of this process, in a body */
static job_note *job_all_notes;

static inline double job_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void job_sleep(double seconds)
{
    struct timespec span = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&span, NULL);
}

/* Note a message; returns what a failed body returns. */
static inline int job_fail(const char *file, int line, const char *what)
{
    snprintf(job_own_note->text, sizeof(job_own_note->text), "%s:%d: %s (%s)", file, line, what,
             axle_error_message());
    return JOB_FAILED;
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return job_fail(__FILE__, __LINE__, #condition);                                       \
    } while (0)

/* The body's call failed, as it should: note when and why. */
static inline void job_note_error(void)
{
    job_own_note->at = job_now();
    snprintf(job_own_note->text, sizeof(job_own_note->text), "%s", axle_error_message());
    axle_error_clear();
}

/* End this process as the cruel do. */
static inline void job_signal_self(int signal)
{
    job_own_note->at = job_now();
    kill(getpid(), signal);
}

static inline void job_set(const char *name, const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof(text), format, value);
    setenv(name, text, 1);
}

static inline void job_environment(const job *j, int rank, int listener, int port)
{
    const char *folder = getenv("top_builddir");
    char path[1024];
    snprintf(path, sizeof(path), "%s/tests/unit/group/.libs/sockets.so", folder ? folder : ".");
    setenv("AXLE_TRANSPORT", path, 0);
    job_set("RANK", "%.0f", rank);
    job_set("WORLD_SIZE", "%.0f", j->size);
    job_set("LOCAL_RANK", "%.0f", rank);
    job_set("LOCAL_WORLD_SIZE", "%.0f", j->size);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    job_set("MASTER_PORT", "%.0f", port);
    job_set("AXLE_TIMEOUT", "%.0f", j->timeout > 0.0 ? j->timeout : 60.0);
    setenv("AXLE_SECRET", "of the test", 1);
    if (rank == 0)
        job_set("AXLE_LISTEN_FD", "%.0f", listener);
    else
        close(listener);
}

static inline int job_live(const job *j, job_body body, void *user)
{
    axle_group *group = NULL;
    if (!j->by_itself)
        CHECK(axle_group_join(&group) == AXLE_OK);
    int code = body(group, user);
    if (!code && group)
        CHECK(axle_group_leave(group) == AXLE_OK);
    return code;
}

static inline int job_listen(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) || listen(fd, 64) ||
        getsockname(fd, (struct sockaddr *)&at, &size))
        fail_msg("no port is free");
    *port = ntohs(at.sin_port);
    return fd;
}

static inline void job_start(job *j, job_body body, void *user)
{
    int port, listener = job_listen(&port);
    size_t bytes = JOB_MOST * sizeof(*j->notes);
    j->notes = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(j->notes, MAP_FAILED);
    fflush(NULL);
    for (int rank = 0; rank < j->size; rank++) {
        j->pid[rank] = fork();
        if (j->pid[rank] == 0) {
            alarm(JOB_ALARM);
            job_all_notes = j->notes;
            job_own_note = &j->notes[rank];
            job_environment(j, rank, listener, port);
            exit(job_live(j, body, user));
        }
    }
    close(listener);
}

/* Look at a process once; whether it is still running. One that is stopped is not. */
static inline bool job_look(job *j, int rank)
{
    int status, flags = WNOHANG | WUNTRACED | WCONTINUED;
    while (!j->reaped[rank] && waitpid(j->pid[rank], &status, flags) == j->pid[rank]) {
        j->stopped[rank] = WIFSTOPPED(status);
        j->reaped[rank] = WIFEXITED(status) || WIFSIGNALED(status);
        j->status[rank] = status;
    }
    return !j->reaped[rank] && !j->stopped[rank];
}

/* Wait for all but those that are stopped, then end those. */
static inline void job_reap(job *j)
{
    double patience = job_now() + JOB_ALARM;
    for (int running = 1; running > 0 && job_now() < patience; job_sleep(0.005)) {
        running = 0;
        for (int rank = 0; rank < j->size; rank++)
            running += job_look(j, rank);
    }
    for (int rank = 0; rank < j->size; rank++)
        if (!j->reaped[rank]) {
            kill(j->pid[rank], SIGKILL);
            waitpid(j->pid[rank], &j->status[rank], 0);
        }
}

static inline job job_run_with(int size, double timeout, bool by_itself, job_body body, void *user)
{
    job j = {.size = size, .timeout = timeout, .by_itself = by_itself};
    job_start(&j, body, user);
    job_reap(&j);
    return j;
}

static inline job job_run(int size, job_body body, void *user)
{
    return job_run_with(size, 0.0, false, body, user);
}

/* A process ended with that exit code. */
static inline void job_expect_exit(const job *j, int rank, int code)
{
    int status = j->status[rank];
    if (WIFSIGNALED(status))
        fail_msg("rank %d of %d died by signal %d: %s", rank, j->size, WTERMSIG(status),
                 j->notes[rank].text);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        fail_msg("rank %d of %d exited with %d instead of %d: %s", rank, j->size,
                 WEXITSTATUS(status), code, j->notes[rank].text);
}

static inline void job_expect_note(const job *j, int rank, const char *words)
{
    if (!strstr(j->notes[rank].text, words))
        fail_msg("rank %d should have noted '%s', but noted '%s'", rank, words,
                 j->notes[rank].text);
}

static inline void job_forget(job *j)
{
    munmap(j->notes, JOB_MOST * sizeof(*j->notes));
}

/* All came to a good end. */
static inline void job_expect_good(job *j)
{
    for (int rank = 0; rank < j->size; rank++)
        job_expect_exit(j, rank, 0);
    job_forget(j);
}

/* Run over several numbers of processes, in which all goes well. */
static inline void job_run_sizes(const int *sizes, job_body body, void *user)
{
    for (; *sizes; sizes++) {
        job j = job_run(*sizes, body, user);
        job_expect_good(&j);
    }
}

#endif
