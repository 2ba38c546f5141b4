/* SPDX-License-Identifier: Apache-2.0 */
/* Meetings that fail, and what each process is told. */
#include "job/ranks.h"

#define PATIENT 60.0

static void missing_ranks_are_named(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 2, 1.5, NULL);
    job.members[0].config.size = job.members[1].config.size = 6;
    job.members[1].config.rank = 2;
    ranks_run(&job);
    for (int k = 0; k < 2; k++) {
        ranks_expect_refused(&job, k, AXLE_ERR_TIMEOUT, "ranks 1, 3-5 of 6 had not come");
        assert_true(job.members[k].took < 20 * AXLE__SECOND);
    }
    ranks_close(&job);
}

static void second_claim_of_a_rank_ends_the_meeting(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, PATIENT, NULL);
    for (int k = 0; k < 3; k++)
        job.members[k].config.size = 4;
    job.members[2].config.rank = 1;
    ranks_run(&job);
    for (int k = 0; k < 3; k++) {
        ranks_expect_refused(&job, k, AXLE_ERR_INVALID, "two processes claim rank 1: process ");
        assert_true(job.members[k].took < 30 * AXLE__SECOND);
    }
    ranks_close(&job);
}

static void other_size_ends_the_meeting(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, PATIENT, NULL);
    job.members[2].config.size = 4;
    ranks_run(&job);
    for (int k = 0; k < 3; k++) {
        /* Who comes after the end finds nobody. */
        if (job.members[k].code == AXLE_ERR_TIMEOUT)
            continue;
        ranks_expect_refused(&job, k, AXLE_ERR_INVALID, "counts 4 processes, and rank 0");
        assert_true(job.members[k].took < 30 * AXLE__SECOND);
    }
    assert_int_equal(job.members[0].code, AXLE_ERR_INVALID);
    assert_int_equal(job.members[2].code, AXLE_ERR_INVALID);
    ranks_close(&job);
}

/* One process does not belong here: it alone is told so, at once; the others miss its rank. */
static void expect_stranger_alone(ranks_job *job, const char *words)
{
    ranks_run(job);
    ranks_expect_refused(job, 1, AXLE_ERR_INVALID, words);
    ranks_expect_refused(job, 0, AXLE_ERR_TIMEOUT, "rank 1 of 3 had not come");
    ranks_expect_refused(job, 2, AXLE_ERR_TIMEOUT, "rank 1 of 3 had not come");
    ranks_close(job);
}

static void other_secret_is_refused(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, 2.0, NULL);
    job.members[1].config.secret = "a guess";
    expect_stranger_alone(&job, "AXLE_SECRET");
    ranks_open(&job, 3, 2.0, NULL);
    job.members[1].config.secret = "";
    expect_stranger_alone(&job, "AXLE_SECRET");
}

static void other_job_is_refused(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, 2.0, NULL);
    job.members[1].config.job = "another job";
    expect_stranger_alone(&job, "job 'a job' meets here, and not job 'another job'");
}

static void late_rank_finds_nobody(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 2, 0.6, NULL);
    int port = job.port;
    ranks_live(&job.members[0]);
    ranks_live(&job.members[1]);
    char words[80];
    snprintf(words, sizeof(words), "rank 0 was not reached at 127.0.0.1:%d", port);
    ranks_expect_refused(&job, 0, AXLE_ERR_TIMEOUT, "rank 1 of 2 had not come");
    ranks_expect_refused(&job, 1, AXLE_ERR_TIMEOUT, words);
    ranks_expect_refused(&job, 1, AXLE_ERR_TIMEOUT, "Connection refused");
    assert_true(job.members[1].took < 10 * AXLE__SECOND);
    ranks_close(&job);
}

static void early_rank_waits_for_rank_0(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 2, PATIENT, NULL);
    /* The port is free again until rank 0 takes it. */
    axle__socket_close(job.listen_fd);
    job.members[0].config.listen_fd = -1;
    ranks_start(&job, 1);
    ranks_sleep(0.3);
    ranks_live(&job.members[0]);
    ranks_end(&job, 1);
    ranks_expect_met(&job);
    ranks_close(&job);
}

static void port_in_use_is_told(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 2, PATIENT, NULL);
    job.members[0].config.listen_fd = -1;
    ranks_live(&job.members[0]);
    char words[80];
    snprintf(words, sizeof(words), "port %d is in use", job.port);
    ranks_expect_refused(&job, 0, AXLE_ERR_IO, words);
    ranks_expect_refused(&job, 0, AXLE_ERR_IO, "--main-port");
    job.members[0].config.host = "";
    ranks_live(&job.members[0]);
    ranks_expect_refused(&job, 0, AXLE_ERR_IO, words);
    axle__socket_close(job.listen_fd);
    ranks_close(&job);
}

/* A label of more than 63 letters needs no server of names to be unknown. */
static void unknown_host_is_told(void **state)
{
    (void)state;
    ranks_job job;
    char name[80];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ranks_open(&job, 2, 0.5, NULL);
    job.members[1].config.host = name;
    ranks_live(&job.members[1]);
    ranks_expect_refused(&job, 1, AXLE_ERR_IO, name);
    axle__socket_close(job.listen_fd);
    ranks_close(&job);
}

static void one_of_several_addresses_leads_there(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 2, PATIENT, NULL);
    job.members[1].config.host = "127.0.0.2,::1,127.0.0.1";
    ranks_run(&job);
    ranks_expect_met(&job);
    ranks_close(&job);
}

static void impossible_requests_are_refused(void **state)
{
    (void)state;
    static const struct {
        int rank, size, port;
        const char *words;
    } cases[] = {
        {0, 1, 0, "rank 0 of 1 processes"}, {2, 2, 1, "rank 2 of 2 processes"},
        {-1, 2, 1, "rank -1 of 2"},         {1, 2, 0, "port 0"},
        {0, 2, 65536, "port 65536"},        {0, 1 << 20, 0, "a job of 1048576 processes"},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        axle__control *control = NULL;
        axle__control_config config = {.rank = cases[k].rank,
                                       .size = cases[k].size,
                                       .port = cases[k].port,
                                       .host = "127.0.0.1",
                                       .listen_fd = -1,
                                       .job = "",
                                       .secret = "",
                                       .timeout_ns = AXLE__SECOND};
        assert_int_equal(axle__control_join(&config, &control), AXLE_ERR_INVALID);
        unit_expect_error(AXLE_ERR_INVALID, cases[k].words);
        assert_null(control);
    }
    axle__control_leave(NULL);
}

static void claim_a_rank_again(ranks_member *member)
{
    axle__control *control = NULL;
    axle__control_config config = member->config;
    if (member->config.rank != 1)
        return;
    config.listen_fd = -1;
    config.lost = NULL;
    for (int again = 0; again < 3; again++) {
        member->result = axle__control_join(&config, &control);
        snprintf(member->text, sizeof(member->text), "%s", axle_error_message());
        axle_error_clear();
    }
}

static void claim_after_the_meeting_disturbs_nobody(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, PATIENT, claim_a_rank_again);
    ranks_run(&job);
    ranks_expect_met(&job);
    assert_int_equal(job.members[1].result, AXLE_ERR_INVALID);
    assert_non_null(strstr(job.members[1].text, "two processes claim rank 1"));
    for (int k = 0; k < 3; k++)
        for (int other = 0; other < 3; other++)
            assert_int_equal(job.members[k].losses[other], 0);
    ranks_close(&job);
}

static void process_that_dies_while_they_meet_ends_it(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, PATIENT, NULL);
    for (int k = 0; k < 3; k++)
        job.members[k].config.size = 4;
    pid_t child = ranks_fork(&job, 2);
    for (int rank = 0; rank < 2; rank++)
        assert_int_equal(pthread_create(&job.threads[rank], NULL, ranks_live, &job.members[rank]),
                         0);
    ranks_sleep(1.0);
    ranks_reap(child, SIGKILL);
    pthread_join(job.threads[0], NULL);
    /* It may have been killed before it came, on a slow machine: then nobody would notice. */
    pthread_join(job.threads[1], NULL);
    for (int rank = 0; rank < 2; rank++) {
        if (job.members[rank].code == AXLE_ERR_TIMEOUT)
            continue;
        ranks_expect_refused(&job, rank, AXLE_ERR_IO, "rank 2 (process ");
        ranks_expect_refused(&job, rank, AXLE_ERR_IO, "was lost while the processes met");
    }
    ranks_close(&job);
}

static const struct CMUnitTest tests[] = {
    UNIT("ranks that do not come are named to all", missing_ranks_are_named),
    UNIT("two claims of one rank end the meeting for all", second_claim_of_a_rank_ends_the_meeting),
    UNIT("another size ends the meeting for all", other_size_ends_the_meeting),
    UNIT("who has another secret is refused alone", other_secret_is_refused),
    UNIT("who is of another job is refused alone", other_job_is_refused),
    UNIT("a late rank finds nobody, and says where it looked", late_rank_finds_nobody),
    UNIT("an early rank waits until rank 0 listens", early_rank_waits_for_rank_0),
    UNIT("a port in use is told with the option that changes it", port_in_use_is_told),
    UNIT("an unknown host is told", unknown_host_is_told),
    UNIT("of several addresses one leads to rank 0", one_of_several_addresses_leads_there),
    UNIT("impossible ranks, sizes and ports are refused", impossible_requests_are_refused),
    UNIT("a claim after the meeting is refused and disturbs nobody",
         claim_after_the_meeting_disturbs_nobody),
    UNIT("a process that dies while they meet ends the meeting",
         process_that_dies_while_they_meet_ends_it),
};
UNIT_MAIN(tests)
