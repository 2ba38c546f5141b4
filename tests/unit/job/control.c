/* SPDX-License-Identifier: Apache-2.0 */
#include "job/control.h"

#include "job/ranks.h"

/* Long enough for any machine; no test waits for it to pass. */
#define PATIENT 60.0

static void they_meet_quickly(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 32, PATIENT, NULL);
    int64_t start = axle__clock_ns();
    ranks_run(&job);
    ranks_expect_met(&job);
    assert_true(axle__clock_ns() - start < 45 * AXLE__SECOND);
    for (int rank = 0; rank < job.size; rank++)
        for (int other = 0; other < job.size; other++)
            assert_int_equal(job.members[rank].losses[other], 0);
    ranks_close(&job);
}

static void note_place(ranks_member *member)
{
    snprintf(member->text, sizeof(member->text), "%s", axle__control_address(member->control));
    member->result = axle__control_port(member->control);
}

static void address_and_port_are_known(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, PATIENT, note_place);
    ranks_run(&job);
    ranks_expect_met(&job);
    for (int rank = 0; rank < job.size; rank++) {
        assert_string_equal(job.members[rank].text, "127.0.0.1");
        assert_int_equal(job.members[rank].result, job.port);
    }
    ranks_close(&job);
}

static void exchange(ranks_member *member)
{
    char key[32], own[32];
    int size = member->config.size;
    snprintf(key, sizeof(key), "at/%d", member->config.rank);
    snprintf(own, sizeof(own), "value %d", member->config.rank);
    if (member->config.rank == 1)
        ranks_sleep(0.1);
    member->result = axle__control_set(member->control, key, own, strlen(own));
    for (int rank = 0; rank < size && !member->result; rank++) {
        void *value;
        size_t bytes;
        snprintf(key, sizeof(key), "at/%d", rank);
        snprintf(own, sizeof(own), "value %d", rank);
        member->result = axle__control_get(member->control, key, 50 * AXLE__SECOND, &value, &bytes);
        if (member->result)
            break;
        if (bytes != strlen(own) || memcmp(value, own, bytes) != 0)
            member->result = 1;
        axle__free(value);
    }
    snprintf(member->text, sizeof(member->text), "%s", axle_error_message());
}

static void store_exchanges_values(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 4, PATIENT, exchange);
    ranks_run(&job);
    ranks_expect_met(&job);
    for (int rank = 0; rank < job.size; rank++)
        if (job.members[rank].result)
            fail_msg("rank %d: %d %s", rank, job.members[rank].result, job.members[rank].text);
    ranks_close(&job);
}

/* What a call returned, with the words of its error; the record is clean again. */
static void note(ranks_member *member, int code)
{
    size_t length = strlen(member->text);
    snprintf(member->text + length, sizeof(member->text) - length, "%d:%s\n", code,
             axle_error_message());
    axle_error_clear();
}

static void misuse(ranks_member *member)
{
    void *value;
    size_t size;
    char *big = calloc(1, (1 << 20) + 1), key[300];
    memset(key, 'k', sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    if (member->config.rank != 1) {
        free(big);
        return;
    }
    int64_t start = axle__clock_ns();
    note(member, axle__control_get(member->control, "none", AXLE__SECOND / 5, &value, &size));
    member->time = axle__clock_ns() - start;
    note(member, axle__control_set(member->control, "twice", "1", 1));
    note(member, axle__control_set(member->control, "twice", "1", 1));
    note(member, axle__control_set(member->control, "big", big, (1 << 20) + 1));
    note(member, axle__control_set(member->control, "big", big, 1 << 20));
    note(member, axle__control_set(member->control, key, "", 0));
    note(member, axle__control_set(member->control, "empty", NULL, 0));
    int code = axle__control_get(member->control, "big", 50 * AXLE__SECOND, &value, &size);
    note(member, code ? code : size == 1 << 20 ? 0 : 1);
    if (!code)
        axle__free(value);
    code = axle__control_get(member->control, "empty", 0, &value, &size);
    member->result = code;
    if (!code)
        axle__free(value);
    free(big);
}

static void store_refuses_misuse(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 2, PATIENT, misuse);
    ranks_run(&job);
    ranks_expect_met(&job);
    const ranks_member *member = &job.members[1];
    static const char expected[] =
        "-11:'none' in rank 0's store: nobody has set it, after up to 0.2 s\n"
        "0:\n"
        "-1:setting 'twice': key 'twice' has a value\n"
        "-1:key 'big': 1048577 bytes are more than 1048576\n"
        "0:\n"
        "-1:a key has 1 to 255 bytes, not 299\n"
        "0:\n"
        "0:\n";
    const char *late = strstr(member->text, "rank 0 does not answer");
    if (!late) /* else the answer came after the caller's own time was over */
        assert_string_equal(member->text, expected);
    assert_true(member->time >= AXLE__SECOND / 5 - AXLE__MILLISECOND);
    assert_true(member->result == AXLE_OK || member->result == AXLE_ERR_TIMEOUT);
    ranks_close(&job);
}

static void look_around(ranks_member *member)
{
    char what[64];
    axle__peer peers[3];
    void *value;
    size_t size;
    int rank = member->config.rank;
    snprintf(what, sizeof(what), "gather at loop.c:%d", 10 + rank);
    if (rank != 2)
        axle__control_report(member->control, (uint64_t)(7 + rank), what);
    snprintf(what, sizeof(what), "ready/%d", rank);
    member->result = axle__control_set(member->control, what, "", 0);
    if (rank == 1) {
        for (int other = 0; other < 3 && !member->result; other++) {
            snprintf(what, sizeof(what), "ready/%d", other);
            member->result =
                axle__control_get(member->control, what, 50 * AXLE__SECOND, &value, &size);
            if (!member->result)
                axle__free(value);
        }
        if (!member->result)
            member->result = axle__control_survey(member->control, 50 * AXLE__SECOND, peers);
        for (int other = 0; other < 3 && !member->result; other++)
            snprintf(member->text + strlen(member->text),
                     sizeof(member->text) - strlen(member->text), "%d %d %s\n", peers[other].lost,
                     (int)peers[other].sequence, peers[other].what);
        axle__control_set(member->control, "done", "", 0);
    }
    if (axle__control_get(member->control, "done", 50 * AXLE__SECOND, &value, &size) == AXLE_OK)
        axle__free(value);
}

static void survey_says_who_is_where(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, PATIENT, look_around);
    ranks_run(&job);
    ranks_expect_met(&job);
    assert_int_equal(job.members[1].result, AXLE_OK);
    assert_string_equal(job.members[1].text,
                        "0 7 gather at loop.c:10\n0 8 gather at loop.c:11\n0 0 \n");
    ranks_close(&job);
}

static void rank_2_gives_up(ranks_member *member)
{
    void *value;
    size_t size;
    if (member->config.rank == 2) {
        axle__control_fail(member->control, "no rows are left");
        member->result = 1;
        return;
    }
    /* A value that nobody will set any more is not waited for. */
    int code = axle__control_get(member->control, "never", 50 * AXLE__SECOND, &value, &size);
    member->result = code == AXLE_ERR_IO && ranks_await_loss(member, 2, 30);
    note(member, code);
}

static void giving_up_is_told(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 3, PATIENT, rank_2_gives_up);
    int64_t start = axle__clock_ns();
    ranks_run(&job);
    ranks_expect_met(&job);
    assert_true(axle__clock_ns() - start < 20 * AXLE__SECOND);
    for (int rank = 0; rank < 2; rank++) {
        const ranks_member *member = &job.members[rank];
        assert_int_equal(member->result, 1);
        assert_int_equal(member->losses[2], 1);
        assert_int_equal(member->losses[1], 0);
        /* Rank 0 does not wait long for one that is slow to leave. */
        if (member->losses[0])
            assert_string_equal(member->reason[0], "it ended after the loss of another process");
        assert_string_equal(member->reason[2], "no rows are left");
    }
    assert_int_equal(job.members[2].losses[2], 0);
    ranks_close(&job);
}

static void leave_late(ranks_member *member)
{
    if (member->config.rank == 1)
        ranks_sleep(0.5);
    member->time = axle__clock_ns();
}

static void rank_0_waits_for_the_others(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 2, PATIENT, leave_late);
    ranks_run(&job);
    ranks_expect_met(&job);
    assert_int_equal(job.members[1].losses[0], 0);
    assert_int_equal(job.members[0].losses[1], 0);
    ranks_close(&job);
}

static void stay_longer(ranks_member *member)
{
    if (member->config.rank == 1)
        member->result = ranks_await_loss(member, 0, 30);
}

static void rank_0_does_not_wait_for_ever(void **state)
{
    (void)state;
    ranks_job job;
    ranks_open(&job, 2, 1.0, stay_longer);
    ranks_run(&job);
    ranks_expect_met(&job);
    assert_int_equal(job.members[1].result, 1);
    assert_non_null(strstr(job.members[1].reason[0], "waited in vain"));
    ranks_close(&job);
}

static const struct CMUnitTest tests[] = {
    UNIT("32 processes meet quickly, and leave without a loss", they_meet_quickly),
    UNIT("each knows its address and the server's port", address_and_port_are_known),
    UNIT("the store gives each the values of all", store_exchanges_values),
    UNIT("the store refuses second values and long ones, and waits as long as asked",
         store_refuses_misuse),
    UNIT("a survey says what each reported last", survey_says_who_is_where),
    UNIT("a process that gives up is lost to the others, and waits for values end",
         giving_up_is_told),
    UNIT("rank 0 serves until the others have left", rank_0_waits_for_the_others),
    UNIT("rank 0 waits for the timeout at most", rank_0_does_not_wait_for_ever),
};
UNIT_MAIN(tests)
