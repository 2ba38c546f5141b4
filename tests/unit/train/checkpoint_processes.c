/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of several processes: gathered, distributed, and errors that are everyone's. */
#include <math.h>

#include "axle/axle.h"
#include "group/processes.h"
#include "train/training.h"

typedef struct story {
    char path[64];
    training_plan plan;
    int64_t first, rest; /* batches before the save, or after the load */
    int loads;
} story;

/* A training of these processes; notes a parameter of each layer and the losses' last. */
static int lives(axle_group *unused, void *user)
{
    const story *s = user;
    training t;
    double first[4];
    uint64_t sum;
    (void)unused;
    axle_log_set_level(3);
    CHECK(training_open(&s->plan, &t) == AXLE_OK);
    if (s->loads)
        CHECK(axle_load_state(t.acc, s->path) == AXLE_OK);
    CHECK(training_run(&t, 2, s->first) == AXLE_OK);
    if (!s->loads && s->path[0])
        CHECK(axle_save_state(t.acc, s->path) == AXLE_OK);
    CHECK(training_run(&t, 2, s->rest) == AXLE_OK);
    CHECK(axle_tensor_read(axle_module_parameter(t.net, "0.bias"), job_own_note->numbers,
                           4 * sizeof(double)) == AXLE_OK);
    sum = training_sum(&t);
    memcpy(first, &sum, sizeof(sum));
    job_own_note->numbers[4] = first[0];
    job_own_note->numbers[5] = t.loss;
    job_own_note->numbers[6] = (double)axle_optimizer_updates(t.opt);
    training_close(&t);
    return 0;
}

/* Two processes save in the second epoch; so many go on, and end where they would have. */
static void goes_on(int processes, int shard, int shard_later)
{
    story s = {.plan = TRAINING_PLAN, .first = 20, .rest = 1 << 20};
    s.plan.norm = 0;
    s.plan.width = 4;
    s.plan.shard = shard;
    strcpy(s.path, "/tmp/axle-processes.XXXXXX");
    assert_non_null(mkdtemp(s.path));
    job whole = job_run_with(2, 0.0, true, lives, &s);
    for (int rank = 0; rank < 2; rank++)
        job_expect_exit(&whole, rank, 0);
    s.loads = 1;
    s.first = 0;
    s.plan.shard = shard_later;
    job rest = job_run_with(processes, 0.0, true, lives, &s);
    for (int rank = 0; rank < processes; rank++) {
        const double *got = rest.notes[rank].numbers, *expected = whole.notes[0].numbers;
        job_expect_exit(&rest, rank, 0);
        assert_memory_equal(got, rest.notes[0].numbers, 7 * sizeof(double));
        for (int k = 0; k < 7; k++)
            if (k != 4 && !(fabs(got[k] - expected[k]) <= 1e-10 * fmax(1.0, fabs(expected[k]))))
                fail_msg("%d processes: number %d is %.17g instead of %.17g", processes, k, got[k],
                         expected[k]);
        if (processes == 2 && shard == shard_later)
            assert_memory_equal(got, expected, 7 * sizeof(double));
    }
    job_forget(&whole);
    job_forget(&rest);
    char command[100];
    snprintf(command, sizeof(command), "rm -rf '%s'", s.path);
    assert_int_equal(system(command), 0);
}

static void two_go_on_as_they_were(void **state)
{
    (void)state;
    goes_on(2, 0, 0);
    goes_on(2, 1, 1);
}

static void others_go_on(void **state)
{
    (void)state;
    goes_on(1, 0, 0);
    goes_on(4, 0, 0);
    goes_on(1, 1, 0);
    goes_on(4, 1, 1);
    goes_on(2, 0, 1);
}

/* ------------------------------------------------------------------ local SGD */

/* Between averages each process has moments and ages of its own; the last batch has one row
 * for the first alone, and the others are younger. */
static void goes_on_locally(int processes, int then)
{
    story s = {.plan = TRAINING_PLAN, .first = 8, .rest = 1 << 20};
    s.plan.norm = 0;
    s.plan.width = 4;
    s.plan.rows = 49;
    s.plan.batch = 12 / processes * processes;
    s.plan.local = 4;
    strcpy(s.path, "/tmp/axle-processes.XXXXXX");
    assert_non_null(mkdtemp(s.path));
    job whole = job_run_with(processes, 0.0, true, lives, &s);
    for (int rank = 0; rank < processes; rank++)
        job_expect_exit(&whole, rank, 0);
    s.loads = 1;
    s.first = 0;
    job rest = job_run_with(then, 0.0, true, lives, &s);
    for (int rank = 0; rank < then; rank++) {
        job_expect_exit(&rest, rank, 0);
        if (processes == then)
            assert_memory_equal(rest.notes[rank].numbers, whole.notes[rank].numbers,
                                7 * sizeof(double));
    }
    job_forget(&whole);
    job_forget(&rest);
    char command[100];
    snprintf(command, sizeof(command), "rm -rf '%s'", s.path);
    assert_int_equal(system(command), 0);
}

static void local_updates_go_on(void **state)
{
    (void)state;
    goes_on_locally(2, 2);
    goes_on_locally(3, 3);
    goes_on_locally(2, 1);
    goes_on_locally(2, 3);
}

/* ------------------------------------------------------------------ errors */

static int save_nothing(axle_state_writer *writer, void *user)
{
    (void)user;
    return axle_state_write(writer, "", 0);
}

/* Rank 1 refuses. */
static int load_or_not(const void *bytes, size_t size, void *user)
{
    (void)bytes, (void)size;
    return *(int *)user == 1 ? axle_error_set(AXLE_ERR_INVALID, "not with me") : AXLE_OK;
}

static int one_refuses(axle_group *unused, void *user)
{
    const story *s = user;
    axle_state_callbacks both = {sizeof(both), save_nothing, load_or_not};
    training t;
    (void)unused;
    axle_log_set_level(3);
    CHECK(training_open(&s->plan, &t) == AXLE_OK);
    int rank = axle_process_index(t.acc);
    CHECK(axle_register_state(t.acc, "own", &both, &rank) == AXLE_OK);
    CHECK(axle_save_state(t.acc, s->path) == AXLE_OK);
    CHECK(training_run(&t, 2, 1) == AXLE_OK);
    uint64_t before = training_sum(&t);
    CHECK(axle_load_state(t.acc, s->path) == AXLE_ERR_INVALID);
    CHECK(training_sum(&t) == before);
    CHECK(strstr(axle_error_message(), rank == 1 ? "not with me" : "rank 1: not with me"));
    axle_error_clear();
    CHECK(axle_load_state(t.acc, "/tmp/axle-there-is-none") == AXLE_ERR_NOT_FOUND);
    CHECK(strstr(axle_error_message(), "axle-there-is-none"));
    axle_error_clear();
    CHECK(axle_save_state(t.acc, "/proc/axle/there/is/none") == AXLE_ERR_IO);
    CHECK(strstr(axle_error_message(), rank == 0 ? "/proc" : "rank 0: "));
    axle_error_clear();
    CHECK(training_run(&t, 2, 1) == AXLE_OK);
    training_close(&t);
    return 0;
}

static void errors_are_everyones(void **state)
{
    (void)state;
    story s = {.plan = TRAINING_PLAN};
    char command[100];
    s.plan.batch = 6;
    strcpy(s.path, "/tmp/axle-processes.XXXXXX");
    assert_non_null(mkdtemp(s.path));
    job j = job_run_with(3, 0.0, true, one_refuses, &s);
    job_expect_good(&j);
    snprintf(command, sizeof(command), "rm -rf '%s'", s.path);
    assert_int_equal(system(command), 0);
}

static const struct CMUnitTest tests[] = {
    UNIT("two processes go on with the same bits", two_go_on_as_they_were),
    UNIT("other numbers of them, sharing the optimizer out or not, go on to the same numbers",
         others_go_on),
    UNIT("processes that update by themselves go on with the same bits, each with its own moments",
         local_updates_go_on),
    UNIT("an error of one process is one of all", errors_are_everyones),
};

UNIT_MAIN(tests)
