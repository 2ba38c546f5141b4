/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that end, stop or are killed, seen by the others. */
#include "job/ranks.h"

/* Whoever is noticed well before this was noticed at once. */
#define PATIENT 60.0
/* Of silence; several times what a loaded machine takes for one turn. */
#define SILENCE 4.0

static void await_loss_of_2(ranks_member *member)
{
    member->result = ranks_await_loss(member, 2, 40);
}

static void await_loss_of_0(ranks_member *member)
{
    axle__peer peers[3];
    int64_t start = axle__clock_ns();
    member->result = ranks_await_loss(member, 0, 40);
    if (axle__control_survey(member->control, 20 * AXLE__SECOND, peers) || !peers[0].lost ||
        peers[member->config.rank].lost)
        member->result = -1;
    if (axle__control_set(member->control, "key", "", 0) != AXLE_ERR_IO ||
        !strstr(axle_error_message(), "rank 0 was lost"))
        member->result = -2;
    member->time = axle__clock_ns() - start;
}

static void wait_for_ever(ranks_member *member)
{
    (void)member;
    for (;;)
        pause();
}

static void end_the_process(ranks_member *member)
{
    (void)member;
    _exit(0);
}

/* Ranks 0 and 1 are threads, rank 2 is a process that ends as its body or the signal say. */
static void expect_loss_of_2(ranks_body body, int signal, double timeout, const char *reason)
{
    ranks_job job;
    ranks_open(&job, 3, timeout, body);
    pid_t child = ranks_fork(&job, 2);
    job.body = await_loss_of_2;
    job.size = 2;
    ranks_start(&job, 0);
    ranks_sleep(0.7);
    if (signal)
        kill(child, signal);
    ranks_end(&job, 0);
    ranks_expect_met(&job);
    for (int rank = 0; rank < 2; rank++) {
        const ranks_member *member = &job.members[rank];
        assert_int_equal(member->result, 1);
        assert_int_equal(member->losses[2], 1);
        if (!strstr(member->reason[2], reason))
            fail_msg("rank %d: '%s' does not say '%s'", rank, member->reason[2], reason);
        assert_int_equal(member->losses[1 - rank], 0);
    }
    ranks_reap(child, SIGKILL);
    ranks_close(&job);
}

static void killed_process_is_lost(void **state)
{
    (void)state;
    expect_loss_of_2(wait_for_ever, SIGKILL, PATIENT, "its connection");
}

static void process_that_just_ends_is_lost(void **state)
{
    (void)state;
    expect_loss_of_2(end_the_process, 0, PATIENT, "its connection");
}

static void stopped_process_is_lost(void **state)
{
    (void)state;
    expect_loss_of_2(wait_for_ever, SIGSTOP, SILENCE, "nothing was heard from it for");
}

/* The child does not inherit the socket that keeps the port. */
static pid_t fork_rank_0(ranks_job *job)
{
    axle__socket_close(job->listen_fd);
    job->members[0].config.listen_fd = -1;
    return ranks_fork(job, 0);
}

/* Rank 0 is a process, the others are threads. */
static void expect_loss_of_0(int signal, double timeout, const char *reason)
{
    ranks_job job;
    ranks_open(&job, 3, timeout, wait_for_ever);
    pid_t child = fork_rank_0(&job);
    job.body = await_loss_of_0;
    ranks_start(&job, 1);
    ranks_sleep(0.7);
    kill(child, signal);
    ranks_end(&job, 1);
    ranks_expect_met(&job);
    for (int rank = 1; rank < 3; rank++) {
        const ranks_member *member = &job.members[rank];
        assert_int_equal(member->result, 1);
        assert_int_equal(member->losses[0], 1);
        assert_int_equal(member->losses[3 - rank], 0);
        if (!strstr(member->reason[0], reason))
            fail_msg("rank %d: '%s' does not say '%s'", rank, member->reason[0], reason);
    }
    ranks_reap(child, SIGKILL);
    ranks_close(&job);
}

static void loss_of_rank_0_is_seen_by_all(void **state)
{
    (void)state;
    expect_loss_of_0(SIGKILL, PATIENT, "its connection");
}

static void stopped_rank_0_is_lost(void **state)
{
    (void)state;
    expect_loss_of_0(SIGSTOP, SILENCE, "nothing was heard from it for");
}

static void await_own_loss(ranks_member *member)
{
    member->result = ranks_await_loss(member, 2, 60) && !member->losses[0] ? 42 : 1;
}

static void continued_process_learns_that_it_was_lost(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, SILENCE, await_own_loss);
    pid_t child = ranks_fork(&job, 2);
    job.body = await_loss_of_2;
    job.size = 2;
    ranks_start(&job, 0);
    ranks_sleep(0.7);
    kill(child, SIGSTOP);
    ranks_end(&job, 0);
    ranks_expect_met(&job);
    int status = ranks_reap(child, SIGCONT);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    ranks_close(&job);
}

/* A child that outlives its parent holds no copy of the parent's connection. */
static void leave_a_child_behind(ranks_member *member)
{
    pid_t child = fork();
    if (child == 0) {
        int code = axle__control_set(member->control, "key", "", 0);
        axle__control_report(member->control, 1, "a child");
        axle__control_leave(member->control);
        alarm(50);
        if (code == AXLE_ERR_STATE && strstr(axle_error_message(), "was forked from"))
            pause();
        _exit(0);
    }
    ranks_sleep(0.5);
    _exit(kill(child, 0) == 0 ? 0 : 1);
}

static void child_does_not_hide_its_parents_end(void **state)
{
    (void)state;
    expect_loss_of_2(leave_a_child_behind, 0, PATIENT, "its connection");
}

static void ignore_nothing(ranks_member *member)
{
    /* After the loss of the server, what is sent meets a closed socket. */
    member->result = ranks_await_loss(member, 0, 40);
    axle__control_fail(member->control, "I give up, too");
    axle__control_report(member->control, 9, "something");
}

static void no_signal_is_raised(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 2, PATIENT, wait_for_ever);
    signal(SIGPIPE, SIG_DFL);
    pid_t child = fork_rank_0(&job);
    job.body = ignore_nothing;
    ranks_start(&job, 1);
    ranks_sleep(0.5);
    ranks_reap(child, SIGKILL);
    ranks_end(&job, 1);
    ranks_expect_met(&job);
    assert_int_equal(job.members[1].result, 1);
    ranks_close(&job);
}

static const struct CMUnitTest tests[] = {
    UNIT("a killed process is lost to the others at once", killed_process_is_lost),
    UNIT("a process that ends without good-bye is lost", process_that_just_ends_is_lost),
    UNIT("a stopped process is lost after the timeout", stopped_process_is_lost),
    UNIT("rank 0's end is seen by all, and requests fail then", loss_of_rank_0_is_seen_by_all),
    UNIT("a stopped rank 0 is lost after the timeout", stopped_rank_0_is_lost),
    UNIT("a process that was stopped too long learns that it counts as lost",
         continued_process_learns_that_it_was_lost),
    UNIT("a child that outlives a process does not hide its end",
         child_does_not_hide_its_parents_end),
    UNIT("words to a closed connection raise no signal", no_signal_is_raised),
};
UNIT_MAIN(tests)
