/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sets.h"

#include "axle/ops.h"
#include "axle/random.h"
#include "data/loader.h"

enum { MOST = 256, ALL = 1 << 20 };

/* The stream of the numbers 0..n-1, under "input". */
typedef struct source {
    int64_t length, told;
    int64_t fail_at; /* next fails there, if it is not 0 */
    int opened, closed, skips, gone;
    bool draws; /* random numbers instead */
} source;

static source user;

/* Where a loop over it is. */
typedef struct place {
    int64_t at;
} place;

static int open_source(void *u, int64_t epoch, void **cursor)
{
    source *s = u;
    (void)epoch;
    s->opened++;
    *cursor = calloc(1, sizeof(place));
    return *cursor ? AXLE_OK : AXLE_ERR_NOMEM;
}

static int next_number(void *cursor, axle_batch *sample)
{
    place *p = cursor;
    if (p->at == user.length)
        return 0;
    if (user.fail_at && p->at == user.fail_at)
        return axle_error_set(AXLE_ERR_IO, "number %d cannot be read", (int)p->at);
    int64_t value = p->at++;
    if (user.draws) {
        double u;
        assert_ok(axle_tensor_item(axle_rand(AXLE_DTYPE_F64, AXLE_SCALAR), &u));
        value = (int64_t)(u * 1e15);
    }
    int code = numbers_give(sample, numbers_tensor(0, NULL, &value));
    return code ? code : 1;
}

static int64_t skip_numbers(void *cursor, int64_t n)
{
    place *p = cursor;
    int64_t left = user.length - p->at, count = n < left ? n : left;
    user.skips++;
    p->at += count;
    return count;
}

static void close_source(void *cursor)
{
    user.closed++;
    free(cursor);
}

static int64_t told_length(void *u)
{
    return ((source *)u)->told;
}

static void forget_source(void *u)
{
    ((source *)u)->gone++;
}

static axle_stream_class stream_class(void)
{
    axle_stream_class type = AXLE_STREAM_CLASS_INIT;
    type.name = "numbers";
    type.open = open_source;
    type.next = next_number;
    type.close = close_source;
    type.length = user.told ? told_length : NULL;
    type.destroy = forget_source;
    return type;
}

static axle_loader *open_class(const axle_stream_class *type, const axle_loader_options *options)
{
    axle_dataset *set;
    axle_loader *loader;
    assert_ok(axle_stream_dataset_create(type, &user, &set));
    assert_ok(axle_loader_create(set, options, &loader));
    axle_dataset_release(set);
    return loader;
}

static axle_loader_options loading(int64_t batch_size, int shuffle, int workers)
{
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = batch_size;
    options.shuffle = shuffle;
    options.seed = 7;
    options.workers = workers;
    return options;
}

static axle_loader *open_loader(int64_t n, axle_loader_options options)
{
    user = (source){.length = n};
    axle_stream_class type = stream_class();
    return open_class(&type, &options);
}

static void let_go(axle_loader *loader)
{
    axle_loader_release(loader);
    assert_int_equal(user.opened, user.closed);
    assert_int_equal(user.gone, 1);
}

static void epochs_come_in_order_to_the_end(void **state)
{
    (void)state;
    for (int workers = 0; workers <= 3; workers++)
        for (int64_t n = 0; n <= 9; n++) {
            axle_loader *loader = open_loader(n, loading(4, 0, workers));
            assert_true(axle_loader_length(loader) == AXLE_LENGTH_UNKNOWN);
            for (int epoch = 0; epoch < 3; epoch++) {
                axle_batch *batch;
                int64_t count = 0, steps = 0;
                assert_int_equal(axle_loader_epoch(loader), epoch);
                while (axle_loader_next(loader, &batch)) {
                    for (int64_t k = 0; k < axle_batch_rows(batch); k++)
                        assert_int_equal(numbers_of(batch)[k], count++);
                    assert_int_equal(axle_loader_position(loader), ++steps);
                    assert_int_equal(axle_loader_is_last(loader), count == n);
                }
                assert_ok(axle_loader_status(loader));
                assert_int_equal(count, n);
            }
            let_go(loader);
        }
}

static void a_last_batch_is_dropped_on_request(void **state)
{
    (void)state;
    axle_batch *batch;
    for (int64_t n = 0; n <= 9; n++) {
        axle_loader_options options = loading(4, 0, 0);
        options.drop_last = 1;
        axle_loader *loader = open_loader(n, options);
        int64_t steps = 0;
        while (axle_loader_next(loader, &batch)) {
            assert_int_equal(axle_batch_rows(batch), 4);
            assert_int_equal(axle_loader_is_last(loader), ++steps == n / 4);
        }
        assert_int_equal(steps, n / 4);
        let_go(loader);
    }
}

static void a_pool_shuffles_alike_for_each_epoch_of_a_seed(void **state)
{
    (void)state;
    int64_t first[2][100], again[100], most = 0;
    for (int workers = 0; workers < 2; workers++) {
        axle_loader_options options = loading(8, 1, workers);
        options.shuffle_buffer = 10;
        axle_loader *loader = open_loader(100, options);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(collect(loader, ALL, first[k]), 100);
            assert_each_once(first[k], 100);
        }
        assert_memory_not_equal(first[0], first[1], sizeof(again));
        for (int k = 0; k < 100; k++) {
            /* Nobody comes earlier than the pool lets him. */
            assert_true(first[0][k] - k < 10);
            most = k - first[0][k] > most ? k - first[0][k] : most;
        }
        assert_true(most > 10);
        assert_ok(axle_loader_set_epoch(loader, 0));
        assert_int_equal(collect(loader, ALL, again), 100);
        assert_memory_equal(first[0], again, sizeof(again));
        let_go(loader);
    }
    axle_loader_options options = loading(8, 1, 0);
    options.seed = 8;
    axle_loader *loader = open_loader(100, options);
    collect(loader, ALL, again);
    assert_memory_not_equal(first[0], again, sizeof(again));
    let_go(loader);
}

/* The rows of all processes, put together, are the batches of one; draws included. */
static void processes_share_the_batches_of_one(void **state)
{
    (void)state;
    for (int shuffle = 0; shuffle < 2; shuffle++)
        for (int64_t n = 1; n <= 26; n++) {
            int64_t one[MOST], many[MOST];
            axle_loader *loader = open_loader(n, loading(12, shuffle, 0));
            user.draws = n % 2;
            assert_int_equal(collect(loader, ALL, one), n);
            let_go(loader);
            for (int processes = 2; processes <= 4; processes++) {
                axle_loader *ranks[4];
                int64_t count = 0;
                axle_loader_options options = loading(12 / processes, shuffle, n % 3 == 0);
                for (int p = 0; p < processes; p++) {
                    ranks[p] = open_loader(n, options);
                    assert_ok(axle__loader_shard(ranks[p], processes, p));
                }
                user.draws = n % 2;
                for (int64_t b = 0; b < (n + 11) / 12; b++)
                    for (int p = 0; p < processes; p++)
                        count += collect(ranks[p], 1, many + count);
                assert_int_equal(count, n);
                assert_memory_equal(one, many, (size_t)n * sizeof(*one));
                axle_batch *batch;
                for (int p = 0; p < processes; p++) {
                    assert_true(axle_loader_is_last(ranks[p]));
                    assert_false(axle_loader_next(ranks[p], &batch));
                    axle_loader_release(ranks[p]);
                }
            }
        }
}

/* From each position, with another size of batches, the rest comes as it would have. */
static void a_loop_goes_on_where_it_was(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        int shuffle = kind % 2;
        int64_t whole[MOST], rest[MOST];
        axle_loader_options options = loading(4, shuffle, kind / 2);
        options.shuffle_buffer = 5;
        axle_loader *loader = open_loader(22, options);
        collect(loader, ALL, whole);
        let_go(loader);
        for (int64_t steps = 0; steps <= 6; steps++) {
            loader = open_loader(22, options);
            collect(loader, steps, rest);
            axle_loader_state at = axle_loader_get_state(loader);
            int64_t given = steps < 6 ? 4 * steps : 22;
            assert_int_equal(at.samples, given);
            assert_int_equal(at.complete, steps == 6);
            let_go(loader);
            options.batch_size = 5;
            user = (source){.length = 22};
            axle_stream_class type = stream_class();
            type.skip = skip_numbers;
            loader = open_class(&type, &options);
            options.batch_size = 4;
            assert_ok(axle_loader_set_state(loader, &at));
            assert_int_equal(axle_loader_get_state(loader).samples, given);
            assert_int_equal(collect(loader, ALL, rest), 22 - given);
            assert_memory_equal(rest, whole + given, (size_t)(22 - given) * sizeof(*rest));
            assert_int_equal(user.skips, !shuffle && given > 0 && given < 22);
            assert_int_equal(axle_loader_epoch(loader), 1);
            let_go(loader);
        }
    }
}

static void a_state_of_another_order_is_refused(void **state)
{
    (void)state;
    axle_loader_options options = loading(4, 1, 0);
    axle_loader *loader = open_loader(22, options);
    axle_loader_state at = axle_loader_get_state(loader);
    assert_true(at.shuffle_buffer == 1024 && at.length == AXLE_LENGTH_UNKNOWN);
    at.shuffle_buffer = 1000;
    assert_failed(axle_loader_set_state(loader, &at), AXLE_ERR_INVALID, "buffer of 1000, not 1024",
                  NULL);
    at.shuffle_buffer = 1024;
    at.length = 22;
    assert_failed(axle_loader_set_state(loader, &at), AXLE_ERR_INVALID, "22 samples", NULL);
    let_go(loader);
}

static void batches_may_be_passed_over_even_behind_the_end(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++)
        for (int64_t steps = 0; steps <= 4; steps++) {
            int64_t rest[MOST];
            axle_loader_options options = loading(4, 0, own);
            user = (source){.length = 10};
            axle_stream_class type = stream_class();
            type.skip = own ? skip_numbers : NULL;
            axle_loader *loader = open_class(&type, &options);
            assert_ok(axle_loader_skip(loader, steps));
            int64_t left = steps < 3 ? 10 - 4 * steps : 0;
            assert_int_equal(collect(loader, ALL, rest), left);
            assert_ok(axle_loader_status(loader));
            if (left)
                assert_int_equal(rest[0], 4 * steps);
            let_go(loader);
        }
}

static void a_length_that_is_told_must_be_true(void **state)
{
    (void)state;
    int64_t values[MOST];
    for (int64_t told = 29; told <= 31; told++) {
        user = (source){.length = 30, .told = told};
        axle_loader_options options = loading(4, 0, 0);
        axle_stream_class type = stream_class();
        axle_loader *loader = open_class(&type, &options);
        assert_int_equal(axle_loader_length(loader), 8);
        int64_t count = collect(loader, ALL, values);
        if (told == 30) {
            assert_int_equal(count, 30);
            assert_ok(axle_loader_status(loader));
        } else {
            assert_true(count < 30);
            assert_int_equal(axle_loader_status(loader), AXLE_ERR_INVALID);
            assert_non_null(strstr(axle_error_message(), told == 29 ? "29" : "31"));
            axle_error_clear();
        }
        let_go(loader);
    }
}

static void failures_end_the_epoch_and_the_next_begins_anew(void **state)
{
    (void)state;
    int64_t values[MOST];
    for (int workers = 0; workers < 2; workers++) {
        axle_loader *loader = open_loader(30, loading(4, 0, workers));
        user.fail_at = 13;
        assert_int_equal(collect(loader, ALL, values), 12);
        assert_int_equal(axle_loader_status(loader), AXLE_ERR_IO);
        assert_non_null(strstr(axle_error_message(), "number 13 cannot be read"));
        axle_error_clear();
        user.fail_at = 0;
        assert_int_equal(collect(loader, ALL, values), 30);
        assert_ok(axle_loader_status(loader));
        let_go(loader);
    }
}

static int64_t no_batches(int64_t epoch, int64_t n, int64_t *order, int64_t *ends, void *u)
{
    (void)epoch, (void)n, (void)order, (void)ends, (void)u;
    return 0;
}

static void what_needs_numbers_of_samples_is_refused(void **state)
{
    (void)state;
    axle_dataset *set, *part;
    axle_loader *loader;
    axle_batch *batch;
    int64_t zero = 0;
    user = (source){.length = 3};
    axle_stream_class type = stream_class();
    assert_ok(axle_stream_dataset_create(&type, &user, &set));
    assert_true(axle_dataset_length(set) == AXLE_LENGTH_UNKNOWN);
    assert_failed(axle_dataset_fetch(set, &zero, 1, &batch), AXLE_ERR_UNSUPPORTED, "numbers", NULL);
    assert_failed(axle_subset_dataset_create(set, 0, 1, &part), AXLE_ERR_UNSUPPORTED, "stream",
                  NULL);
    axle_loader_options options = loading(4, 0, 0);
    options.batches = no_batches;
    assert_failed(axle_loader_create(set, &options, &loader), AXLE_ERR_UNSUPPORTED, "sampler",
                  NULL);
    options = loading(4, 1, 0);
    options.shuffle_buffer = 0;
    assert_failed(axle_loader_create(set, &options, &loader), AXLE_ERR_INVALID, "shuffle_buffer",
                  NULL);
    axle_dataset_release(set);
    type.next = NULL;
    assert_failed(axle_stream_dataset_create(&type, &user, &set), AXLE_ERR_INVALID, "next", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_come_in_order_to_the_end),
        cmocka_unit_test(a_last_batch_is_dropped_on_request),
        cmocka_unit_test(a_pool_shuffles_alike_for_each_epoch_of_a_seed),
        cmocka_unit_test(processes_share_the_batches_of_one),
        cmocka_unit_test(a_loop_goes_on_where_it_was),
        cmocka_unit_test(a_state_of_another_order_is_refused),
        cmocka_unit_test(batches_may_be_passed_over_even_behind_the_end),
        cmocka_unit_test(a_length_that_is_told_must_be_true),
        cmocka_unit_test(failures_end_the_epoch_and_the_next_begins_anew),
        cmocka_unit_test(what_needs_numbers_of_samples_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
