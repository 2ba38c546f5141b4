/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "axle/text.h"

enum { N = 103, BATCH = 8, SPAN = 4, BATCHES = 13 };

static int64_t lengths[N];

static axle_length_groups *create(uint64_t seed)
{
    axle_length_groups_options options = AXLE_LENGTH_GROUPS_OPTIONS_INIT;
    axle_length_groups *groups;
    options.batch_size = BATCH;
    options.span = SPAN;
    options.seed = seed;
    for (int64_t k = 0; k < N; k++)
        lengths[k] = 5 + k * 37 % 61;
    lengths[50] = 200;
    assert_int_equal(axle_length_groups_create(lengths, N, &options, &groups), AXLE_OK);
    return groups;
}

static void each_sample_is_there_once(void **state)
{
    (void)state;
    int64_t order[N], ends[N];
    char seen[N] = {0};
    axle_length_groups *groups = create(1);
    assert_int_equal(axle_length_groups_batches(3, N, order, ends, groups), BATCHES);
    for (int k = 0; k < BATCHES; k++)
        assert_int_equal(ends[k], k + 1 < BATCHES ? (k + 1) * BATCH : N);
    for (int k = 0; k < N; k++)
        seen[order[k]]++;
    for (int k = 0; k < N; k++)
        assert_int_equal(seen[k], 1);
    axle_length_groups_release(groups);
}

static int64_t padded(const int64_t *order)
{
    int64_t sum = 0;
    for (int first = 0; first < N; first += BATCH) {
        int64_t longest = 0, count = N - first < BATCH ? N - first : BATCH;
        for (int64_t k = first; k < first + count; k++)
            longest = lengths[order[k]] > longest ? lengths[order[k]] : longest;
        sum += longest * count;
    }
    return sum;
}

static void less_is_padded_and_the_longest_come_first(void **state)
{
    (void)state;
    int64_t order[N], ends[N], shuffled[N];
    axle_length_groups *groups = create(1);
    assert_int_equal(axle_length_groups_batches(0, N, order, ends, groups), BATCHES);
    assert_int_equal(axle_epoch_order(1, 0, N, shuffled), AXLE_OK);
    assert_true(padded(order) * 5 < padded(shuffled) * 4);
    assert_int_equal(order[0], 50);
    axle_length_groups_release(groups);
}

static void order_follows_from_seed_and_epoch(void **state)
{
    (void)state;
    int64_t first[N], second[N], ends[N];
    axle_length_groups *groups = create(1), *other = create(2);
    axle_length_groups_batches(4, N, first, ends, groups);
    axle_length_groups_batches(5, N, second, ends, groups);
    assert_memory_not_equal(first, second, sizeof(first));
    axle_length_groups_batches(4, N, second, ends, other);
    assert_memory_not_equal(first, second, sizeof(first));
    axle_length_groups_batches(4, N, second, ends, groups);
    assert_memory_equal(first, second, sizeof(first));
    axle_length_groups_release(groups);
    axle_length_groups_release(other);
}

static void fewer_samples_than_a_batch_are_one(void **state)
{
    (void)state;
    axle_length_groups_options options = AXLE_LENGTH_GROUPS_OPTIONS_INIT;
    axle_length_groups *groups;
    int64_t order[3], ends[3];
    options.batch_size = 8;
    assert_int_equal(axle_length_groups_create((const int64_t[]){1, 3, 2}, 3, &options, &groups),
                     AXLE_OK);
    assert_int_equal(axle_length_groups_batches(0, 3, order, ends, groups), 1);
    assert_int_equal(ends[0], 3);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[2], 0);
    assert_int_equal(axle_length_groups_batches(0, 2, order, ends, groups), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "of 3 samples, for a set of 2");
    axle_length_groups_release(groups);
    options.batch_size = 0;
    assert_int_equal(axle_length_groups_create(lengths, 3, &options, &groups), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "batches of 0");
    axle_length_groups_release(NULL);
}

static const struct CMUnitTest tests[] = {
    UNIT("each sample is there once", each_sample_is_there_once),
    UNIT("less is padded, and the longest come first", less_is_padded_and_the_longest_come_first),
    UNIT("the order follows from seed and epoch", order_follows_from_seed_and_epoch),
    UNIT("fewer samples than a batch are one", fewer_samples_than_a_batch_are_one),
};
UNIT_MAIN(tests)
