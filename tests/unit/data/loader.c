/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sets.h"

#include <sys/wait.h>

#include "axle/ops.h"
#include "axle/random.h"
#include "data/loader.h"

/* Loaders over the numbers 0..n-1. */
static numbers user;

static axle_loader *open_over(const axle_dataset_class *type, const axle_loader_options *options)
{
    axle_dataset *set;
    axle_loader *loader;
    assert_ok(axle_dataset_create(type, &user, &set));
    assert_ok(axle_loader_create(set, options, &loader));
    axle_dataset_release(set);
    return loader;
}

static axle_loader *open_loader(int64_t n, int64_t batch_size, int shuffle, int workers)
{
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = batch_size;
    options.shuffle = shuffle;
    options.seed = 7;
    options.workers = workers;
    user = (numbers){.length = n};
    return open_over(&numbers_class, &options);
}

enum { ALL = 1 << 20, MOST = 4096 };

static void batches_come_in_order(void **state)
{
    (void)state;
    for (int workers = 0; workers <= 4; workers++) {
        int64_t values[MOST];
        axle_loader *loader = open_loader(1003, 8, 0, workers);
        assert_int_equal(axle_loader_length(loader), 126);
        for (int epoch = 0; epoch < 3; epoch++) {
            assert_int_equal(axle_loader_epoch(loader), epoch);
            assert_int_equal(collect(loader, ALL, values), 1003);
            for (int64_t k = 0; k < 1003; k++)
                assert_int_equal(values[k], k);
            assert_ok(axle_loader_status(loader));
        }
        axle_loader_release(loader);
        assert_int_equal(user.gone, 1);
    }
}

static void workers_that_finish_out_of_order_are_put_in_order(void **state)
{
    (void)state;
    int64_t values[MOST];
    axle_loader *loader = open_loader(400, 4, 0, 4);
    user.delay_us = 100;
    assert_int_equal(collect(loader, ALL, values), 400);
    for (int64_t k = 0; k < 400; k++)
        assert_int_equal(values[k], k);
    axle_loader_release(loader);
}

static void shuffled_epochs_differ_and_repeat(void **state)
{
    (void)state;
    int64_t first[3][256], again[256];
    axle_loader *loader = open_loader(256, 8, 1, 2);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(collect(loader, ALL, first[k]), 256);
        assert_each_once(first[k], 256);
    }
    assert_memory_not_equal(first[0], first[1], sizeof(first[0]));
    assert_memory_not_equal(first[1], first[2], sizeof(first[0]));
    assert_ok(axle_loader_set_epoch(loader, 0));
    for (int k = 0; k < 3; k++) {
        collect(loader, ALL, again);
        assert_memory_equal(first[k], again, sizeof(again));
    }
    axle_loader_release(loader);
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.shuffle = 1;
    options.seed = 8;
    loader = open_over(&numbers_class, &options);
    collect(loader, ALL, again);
    assert_memory_not_equal(first[0], again, sizeof(again));
    axle_loader_release(loader);
}

static void the_last_batch_is_short_or_dropped(void **state)
{
    (void)state;
    axle_batch *batch;
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = 4;
    user = (numbers){.length = 10};
    for (options.drop_last = 0; options.drop_last < 2; options.drop_last++) {
        axle_loader *loader = open_over(&numbers_class, &options);
        int64_t length = options.drop_last ? 2 : 3, count = 0;
        assert_int_equal(axle_loader_length(loader), length);
        while (axle_loader_next(loader, &batch)) {
            assert_int_equal(axle_loader_position(loader), ++count);
            assert_int_equal(axle_loader_is_last(loader), count == length);
            assert_int_equal(axle_batch_rows(batch), count == 3 ? 2 : 4);
        }
        assert_int_equal(count, length);
        assert_int_equal(axle_loader_position(loader), 0);
        assert_false(axle_loader_is_last(loader));
        axle_loader_release(loader);
    }
}

static void an_empty_set_gives_empty_epochs(void **state)
{
    (void)state;
    axle_batch *batch;
    axle_loader *loader = open_loader(0, 4, 1, 1);
    assert_int_equal(axle_loader_length(loader), 0);
    assert_int_equal(axle_loader_next(loader, &batch), 0);
    assert_int_equal(axle_loader_next(loader, &batch), 0);
    assert_ok(axle_loader_status(loader));
    assert_int_equal(axle_loader_epoch(loader), 2);
    axle_loader_release(loader);
}

/* Over all processes the epoch's weighty rows are those of one process with the global batch. */
static void processes_share_each_global_batch(void **state)
{
    (void)state;
    static const struct {
        int64_t n, batch, processes;
    } cases[] = {{11, 4, 2}, {8, 4, 2}, {9, 4, 2},   {12, 4, 2},
                 {1, 4, 3},  {2, 4, 3}, {256, 8, 2}, {0, 4, 3}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        int64_t n = cases[c].n, processes = cases[c].processes, whole[256], parts[4][256],
                at[4] = {0};
        axle_loader *one = open_loader(n, cases[c].batch * processes, 1, 0), *ranks[4];
        assert_int_equal(collect(one, ALL, whole), n);
        for (int64_t p = 0; p < processes; p++) {
            ranks[p] = open_loader(n, cases[c].batch, 1, 1);
            assert_ok(axle__loader_shard(ranks[p], processes, p));
            assert_ok(axle__loader_shard(ranks[p], processes, p));
            assert_int_equal(axle_loader_length(ranks[p]), axle_loader_length(one));
        }
        int64_t next = 0;
        for (int64_t b = 0; b < axle_loader_length(one); b++)
            for (int64_t p = 0; p < processes; p++) {
                int64_t count = collect(ranks[p], 1, parts[p] + at[p]);
                assert_memory_equal(parts[p] + at[p], whole + next,
                                    (size_t)count * sizeof(int64_t));
                next += count;
            }
        assert_int_equal(next, n);
        for (int64_t p = 0; p < processes; p++)
            axle_loader_release(ranks[p]);
        axle_loader_release(one);
    }
}

static void a_process_without_a_row_gets_a_batch_of_no_weight(void **state)
{
    (void)state;
    axle_batch *batch;
    axle_loader *loader = open_loader(2, 4, 0, 1);
    assert_ok(axle__loader_shard(loader, 3, 2));
    assert_int_equal(axle_loader_next(loader, &batch), 1);
    assert_int_equal(axle_batch_rows(batch), 1);
    assert_int_equal(axle_batch_weight(batch), 0);
    assert_int_equal(axle_loader_next(loader, &batch), 0);
    assert_failed(axle__loader_shard(loader, 3, 3), AXLE_ERR_INVALID, "process 3 of 3", NULL);
    assert_failed(axle__loader_shard(loader, INT64_MAX, 3), AXLE_ERR_INVALID, NULL);
    axle_loader_release(loader);
}

static void an_epoch_left_early_is_over(void **state)
{
    (void)state;
    int64_t first[64], second[64], values[64];
    for (int workers = 0; workers <= 2; workers++) {
        axle_loader *loader = open_loader(64, 4, 1, workers);
        collect(loader, ALL, first);
        collect(loader, ALL, second);
        assert_ok(axle_loader_set_epoch(loader, 0));
        collect(loader, 3, values);
        axle_loader_break(loader);
        axle_loader_break(loader);
        assert_int_equal(axle_loader_epoch(loader), 1);
        assert_int_equal(axle_loader_position(loader), 0);
        assert_int_equal(collect(loader, ALL, values), 64);
        assert_memory_equal(values, second, sizeof(values));
        axle_loader_release(loader);
    }
    assert_int_equal(axle_scope_depth(), 0);
}

static void a_loop_resumes_where_it_stopped_more_than_once(void **state)
{
    (void)state;
    int64_t whole[3 * 64], parts[3 * 64], count = 0;
    axle_loader *loader = open_loader(64, 4, 1, 1);
    for (int epoch = 0; epoch < 3; epoch++)
        collect(loader, ALL, whole + 64 * epoch);
    axle_loader_release(loader);
    /* Stops after 5 batches of epoch 1, after 3 more, and at the epoch's end, before the loop sees
     * it. */
    static const int64_t stops[] = {16 + 5, 3, 8, 16};
    int64_t epoch = 0, position = 0;
    for (size_t k = 0; k < 4; k++) {
        loader = open_loader(64, 4, 1, k % 2 ? 0 : 2);
        if (k % 2) {
            assert_ok(axle_loader_set_epoch(loader, epoch));
            assert_ok(axle_loader_skip(loader, position));
        } else {
            assert_ok(axle_loader_skip(loader, position));
            assert_ok(axle_loader_set_epoch(loader, epoch));
        }
        axle_batch *batch;
        for (int64_t left = stops[k]; left > 0;) {
            if (!axle_loader_next(loader, &batch))
                continue;
            memcpy(parts + count, numbers_of(batch), 4 * sizeof(int64_t));
            count += 4;
            left--;
        }
        epoch = axle_loader_epoch(loader);
        position = axle_loader_position(loader);
        axle_loader_release(loader);
    }
    assert_int_equal(epoch, 2);
    assert_int_equal(position, 16);
    assert_int_equal(count, 3 * 64);
    assert_memory_equal(parts, whole, sizeof(whole));
}

static void skipping_is_for_one_epoch(void **state)
{
    (void)state;
    int64_t values[64];
    axle_batch *batch;
    axle_loader *loader = open_loader(10, 2, 0, 1);
    assert_ok(axle_loader_skip(loader, 2));
    assert_int_equal(axle_loader_position(loader), 2);
    assert_int_equal(collect(loader, 1, values), 2);
    assert_int_equal(values[0], 4);
    /* In the middle of an epoch, too. */
    assert_ok(axle_loader_skip(loader, 4));
    assert_int_equal(axle_loader_next(loader, &batch), 1);
    assert_int_equal(numbers_of(batch)[0], 8);
    assert_true(axle_loader_is_last(loader));
    assert_int_equal(axle_loader_next(loader, &batch), 0);
    assert_int_equal(collect(loader, ALL, values), 10);
    assert_ok(axle_loader_skip(loader, 5));
    assert_int_equal(axle_loader_next(loader, &batch), 0);
    assert_int_equal(axle_loader_epoch(loader), 3);
    assert_failed(axle_loader_skip(loader, 6), AXLE_ERR_INDEX, "6 batches to skip, of 5", NULL);
    assert_failed(axle_loader_skip(loader, -1), AXLE_ERR_INDEX, NULL);
    assert_failed(axle_loader_set_epoch(loader, -1), AXLE_ERR_INVALID, "-1", NULL);
    axle_loader_release(loader);
}

static void an_error_comes_where_it_happened(void **state)
{
    (void)state;
    for (int workers = 0; workers <= 4; workers++) {
        int64_t values[MOST];
        axle_loader *loader = open_loader(100, 5, 0, workers);
        user.fail_at = 42;
        assert_int_equal(collect(loader, ALL, values), 40);
        assert_int_equal(axle_loader_status(loader), AXLE_ERR_IO);
        assert_failed(axle_loader_status(loader), AXLE_ERR_IO, "sample 42 cannot be read", NULL);
        assert_int_equal(axle_loader_epoch(loader), 1);
        /* The next epoch may fare better. */
        user.fail_at = 0;
        assert_int_equal(collect(loader, ALL, values), 100);
        assert_ok(axle_loader_status(loader));
        axle_loader_release(loader);
    }
}

static void batches_are_made_ahead_but_not_further_than_asked(void **state)
{
    (void)state;
    axle_batch *batch;
    axle_loader *loader = open_loader(100, 1, 0, 1);
    assert_int_equal(axle_loader_next(loader, &batch), 1);
    for (int k = 0; k < 2000 && atomic_load(&user.fetches) < 3; k++)
        sleep_us(1000);
    sleep_us(20000);
    assert_int_equal(atomic_load(&user.fetches), 3);
    axle_loader_release(loader);
}

static void a_loader_may_go_while_workers_run(void **state)
{
    (void)state;
    axle_batch *batch;
    for (int k = 0; k < 50; k++) {
        axle_loader *loader = open_loader(1000, 1, 1, 3);
        user.delay_us = k % 3 * 50;
        for (int taken = 0; taken < k % 5; taken++)
            assert_int_equal(axle_loader_next(loader, &batch), 1);
        if (k % 2)
            axle_loader_break(loader);
        axle_loader_release(loader);
        assert_int_equal(user.gone, 1);
    }
    assert_int_equal(axle_scope_depth(), 0);
}

static void each_turn_has_a_scope(void **state)
{
    (void)state;
    axle_batch *batch;
    axle_tensor *kept = NULL;
    double value;
    int64_t turns = 0;
    axle_loader *loader = open_loader(10, 2, 0, 1);
    while (axle_loader_next(loader, &batch)) {
        assert_int_equal(axle_scope_depth(), 1);
        axle_tensor *sum = axle_sum_all(axle_cast(axle_batch_get(batch, "input"), AXLE_DTYPE_F32));
        if (turns++ == 1)
            kept = axle_tensor_retain(sum);
        if (turns == 3)
            assert_ok(axle_scope_push()); /* and left open */
    }
    assert_int_equal(turns, 5);
    assert_int_equal(axle_scope_depth(), 0);
    assert_ok(axle_tensor_item(kept, &value));
    assert_true(value == 5.0);
    axle_tensor_release(kept);
    axle_loader_release(loader);
}

static void loops_nest(void **state)
{
    (void)state;
    axle_batch *batch;
    axle_loader *outer = open_loader(10, 2, 0, 1), *inner = open_loader(9, 3, 0, 0);
    user.length = 10;
    for (int64_t turn = 0; axle_loader_next(outer, &batch); turn++) {
        axle_batch *theirs;
        int64_t inner_turns = 0;
        while (axle_loader_next(inner, &theirs)) {
            assert_int_equal(axle_scope_depth(), 2);
            assert_int_equal(numbers_of(theirs)[0], 3 * inner_turns);
            if (++inner_turns == 2 && turn % 2)
                break; /* without telling */
        }
        if (turn % 2)
            assert_ok(axle_loader_set_epoch(inner, 0));
        assert_int_equal(numbers_of(batch)[0], 2 * turn);
    }
    assert_int_equal(axle_scope_depth(), 0);
    axle_loader_release(inner);
    axle_loader_release(outer);
    assert_int_equal(axle_scope_depth(), 0);
}

static void random_draws_follow_the_row_and_come_back(void **state)
{
    (void)state;
    axle_batch *batch;
    axle_loader *loader = open_loader(12, 2, 1, 1);
    assert_ok(axle__loader_shard(loader, 2, 1));
    axle_seed(3);
    axle_random_set((axle_random_state){.seed = 3, .update = 4, .draw = 9, .row = 0});
    for (int64_t turn = 0; axle_loader_next(loader, &batch); turn++) {
        axle_random_state inside = axle_random_get();
        assert_int_equal(inside.seed, 3);
        assert_true(inside.draw == UINT64_C(1) << 32);
        assert_int_equal(inside.row, 4 * turn + 2);
        inside.draw = 5;
        inside.update++;
        axle_random_set(inside);
    }
    axle_random_state after = axle_random_get();
    assert_int_equal(after.update, 7);
    assert_int_equal(after.draw, 9);
    assert_int_equal(after.row, 0);
    axle_loader_release(loader);
}

/* A set whose samples are random. */
static int get_noise(void *unused, int64_t index, axle_batch *sample)
{
    (void)unused;
    (void)index;
    return axle_batch_set(sample, "input", axle_rand(AXLE_DTYPE_F64, AXLE_DIMS(3)));
}

static void what_callbacks_draw_does_not_depend_on_workers(void **state)
{
    (void)state;
    axle_dataset_class noise = numbers_get_class;
    noise.get = get_noise;
    double drawn[4][2][20 * 3];
    user = (numbers){.length = 20};
    for (int workers = 0; workers < 4; workers++) {
        axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
        options.batch_size = 3;
        options.workers = workers;
        axle_loader *loader = open_over(&noise, &options);
        axle_seed((uint64_t)workers);
        for (int epoch = 0; epoch < 2; epoch++) {
            axle_batch *batch;
            double *next = drawn[workers][epoch];
            while (axle_loader_next(loader, &batch)) {
                size_t count = (size_t)axle_batch_rows(batch) * 3;
                assert_ok(
                    axle_tensor_read(axle_batch_get(batch, "input"), next, count * sizeof(double)));
                next += count;
            }
            assert_ok(axle_loader_status(loader));
        }
        assert_int_equal(axle_random_get().draw, 0);
        axle_loader_release(loader);
        assert_memory_equal(drawn[workers], drawn[0], sizeof(drawn[0]));
    }
    assert_memory_not_equal(drawn[0][0], drawn[0][1], sizeof(drawn[0][0]));
}

static int collate_count(axle_batch *const *samples, int64_t n, axle_batch *batch, void *calls)
{
    atomic_fetch_add((atomic_int *)calls, 1);
    return axle_collate_pad(samples, n, batch, NULL);
}

static void collating_of_ones_own_is_used(void **state)
{
    (void)state;
    atomic_int calls = 0;
    int64_t values[16];
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = 4;
    options.collate = collate_count;
    options.collate_user = &calls;
    user = (numbers){.length = 10};
    axle_loader *loader = open_over(&numbers_get_class, &options);
    assert_int_equal(collect(loader, ALL, values), 10);
    assert_int_equal(calls, 3);
    axle_loader_release(loader);
}

typedef struct seen {
    int batches, ends, lasts;
} seen;

static void observe(void *into, axle_loader *loader, const axle_batch *batch, int is_last)
{
    seen *s = into;
    assert_non_null(loader);
    s->batches += batch != NULL;
    s->ends += batch == NULL;
    s->lasts += is_last;
}

static void an_observer_sees_batches_and_ends(void **state)
{
    (void)state;
    seen s = {0};
    int64_t values[64];
    axle_loader *loader = open_loader(10, 2, 0, 1);
    axle__loader_set_observer(loader, observe, &s);
    collect(loader, ALL, values);
    assert_true(s.batches == 5 && s.ends == 1 && s.lasts == 1);
    collect(loader, 2, values);
    axle_loader_break(loader);
    assert_true(s.batches == 7 && s.ends == 2 && s.lasts == 1);
    user.fail_at = 3;
    collect(loader, ALL, values);
    assert_true(s.batches == 8 && s.ends == 3 && s.lasts == 1);
    axle_error_clear();
    axle_loader_release(loader);
}

static void a_child_of_fork_goes_on(void **state)
{
    (void)state;
    int64_t values[MOST];
    axle_batch *batch;
    axle_loader *loader = open_loader(1000, 10, 0, 2);
    assert_int_equal(axle_loader_next(loader, &batch), 1);
    sleep_us(20000); /* the workers rest meanwhile */
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        int64_t count = collect(loader, ALL, values);
        int good = count == 990 && values[0] == 10 && values[989] == 999;
        axle_loader_release(loader);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(collect(loader, ALL, values), 990);
    axle_loader_release(loader);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    axle_dataset *set;
    axle_loader *loader;
    user = (numbers){.length = 10};
    assert_ok(axle_dataset_create(&numbers_class, &user, &set));
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = 0;
    assert_failed(axle_loader_create(set, &options, &loader), AXLE_ERR_INVALID, "batch size of 0",
                  NULL);
    options.batch_size = 1;
    options.workers = -1;
    assert_failed(axle_loader_create(set, &options, &loader), AXLE_ERR_INVALID, "-1 workers", NULL);
    options.workers = 1;
    options.prefetch = 0;
    assert_failed(axle_loader_create(set, &options, &loader), AXLE_ERR_INVALID,
                  "0 batches to prefetch", NULL);
    options.workers = 0;
    assert_ok(axle_loader_create(set, &options, &loader));
    axle_loader_release(loader);
    assert_failed(axle_loader_create(NULL, &options, &loader), AXLE_ERR_INVALID, "no data set",
                  NULL);
    user.length = -3;
    assert_failed(axle_loader_create(set, &options, &loader), AXLE_ERR_INVALID, "-3", NULL);
    axle_dataset_release(set);
    axle_loader_release(NULL);
}

/* One epoch with that many workers; the code of what failed. */
static int train(axle_dataset *set, int workers)
{
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    axle_loader *loader;
    axle_batch *batch;
    options.workers = workers;
    options.shuffle = 1;
    options.batch_size = 4;
    int code = axle_loader_create(set, &options, &loader);
    if (code)
        return code;
    while (axle_loader_next(loader, &batch))
        continue;
    code = axle_loader_status(loader);
    axle_loader_release(loader);
    return code;
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    axle_dataset *set;
    user = (numbers){.length = 10};
    assert_ok(axle_dataset_create(&numbers_get_class, &user, &set));
    EACH_ALLOCATION_FAILS(train(set, 0), (void)0);
    EACH_ALLOCATION_FAILS(train(set, 2), (void)0);
    axle_dataset_release(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_come_in_order),
        cmocka_unit_test(workers_that_finish_out_of_order_are_put_in_order),
        cmocka_unit_test(shuffled_epochs_differ_and_repeat),
        cmocka_unit_test(the_last_batch_is_short_or_dropped),
        cmocka_unit_test(an_empty_set_gives_empty_epochs),
        cmocka_unit_test(processes_share_each_global_batch),
        cmocka_unit_test(a_process_without_a_row_gets_a_batch_of_no_weight),
        cmocka_unit_test(an_epoch_left_early_is_over),
        cmocka_unit_test(a_loop_resumes_where_it_stopped_more_than_once),
        cmocka_unit_test(skipping_is_for_one_epoch),
        cmocka_unit_test(an_error_comes_where_it_happened),
        cmocka_unit_test(batches_are_made_ahead_but_not_further_than_asked),
        cmocka_unit_test(a_loader_may_go_while_workers_run),
        cmocka_unit_test(each_turn_has_a_scope),
        cmocka_unit_test(loops_nest),
        cmocka_unit_test(random_draws_follow_the_row_and_come_back),
        cmocka_unit_test(what_callbacks_draw_does_not_depend_on_workers),
        cmocka_unit_test(collating_of_ones_own_is_used),
        cmocka_unit_test(an_observer_sees_batches_and_ends),
        cmocka_unit_test(a_child_of_fork_goes_on),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("loader", tests, NULL, NULL);
}
