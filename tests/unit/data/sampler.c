/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "data/sampler.h"

static axle__shard shard_of(int64_t n, int64_t batch, int64_t count, int64_t index, bool drop_last)
{
    return (axle__shard){.samples = n,
                         .batch_size = batch,
                         .process_count = count,
                         .process_index = index,
                         .drop_last = drop_last};
}

static void assert_rows(axle__shard shard, int64_t batch, int64_t first, int64_t count,
                        int64_t weight)
{
    axle__rows rows = axle__shard_rows(&shard, batch);
    assert_int_equal(rows.first, first);
    assert_int_equal(rows.count, count);
    assert_int_equal(rows.weight, weight);
}

/* Over all processes, in order, the weighty rows of an epoch are 0..n-1, or what full batches hold.
 */
static void assert_covers(int64_t n, int64_t batch_size, int64_t processes, bool drop_last)
{
    int64_t next = 0, global = batch_size * processes;
    axle__shard first = shard_of(n, batch_size, processes, 0, drop_last);
    int64_t length = axle__shard_length(&first);
    assert_int_equal(length, drop_last ? n / global : (n + global - 1) / global);
    for (int64_t b = 0; b < length; b++)
        for (int64_t p = 0; p < processes; p++) {
            axle__shard shard = shard_of(n, batch_size, processes, p, drop_last);
            axle__rows rows = axle__shard_rows(&shard, b);
            assert_int_equal(axle__shard_length(&shard), length);
            assert_in_range(rows.count, 1, batch_size);
            assert_in_range(rows.first, 0, n - rows.count);
            if (rows.weight == 0)
                continue;
            assert_int_equal(rows.first, next);
            assert_int_equal(rows.weight, rows.count);
            next += rows.count;
        }
    assert_int_equal(next, drop_last ? n / global * global : n);
}

static void the_last_global_batch_is_split_first_processes_first(void **state)
{
    (void)state;
    assert_rows(shard_of(11, 4, 2, 0, false), 0, 0, 4, 4);
    assert_rows(shard_of(11, 4, 2, 1, false), 0, 4, 4, 4);
    assert_rows(shard_of(11, 4, 2, 0, false), 1, 8, 2, 2);
    assert_rows(shard_of(11, 4, 2, 1, false), 1, 10, 1, 1);
}

static void a_set_that_divides_evenly_keeps_its_last_batch(void **state)
{
    (void)state;
    axle__shard shard = shard_of(8, 4, 2, 1, false);
    assert_int_equal(axle__shard_length(&shard), 1);
    assert_rows(shard, 0, 4, 4, 4);
    assert_covers(16, 4, 2, false);
}

static void a_process_without_a_row_gets_a_weightless_one(void **state)
{
    (void)state;
    assert_rows(shard_of(9, 4, 2, 0, false), 1, 8, 1, 1);
    assert_rows(shard_of(9, 4, 2, 1, false), 1, 8, 1, 0);
    assert_rows(shard_of(1, 4, 3, 0, false), 0, 0, 1, 1);
    assert_rows(shard_of(1, 4, 3, 1, false), 0, 0, 1, 0);
    assert_rows(shard_of(1, 4, 3, 2, false), 0, 0, 1, 0);
}

static void a_set_smaller_than_a_global_batch_gives_one_on_each_process(void **state)
{
    (void)state;
    for (int64_t p = 0; p < 3; p++) {
        axle__shard shard = shard_of(2, 4, 3, p, false);
        assert_int_equal(axle__shard_length(&shard), 1);
        assert_rows(shard, 0, p < 2 ? p : 0, 1, p < 2);
    }
}

static void an_empty_set_has_no_batch(void **state)
{
    (void)state;
    axle__shard shard = shard_of(0, 4, 3, 1, false);
    assert_int_equal(axle__shard_length(&shard), 0);
    shard.drop_last = true;
    assert_int_equal(axle__shard_length(&shard), 0);
}

static void dropping_the_last_drops_global_batches_only(void **state)
{
    (void)state;
    axle__shard shard = shard_of(11, 4, 2, 1, true);
    assert_int_equal(axle__shard_length(&shard), 1);
    shard.samples = 16;
    assert_int_equal(axle__shard_length(&shard), 2);
    assert_covers(21, 5, 2, true);
}

static void every_row_comes_once_for_any_split(void **state)
{
    (void)state;
    for (int64_t n = 0; n <= 40; n++)
        for (int64_t batch = 1; batch <= 5; batch++)
            for (int64_t processes = 1; processes <= 5; processes++) {
                assert_covers(n, batch, processes, false);
                assert_covers(n, batch, processes, true);
            }
}

static void shares_of_the_last_batch_differ_by_one_row_at_most(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 40; n++) {
        int64_t least = INT64_MAX, most = 0;
        for (int64_t p = 0; p < 4; p++) {
            axle__shard shard = shard_of(n, 3, 4, p, false);
            int64_t weight = axle__shard_rows(&shard, axle__shard_length(&shard) - 1).weight;
            least = weight < least ? weight : least;
            most = weight > most ? weight : most;
        }
        assert_in_range(most - least, 0, 1);
    }
}

enum { LARGE = 1000 };

static void an_order_holds_each_sample_once(void **state)
{
    (void)state;
    int64_t order[LARGE];
    for (int64_t n = 0; n <= LARGE; n = n < 10 ? n + 1 : n * 10) {
        char seen[LARGE] = {0};
        axle__permutation(3, 1, n, order);
        for (int64_t k = 0; k < n; k++) {
            assert_in_range(order[k], 0, n - 1);
            assert_false(seen[order[k]]++);
        }
    }
}

static void an_order_follows_from_seed_and_epoch(void **state)
{
    (void)state;
    int64_t first[LARGE], again[LARGE], other[LARGE];
    axle__permutation(7, 2, LARGE, first);
    axle__permutation(7, 2, LARGE, again);
    assert_memory_equal(first, again, sizeof(first));
    axle__permutation(7, 3, LARGE, other);
    assert_memory_not_equal(first, other, sizeof(first));
    axle__permutation(8, 2, LARGE, other);
    assert_memory_not_equal(first, other, sizeof(first));
}

/* A resumed run of a later version must see the order that an earlier one saw. */
static void an_order_is_the_same_for_ever(void **state)
{
    (void)state;
    int64_t order[10];
    const int64_t known[10] = {7, 6, 5, 0, 4, 2, 9, 3, 8, 1};
    axle__permutation(7, 1, 10, order);
    assert_memory_equal(order, known, sizeof(known));
}

/* Each of the 24 orders of four samples is as likely as the others. */
static void orders_are_equally_likely(void **state)
{
    (void)state;
    enum { TRIES = 24000 };
    int seen[4 * 4 * 4 * 4] = {0};
    for (uint64_t epoch = 0; epoch < TRIES; epoch++) {
        int64_t order[4];
        axle__permutation(1, epoch, 4, order);
        seen[((order[0] * 4 + order[1]) * 4 + order[2]) * 4 + order[3]]++;
    }
    int kinds = 0;
    for (int k = 0; k < 256; k++) {
        kinds += seen[k] > 0;
        /* Five standard deviations of 1000. */
        assert_true(seen[k] == 0 || abs(seen[k] - 1000) < 155);
    }
    assert_int_equal(kinds, 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_global_batch_is_split_first_processes_first),
        cmocka_unit_test(a_set_that_divides_evenly_keeps_its_last_batch),
        cmocka_unit_test(a_process_without_a_row_gets_a_weightless_one),
        cmocka_unit_test(a_set_smaller_than_a_global_batch_gives_one_on_each_process),
        cmocka_unit_test(an_empty_set_has_no_batch),
        cmocka_unit_test(dropping_the_last_drops_global_batches_only),
        cmocka_unit_test(every_row_comes_once_for_any_split),
        cmocka_unit_test(shares_of_the_last_batch_differ_by_one_row_at_most),
        cmocka_unit_test(an_order_holds_each_sample_once),
        cmocka_unit_test(an_order_follows_from_seed_and_epoch),
        cmocka_unit_test(an_order_is_the_same_for_ever),
        cmocka_unit_test(orders_are_equally_likely),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
