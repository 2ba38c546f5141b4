/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job whose ranks are threads of the test, or processes forked from it. Ranks note what happens
 * to them; the test looks at the notes after all have ended, since assertions belong to its own
 * thread.
 */
#ifndef AXLE_TESTS_UNIT_JOB_RANKS_H
#define AXLE_TESTS_UNIT_JOB_RANKS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "job/control.h"
#include "job/socket.h"
#include "unit/unit.h"

enum { RANKS_MOST = 40 };

typedef struct ranks_job ranks_job;

typedef struct ranks_member {
    ranks_job *job;
    axle__control_config config;
    axle__control *control;
    int code; /* of joining */
    char message[1024];
    int64_t took; /* joining */
    /* Losses. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int losses[RANKS_MOST]; /* how often each rank was told lost */
    int64_t lost_at[RANKS_MOST];
    char reason[RANKS_MOST][512];
    /* For the body. */
    int result;
    char text[1024];
    int64_t time;
} ranks_member;

typedef void (*ranks_body)(ranks_member *member);

struct ranks_job {
    int size, port, listen_fd;
    int64_t timeout;
    ranks_body body;
    ranks_member *members;
    pthread_t threads[RANKS_MOST];
};

static inline void ranks_lost(void *user, int rank, const char *reason)
{
    ranks_member *member = user;
    pthread_mutex_lock(&member->lock);
    member->losses[rank]++;
    member->lost_at[rank] = axle__clock_ns();
    snprintf(member->reason[rank], sizeof(member->reason[rank]), "%s", reason);
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

/* Wait until `rank` is told lost; false after `seconds`. */
static inline bool ranks_await_loss(ranks_member *member, int rank, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds + 1;
    pthread_mutex_lock(&member->lock);
    while (!member->losses[rank] &&
           pthread_cond_timedwait(&member->changed, &member->lock, &until) == 0)
        continue;
    bool lost = member->losses[rank] > 0;
    pthread_mutex_unlock(&member->lock);
    return lost;
}

/* A job at a free port of this host. Members may be changed before it starts. */
static inline void ranks_open(ranks_job *job, int size, double timeout, ranks_body body)
{
    memset(job, 0, sizeof(*job));
    job->size = size;
    job->timeout = (int64_t)(timeout * 1e9);
    job->body = body;
    if (axle__socket_listen("127.0.0.1", 0, &job->listen_fd, &job->port))
        fail_msg("%s", axle_error_message());
    job->members = calloc(RANKS_MOST, sizeof(*job->members));
    for (int rank = 0; rank < size; rank++) {
        ranks_member *member = &job->members[rank];
        member->job = job;
        member->config = (axle__control_config){.rank = rank,
                                                .size = size,
                                                .host = "127.0.0.1",
                                                .port = job->port,
                                                .listen_fd = rank == 0 ? job->listen_fd : -1,
                                                .job = "a job",
                                                .secret = "a secret",
                                                .timeout_ns = job->timeout,
                                                .lost = ranks_lost,
                                                .user = member};
        pthread_mutex_init(&member->lock, NULL);
        pthread_cond_init(&member->changed, NULL);
    }
}

/* The life of one rank. */
static inline void *ranks_live(void *arg)
{
    ranks_member *member = arg;
    int64_t start = axle__clock_ns();
    axle_error_clear();
    member->code = axle__control_join(&member->config, &member->control);
    member->took = axle__clock_ns() - start;
    snprintf(member->message, sizeof(member->message), "%s", axle_error_message());
    axle_error_clear();
    if (member->code)
        return NULL;
    if (member->job->body)
        member->job->body(member);
    axle__control_leave(member->control);
    axle_error_clear();
    return NULL;
}

/* A rank as a process of its own. To be called before any rank is a thread. Its exit status is the
 * result of its body. */
static inline pid_t ranks_fork(ranks_job *job, int rank)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    alarm(100);
    ranks_live(&job->members[rank]);
    _exit(job->members[rank].code ? 100 : job->members[rank].result);
}

/* The status of a child that has ended or is to be killed. */
static inline int ranks_reap(pid_t child, int signal)
{
    int status = -1;
    if (signal)
        kill(child, signal);
    while (waitpid(child, &status, 0) != child)
        continue;
    return status;
}

static inline void ranks_start(ranks_job *job, int first)
{
    for (int rank = first; rank < job->size; rank++)
        assert_int_equal(pthread_create(&job->threads[rank], NULL, ranks_live, &job->members[rank]),
                         0);
}

static inline void ranks_end(ranks_job *job, int first)
{
    for (int rank = first; rank < job->size; rank++)
        pthread_join(job->threads[rank], NULL);
}

static inline void ranks_run(ranks_job *job)
{
    ranks_start(job, 0);
    ranks_end(job, 0);
}

static inline void ranks_close(ranks_job *job)
{
    for (int rank = 0; rank < job->size; rank++) {
        pthread_mutex_destroy(&job->members[rank].lock);
        pthread_cond_destroy(&job->members[rank].changed);
    }
    free(job->members);
}

/* All have joined. */
static inline void ranks_expect_met(const ranks_job *job)
{
    for (int rank = 0; rank < job->size; rank++)
        if (job->members[rank].code)
            fail_msg("rank %d: %s", rank, job->members[rank].message);
}

/* A rank did not join, with that code and words in its message. */
static inline void ranks_expect_refused(const ranks_job *job, int rank, int code, const char *words)
{
    const ranks_member *member = &job->members[rank];
    if (member->code != code || !strstr(member->message, words))
        fail_msg("rank %d: expected %d with '%s', got %d: %s", rank, code, words, member->code,
                 member->message);
}

static inline void ranks_sleep(double seconds)
{
    struct timespec span = axle__clock_timespec((int64_t)(seconds * 1e9));
    nanosleep(&span, NULL);
}

#endif
