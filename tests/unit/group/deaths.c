/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that are killed, stopped, or gone elsewhere: the others fail within the timeout and
 * two seconds, name who is lost, and do not die of it.
 */
#include <sys/syscall.h>

#include "axle/axle.h"
#include "group/processes.h"

#define F32 AXLE_DTYPE_F32
#define SUM AXLE_REDUCE_SUM
enum { EXIT_AS_EXPECTED = 3 };

/* Beyond the timeout. The machine may be busy with many other tests. */
static const double patience = 2.0;

/* Note the error of a call that had to fail; the exit code of a process that lost another. */
static int expect_failure(int status)
{
    CHECK(status != AXLE_OK);
    job_note_error();
    return EXIT_AS_EXPECTED;
}

static int add_once(axle_group *group, int64_t n)
{
    axle_scope_push();
    axle_tensor *x = axle_full(F32, AXLE_DIMS(n), 1.0);
    int status = axle_all_reduce(group, x, SUM);
    axle_scope_pop();
    return status;
}

/* The process leaves in any case, and a later call says the same as the first that failed. */
static int expect_poison(axle_group *group, int status)
{
    int code = expect_failure(status);
    if (code != EXIT_AS_EXPECTED)
        return code;
    CHECK(axle_barrier(group) != AXLE_OK);
    CHECK(strstr(axle_error_message(), job_own_note->text));
    axle_error_clear();
    CHECK(axle_group_leave(group) != AXLE_OK);
    axle_error_clear();
    return EXIT_AS_EXPECTED;
}

/* ------------------------------------------------------------------ killed and stopped */

/* Rank `victim` ends itself before call number `at`. */
typedef struct plan {
    int victim, signal, at;
    int64_t n; /* elements of each all-reduce */
    double delay;
} plan;

static int dies(axle_group *unused, void *user)
{
    (void)unused;
    const plan *p = user;
    axle_group *group;
    int status = axle_group_join(&group);
    if (status) /* it was so quick that some had not even seen everyone join */
        return expect_failure(status);
    for (int k = 0; k < 6 && !status; k++) {
        if (k == p->at && axle_group_rank(group) == p->victim)
            job_signal_self(p->signal);
        status = add_once(group, p->n);
    }
    return expect_poison(group, status);
}

/* Survivors ended as they should, in time, and know whom they lost. */
static void expect_survivors(job *j, int victim, double since)
{
    char who[32];
    snprintf(who, sizeof(who), "rank %d", victim);
    for (int rank = 0; rank < j->size; rank++) {
        if (rank == victim)
            continue;
        job_expect_exit(j, rank, EXIT_AS_EXPECTED);
        job_expect_note(j, rank, who);
        double late = j->notes[rank].at - since;
        if (late > j->timeout + patience)
            fail_msg("rank %d noticed after %g s: %s", rank, late, j->notes[rank].text);
    }
}

static void lose(int size, double timeout, plan p)
{
    job j = job_run_with(size, timeout, true, dies, &p);
    expect_survivors(&j, p.victim, j.notes[p.victim].at);
    job_forget(&j);
}

static void killed_before_the_first(void **state)
{
    (void)state;
    for (int victim = 0; victim < 3; victim++)
        lose(3, 6.0, (plan){.victim = victim, .signal = SIGKILL, .n = 100});
}

static void killed_between_two(void **state)
{
    (void)state;
    for (int victim = 0; victim < 3; victim++)
        lose(3, 6.0, (plan){.victim = victim, .signal = SIGKILL, .at = 3, .n = 100000});
}

static void stopped(void **state)
{
    (void)state;
    for (int victim = 0; victim < 2; victim++)
        lose(3, 3.0, (plan){.victim = victim, .signal = SIGSTOP, .at = 2, .n = 100000});
}

/* A timer that ends the process while 64 MiB are on their way. */
static void *end_later(void *argument)
{
    const plan *p = argument;
    job_sleep(p->delay);
    job_signal_self(p->signal);
    return NULL;
}

static int dies_inside(axle_group *unused, void *user)
{
    (void)unused;
    plan *p = user;
    axle_group *group;
    pthread_t timer;
    CHECK(axle_group_join(&group) == AXLE_OK);
    CHECK(add_once(group, 10) == AXLE_OK);
    if (axle_group_rank(group) == p->victim)
        CHECK(pthread_create(&timer, NULL, end_later, p) == 0);
    int status = AXLE_OK;
    while (!status)
        status = add_once(group, p->n);
    return expect_poison(group, status);
}

static void lose_inside(plan p, double timeout)
{
    job j = job_run_with(3, timeout, true, dies_inside, &p);
    expect_survivors(&j, p.victim, j.notes[p.victim].at);
    job_forget(&j);
}

static void killed_inside(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++)
        lose_inside(
            (plan){.victim = k % 3, .signal = SIGKILL, .n = 16 << 20, .delay = 0.1 + 0.07 * k},
            8.0);
}

static void stopped_inside(void **state)
{
    (void)state;
    lose_inside((plan){.victim = 1, .signal = SIGSTOP, .n = 16 << 20, .delay = 0.2}, 3.0);
}

/* Let all TCP connections of this process end with a reset, without closing what others use. By a
 * bare system call: ThreadSanitizer takes connect() for the beginning of a descriptor. */
static void reset_connections(void)
{
    const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in peer;
        socklen_t size = sizeof(peer);
        if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sin_family == AF_INET)
            syscall(SYS_connect, fd, &nowhere, sizeof(nowhere));
    }
}

static void *reset_later(void *argument)
{
    const plan *p = argument;
    job_sleep(p->delay);
    job_own_note->at = job_now();
    reset_connections();
    return NULL;
}

static int is_cut_off(axle_group *unused, void *user)
{
    (void)unused;
    plan *p = user;
    axle_group *group;
    pthread_t timer;
    double since = job_now() + p->delay;
    CHECK(axle_group_join(&group) == AXLE_OK);
    bool resets = axle_group_rank(group) == p->victim;
    if (resets)
        CHECK(pthread_create(&timer, NULL, reset_later, p) == 0);
    int status = AXLE_OK;
    while (!status)
        status = add_once(group, p->n);
    if (resets) {
        CHECK(pthread_join(timer, NULL) == 0);
        CHECK(job_now() - since < 8.0 + patience);
        return expect_failure(status);
    }
    return expect_poison(group, status);
}

static void reset(void **state)
{
    (void)state;
    plan p = {.victim = 1, .n = 1 << 20, .delay = 0.3};
    job j = job_run_with(3, 8.0, true, is_cut_off, &p);
    job_expect_exit(&j, 1, EXIT_AS_EXPECTED);
    for (int rank = 0; rank < 3; rank += 2) {
        job_expect_exit(&j, rank, EXIT_AS_EXPECTED);
        job_expect_note(&j, rank, "rank 1");
    }
    job_forget(&j);
}

/* ------------------------------------------------------------------ not dead */

/* A child wakes the process that stops itself, for less than the timeout. */
static void pause_self(void)
{
    pid_t waker = fork();
    if (waker == 0) {
        job_sleep(1.5);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    kill(getpid(), SIGSTOP);
    waitpid(waker, NULL, 0);
}

static int takes_its_time(axle_group *group, void *user)
{
    (void)user;
    CHECK(add_once(group, 1000) == AXLE_OK);
    if (axle_group_rank(group) == 1)
        pause_self();
    CHECK(add_once(group, 1000) == AXLE_OK);
    job_sleep(5.0);
    CHECK(add_once(group, 1000) == AXLE_OK);
    return 0;
}

static void late_is_not_dead(void **state)
{
    (void)state;
    job j = job_run_with(3, 4.0, false, takes_its_time, NULL);
    job_expect_good(&j);
}

/* ------------------------------------------------------------------ elsewhere */

/* Rank 0 alone gathers, while the others compute. */
static int gathers_alone(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_group *group;
    CHECK(axle_group_join(&group) == AXLE_OK);
    CHECK(axle_barrier(group) == AXLE_OK);
    double begin = job_now();
    if (axle_group_rank(group) > 0) {
        job_sleep(8.0);
        CHECK(axle_group_leave(group) != AXLE_OK);
        axle_error_clear();
        return 0;
    }
    axle_scope_push();
    axle_tensor *got = axle_gather_to(group, axle_zeros(F32, AXLE_DIMS(2)), 0);
    axle_scope_pop();
    CHECK(!got && axle_error_code() == AXLE_ERR_TIMEOUT);
    CHECK(strstr(axle_error_message(), "rank 1") && strstr(axle_error_message(), "gather"));
    CHECK(strstr(axle_error_message(), "deaths.c:"));
    job_note_error();
    CHECK(job_own_note->at - begin < 3.0 + patience);
    CHECK(axle_group_leave(group) != AXLE_OK);
    axle_error_clear();
    return EXIT_AS_EXPECTED;
}

static void only_one_gathers(void **state)
{
    (void)state;
    job j = job_run_with(2, 3.0, true, gathers_alone, NULL);
    job_expect_exit(&j, 0, EXIT_AS_EXPECTED);
    job_expect_exit(&j, 1, 0);
    job_forget(&j);
}

/* Rank 0 takes three steps and the others two, then all end their training. */
static int takes_more_steps(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_group *group;
    CHECK(axle_group_join(&group) == AXLE_OK);
    int status = AXLE_OK, rank = axle_group_rank(group);
    for (int k = 0; k < (rank == 0 ? 3 : 2) && !status; k++)
        status = add_once(group, 1000);
    if (status)
        axle_group_leave(group);
    else
        status = axle_group_leave(group);
    return expect_failure(status);
}

static void uneven_steps(void **state)
{
    (void)state;
    for (int size = 2; size <= 4; size++) {
        job j = job_run_with(size, 5.0, true, takes_more_steps, NULL);
        for (int rank = 0; rank < size; rank++) {
            job_expect_exit(&j, rank, EXIT_AS_EXPECTED);
            job_expect_note(&j, rank, rank == 0 ? "1" : "rank 0");
            job_expect_note(&j, rank, "leave");
            job_expect_note(&j, rank, "all_reduce");
        }
        job_forget(&j);
    }
}

/* Rank 1 exits as if all were well, without leaving. */
static int exits_early(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_group *group;
    CHECK(axle_group_join(&group) == AXLE_OK);
    int status = add_once(group, 1000);
    if (axle_group_rank(group) == 1) {
        CHECK(status == AXLE_OK);
        job_own_note->at = job_now();
        exit(0);
    }
    return expect_poison(group, status ? status : add_once(group, 1000));
}

static void exit_without_leaving(void **state)
{
    (void)state;
    job j = job_run_with(3, 20.0, true, exits_early, NULL);
    job_expect_exit(&j, 1, 0);
    expect_survivors(&j, 1, j.notes[1].at);
    job_forget(&j);
}

/* Two send to each other, and nobody receives. */
static int both_send(axle_group *unused, void *user)
{
    (void)unused, (void)user;
    axle_group *group;
    CHECK(axle_group_join(&group) == AXLE_OK);
    axle_scope_push();
    int status = axle_send(group, axle_zeros(F32, AXLE_DIMS(2)), 1 - axle_group_rank(group));
    axle_scope_pop();
    return expect_poison(group, status);
}

static void nobody_receives(void **state)
{
    (void)state;
    job j = job_run_with(2, 3.0, true, both_send, NULL);
    for (int rank = 0; rank < 2; rank++) {
        job_expect_exit(&j, rank, EXIT_AS_EXPECTED);
        job_expect_note(&j, rank, rank ? "rank 0" : "rank 1");
        job_expect_note(&j, rank, "send");
    }
    job_forget(&j);
}

/* ------------------------------------------------------------------ in order */

/* Leaving together, while some are late, loses nothing. */
static int leaves_late(axle_group *group, void *user)
{
    (void)user;
    int rank = axle_group_rank(group);
    CHECK(add_once(group, 300000) == AXLE_OK);
    if (rank == axle_group_size(group) - 1)
        job_sleep(0.3);
    return 0;
}

static void leaving_in_order(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++)
        job_run_sizes((const int[]){2, 4, 0}, leaves_late, NULL);
}

static const struct CMUnitTest tests[] = {
    UNIT("a process killed before its first collective", killed_before_the_first),
    UNIT("a process killed between two collectives", killed_between_two),
    UNIT("a process killed while 64 MiB are on their way", killed_inside),
    UNIT("a process stopped between two collectives", stopped),
    UNIT("a process stopped while 64 MiB are on their way", stopped_inside),
    UNIT("a process whose connections are reset", reset),
    UNIT("who pauses or computes for long is not lost", late_is_not_dead),
    UNIT("a collective that only one process calls names the others", only_one_gathers),
    UNIT("uneven numbers of steps are an error on all processes", uneven_steps),
    UNIT("a process that exits without leaving is lost", exit_without_leaving),
    UNIT("two that send to each other fail in time", nobody_receives),
    UNIT("all that leave in order do so without an error", leaving_in_order),
};
UNIT_MAIN(tests)
