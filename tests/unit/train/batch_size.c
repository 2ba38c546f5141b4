/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a batch size: it halves until all have room, and leaves everything as it was. */
#include "axle/axle.h"
#include "group/processes.h"

enum { WIDTH = 1024, START = 1 << 14 };

typedef struct plan {
    int limit[2]; /* MiB a process */
    int fails;    /* rank whose trials fail for another reason; -1: none */
    int64_t starts[2];
    int code; /* expected */
    const char *words;
} plan;

typedef struct trial {
    axle_accelerator *acc;
    axle_module *net;
    axle_optimizer *optimizer;
    bool fails;
    int64_t last;
    int count;
} trial;

static int step(int64_t batch, void *user)
{
    trial *t = user;
    t->count++;
    t->last = batch;
    if (t->fails)
        return axle_error_set(AXLE_ERR_IO, "the disk is on fire");
    axle_scope_push(); /* not popped where there is an error */
    axle_tensor *x = axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(batch, WIDTH));
    axle_optimizer_zero_grad(t->optimizer);
    int code = axle_backward(t->acc, axle_mean_all(axle_module_forward(t->net, x)));
    if (code)
        return code;
    axle_scope_pop();
    return axle_optimizer_step(t->optimizer);
}

static int make(const plan *p, trial *t)
{
    axle_accelerator_options options = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_module *layer;
    const char *rank = getenv("RANK");
    job_set("AXLE_MEMORY_LIMIT", "%.0f", p->limit[rank && *rank == '1']);
    options.backend = "reference";
    options.quiet = 1;
    CHECK(axle_accelerator_create(&options, &t->acc) == AXLE_OK);
    CHECK(axle_sequential_create(&t->net) == AXLE_OK);
    CHECK(axle_linear_create(WIDTH, 32, 1, &layer) == AXLE_OK);
    CHECK(axle_module_add_child(t->net, NULL, layer) == AXLE_OK);
    CHECK(axle_batch_norm_create(32, 1e-5, 0.1, &layer) == AXLE_OK);
    CHECK(axle_module_add_child(t->net, NULL, layer) == AXLE_OK);
    CHECK(axle_dropout_create(0.5, &layer) == AXLE_OK);
    CHECK(axle_module_add_child(t->net, NULL, layer) == AXLE_OK);
    CHECK(axle_adamw_create(t->net, NULL, &t->optimizer) == AXLE_OK);
    CHECK(axle_prepare(t->acc, t->net, t->optimizer) == AXLE_OK);
    t->fails = axle_process_index(t->acc) == p->fails;
    return 0;
}

static int finds(axle_group *unused, void *user)
{
    (void)unused;
    const plan *p = user;
    trial t = {0};
    uint64_t before, after;
    int64_t found = -7;
    if (make(p, &t))
        return JOB_FAILED;
    CHECK(axle_module_checksum(t.net, &before) == AXLE_OK);
    axle_random_state random = axle_random_get(), then;
    int64_t start = p->starts[axle_process_index(t.acc)];
    int code = axle_find_batch_size(t.acc, start, step, &t, &found);
    then = axle_random_get();
    CHECK(code == p->code && (code || found == t.last) && (!code || found == -7));
    if (code) {
        CHECK(strstr(axle_error_message(), p->words) != NULL);
        axle_error_clear();
    }
    CHECK(axle_error_code() == AXLE_OK && axle_scope_depth() == 0);
    CHECK(axle_module_checksum(t.net, &after) == AXLE_OK);
    CHECK(before == after && memcmp(&random, &then, sizeof(then)) == 0);
    CHECK(!axle_tensor_grad(axle_module_parameter(t.net, "0.weight")));
    CHECK(axle_optimizer_updates(t.optimizer) == 0);
    job_own_note->numbers[0] = (double)found;
    job_own_note->numbers[1] = t.count;
    /* Training goes on in that size. */
    if (!code) {
        CHECK(step(found, &t) == AXLE_OK && axle_optimizer_updates(t.optimizer) == 1);
        CHECK(axle_module_checksum(t.net, &after) == AXLE_OK && before != after);
    }
    CHECK(axle_end_training(t.acc) == AXLE_OK);
    axle_accelerator_release(t.acc);
    axle_optimizer_release(t.optimizer);
    axle_module_release(t.net);
    return 0;
}

static int64_t find(int size, plan p)
{
    job j = job_run_with(size, 0.0, true, finds, &p);
    for (int rank = 0; rank < size; rank++) {
        job_expect_exit(&j, rank, 0);
        assert_true(j.notes[rank].numbers[0] == j.notes[0].numbers[0]);
        assert_true(j.notes[rank].numbers[1] == j.notes[0].numbers[1]);
    }
    int64_t found = (int64_t)j.notes[0].numbers[0];
    job_forget(&j);
    return found;
}

/* Inputs alone take 4 KiB a row. */
static void the_largest_that_fits(void **state)
{
    (void)state;
    int64_t found = find(1, (plan){{12}, -1, {START}, 0, NULL});
    assert_int_equal(found, 2048);
    assert_int_equal(find(1, (plan){{24}, -1, {START}, 0, NULL}), 2 * found);
    assert_int_equal(find(1, (plan){{12}, -1, {100}, 0, NULL}), 100);
}

static void the_smallest_of_all_processes(void **state)
{
    (void)state;
    assert_int_equal(find(2, (plan){{24, 12}, -1, {START, START}, 0, NULL}), 2048);
    assert_int_equal(find(2, (plan){{12, 24}, -1, {START, START}, 0, NULL}), 2048);
    assert_int_equal(find(2, (plan){{12, 12}, -1, {300, 200}, 0, NULL}), 200);
}

static int never_fits(int64_t batch, void *user)
{
    *(int64_t *)user += batch;
    return axle_error_set(AXLE_ERR_NOMEM, "full");
}

static int finds_nothing(axle_group *unused, void *user)
{
    (void)unused;
    const plan *p = user;
    trial t = {0};
    int64_t sum = 0, found = -7;
    if (make(p, &t))
        return JOB_FAILED;
    CHECK(axle_find_batch_size(t.acc, 13, never_fits, &sum, &found) == AXLE_ERR_NOMEM);
    CHECK(strstr(axle_error_message(), "not even a batch of 1 fits"));
    axle_error_clear();
    CHECK(sum == 13 + 6 + 3 + 1 && found == -7);
    CHECK(axle_find_batch_size(t.acc, 0, never_fits, &sum, &found) == AXLE_ERR_INVALID);
    axle_error_clear();
    CHECK(axle_end_training(t.acc) == AXLE_OK);
    axle_accelerator_release(t.acc);
    axle_optimizer_release(t.optimizer);
    axle_module_release(t.net);
    return 0;
}

static void zero_is_an_error(void **state)
{
    (void)state;
    for (int size = 1; size <= 2; size++) {
        plan p = {{24, 24}, -1, {0}, 0, NULL};
        job j = job_run_with(size, 0.0, true, finds_nothing, &p);
        job_expect_good(&j);
    }
}

static void other_errors_pass_through(void **state)
{
    (void)state;
    find(1, (plan){{24}, 0, {START}, AXLE_ERR_IO, "on fire"});
    find(2, (plan){{24, 24}, 1, {64, 64}, AXLE_ERR_IO, "on fire"});
}

static const struct CMUnitTest tests[] = {
    UNIT("it is the largest that fits, in halves from where it starts", the_largest_that_fits),
    UNIT("all processes use the smallest", the_smallest_of_all_processes),
    UNIT("it is an error where nothing fits", zero_is_an_error),
    UNIT("other errors pass through, on all processes", other_errors_pass_through),
};

UNIT_MAIN(tests)
