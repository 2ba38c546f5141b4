/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sets.h"

#include "axle/ops.h"
#include "data/batch.h"

static axle_batch *fetch(axle_dataset *set, int64_t first, int64_t second)
{
    const int64_t indices[] = {first, second};
    axle_batch *batch;
    assert_ok(axle_dataset_fetch(set, indices, 2, &batch));
    return batch;
}

static axle_dataset *numbers_open(const axle_dataset_class *type, numbers *user)
{
    axle_dataset *set;
    assert_ok(axle_dataset_create(type, user, &set));
    return set;
}

/* ---- batches */

static void a_batch_counts_names_and_rows(void **state)
{
    (void)state;
    axle_batch *batch;
    const int64_t dims[] = {3, 2}, values[6] = {0};
    axle_tensor *tensor = numbers_tensor(2, dims, values), *other = numbers_tensor(1, dims, values);
    assert_ok(axle_batch_create(&batch));
    assert_int_equal(axle_batch_rows(batch), 0);
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    for (int k = 0; k < 9; k++)
        assert_ok(axle_batch_set(batch, names[k], tensor));
    assert_ok(axle_batch_set(batch, "c", other));
    assert_int_equal(axle_batch_count(batch), 9);
    assert_int_equal(axle_batch_rows(batch), 3);
    assert_int_equal(axle_batch_weight(batch), 3);
    for (int k = 0; k < 9; k++) {
        assert_string_equal(axle_batch_name(batch, k), names[k]);
        assert_ptr_equal(axle_batch_tensor(batch, k), k == 2 ? other : tensor);
    }
    assert_true(axle_batch_has(batch, "i"));
    assert_false(axle_batch_has(batch, "j"));
    assert_null(axle_batch_get(batch, "j"));
    assert_failed(axle_error_code(), AXLE_ERR_NOT_FOUND, "'j'", "a, b, c", NULL);
    assert_null(axle_batch_tensor(batch, 9));
    assert_failed(axle_error_code(), AXLE_ERR_INDEX, "9 of 9", NULL);
    assert_failed(axle_batch_set(batch, "x", NULL), AXLE_ERR_INVALID, "x is NULL", NULL);
    axle_tensor_release(tensor);
    axle_tensor_release(other);
    axle_batch_release(batch);
    axle_batch_release(NULL);
}

/* ---- data sets of one's own */

static void a_set_needs_a_length_and_a_way_to_its_samples(void **state)
{
    (void)state;
    axle_dataset *set;
    axle_dataset_class none = AXLE_DATASET_CLASS_INIT;
    assert_failed(axle_dataset_create(&none, NULL, &set), AXLE_ERR_INVALID, "no length", NULL);
    none.length = numbers_length;
    none.name = "half a set";
    assert_failed(axle_dataset_create(&none, NULL, &set), AXLE_ERR_INVALID, "half a set", "neither",
                  NULL);
}

static void get_and_fetch_give_the_same(void **state)
{
    (void)state;
    numbers user = {.length = 10};
    const axle_dataset_class *types[] = {&numbers_class, &numbers_get_class};
    for (int k = 0; k < 2; k++) {
        axle_dataset *set = numbers_open(types[k], &user);
        axle_batch *batch = fetch(set, 7, 0);
        assert_int_equal(axle_batch_rows(batch), 2);
        assert_int_equal(numbers_of(batch)[0], 7);
        assert_int_equal(numbers_of(batch)[1], 0);
        axle_batch_release(batch);
        axle_dataset_release(set);
        assert_int_equal(user.gone, k + 1);
    }
}

static void an_index_out_of_range_is_an_error(void **state)
{
    (void)state;
    numbers user = {.length = 10};
    axle_dataset *set = numbers_open(&numbers_class, &user);
    axle_batch *batch;
    const int64_t beyond = 10, below = -1;
    assert_failed(axle_dataset_fetch(set, &beyond, 1, &batch), AXLE_ERR_INDEX, "numbers",
                  "10 of 10", NULL);
    assert_failed(axle_dataset_fetch(set, &below, 1, &batch), AXLE_ERR_INDEX, "-1 of 10", NULL);
    assert_failed(axle_dataset_fetch(set, &below, 0, &batch), AXLE_ERR_INVALID, "0 samples", NULL);
    axle_dataset_release(set);
}

static int get_silently(void *user, int64_t index, axle_batch *sample)
{
    (void)user;
    (void)index;
    (void)sample;
    return AXLE_ERR_TIMEOUT;
}

static void a_callback_that_fails_is_named(void **state)
{
    (void)state;
    numbers user = {.length = 10, .fail_at = 4};
    axle_batch *batch;
    const int64_t index = 4;
    axle_dataset *set = numbers_open(&numbers_get_class, &user);
    assert_failed(axle_dataset_fetch(set, &index, 1, &batch), AXLE_ERR_IO,
                  "sample 4 cannot be read", NULL);
    axle_dataset_release(set);
    axle_dataset_class silent = numbers_get_class;
    silent.get = get_silently;
    set = numbers_open(&silent, &user);
    assert_failed(axle_dataset_fetch(set, &index, 1, &batch), AXLE_ERR_TIMEOUT, "numbers",
                  "get of sample 4", NULL);
    axle_dataset_release(set);
}

static int fetch_too_much(void *user, const int64_t *indices, int64_t n, axle_batch *batch)
{
    const int64_t more = n + 1, values[16] = {0};
    (void)user;
    (void)indices;
    return numbers_give(batch, numbers_tensor(1, &more, values));
}

static int fetch_nothing(void *user, const int64_t *indices, int64_t n, axle_batch *batch)
{
    (void)user;
    (void)indices;
    (void)n;
    (void)batch;
    return AXLE_OK;
}

static void a_batch_needs_a_row_for_each_sample(void **state)
{
    (void)state;
    numbers user = {.length = 10};
    axle_batch *batch;
    const int64_t index = 4;
    axle_dataset_class wrong = numbers_class;
    wrong.fetch = fetch_too_much;
    axle_dataset *set = numbers_open(&wrong, &user);
    assert_failed(axle_dataset_fetch(set, &index, 1, &batch), AXLE_ERR_SHAPE,
                  "2 rows for 1 samples", NULL);
    axle_dataset_release(set);
    wrong.fetch = fetch_nothing;
    set = numbers_open(&wrong, &user);
    assert_failed(axle_dataset_fetch(set, &index, 1, &batch), AXLE_ERR_INVALID, "no tensor", NULL);
    axle_dataset_release(set);
}

/* ---- built-in ones */

static void rows_of_tensors_are_samples(void **state)
{
    (void)state;
    const int64_t dims[] = {3, 2}, x[] = {0, 1, 10, 11, 20, 21}, y[] = {5, 6, 7};
    axle_tensor *tensors[] = {numbers_tensor(2, dims, x), numbers_tensor(1, dims, y)};
    const char *names[] = {"input", "target"};
    axle_dataset *set;
    assert_ok(axle_tensor_dataset_create(names, tensors, 2, &set));
    axle_tensor_release(tensors[0]);
    axle_tensor_release(tensors[1]);
    assert_int_equal(axle_dataset_length(set), 3);
    axle_batch *batch = fetch(set, 2, 0);
    const int64_t wanted[] = {20, 21, 0, 1};
    void *target;
    assert_memory_equal(numbers_of(batch), wanted, sizeof(wanted));
    assert_ok(axle_tensor_data(axle_batch_get(batch, "target"), &target));
    assert_int_equal(*(int64_t *)target, 7);
    axle_batch_release(batch);
    axle_dataset_release(set);
}

static void a_strided_tensor_is_copied(void **state)
{
    (void)state;
    const int64_t dims[] = {2, 3}, x[] = {0, 1, 2, 10, 11, 12};
    axle_tensor *tensor = numbers_tensor(2, dims, x);
    const char *name = "input";
    axle_dataset *set;
    assert_ok(axle_scope_push());
    axle_tensor *turned = axle_transpose(tensor, 0, 1);
    assert_ok(axle_tensor_dataset_create(&name, &turned, 1, &set));
    axle_scope_pop();
    axle_tensor_release(tensor);
    axle_batch *batch = fetch(set, 1, 2);
    const int64_t wanted[] = {1, 11, 2, 12};
    assert_memory_equal(numbers_of(batch), wanted, sizeof(wanted));
    axle_batch_release(batch);
    axle_dataset_release(set);
}

static void tensors_must_agree_on_their_rows(void **state)
{
    (void)state;
    const int64_t three = 3, two = 2, values[] = {0, 0, 0};
    axle_tensor *tensors[] = {numbers_tensor(1, &three, values), numbers_tensor(1, &two, values)};
    const char *names[] = {"input", "target"};
    axle_dataset *set;
    assert_failed(axle_tensor_dataset_create(names, tensors, 2, &set), AXLE_ERR_SHAPE,
                  "'target' has 2 rows", "have 3", NULL);
    axle_tensor *scalar = numbers_tensor(0, NULL, values);
    assert_failed(axle_tensor_dataset_create(names, &scalar, 1, &set), AXLE_ERR_SHAPE,
                  "'input' is a scalar", NULL);
    assert_failed(axle_tensor_dataset_create(names, tensors, 0, &set), AXLE_ERR_INVALID, NULL);
    axle_tensor_release(scalar);
    axle_tensor_release(tensors[0]);
    axle_tensor_release(tensors[1]);
}

static void a_subset_is_a_range(void **state)
{
    (void)state;
    numbers user = {.length = 10};
    const axle_dataset_class *types[] = {&numbers_class, &numbers_get_class};
    for (int k = 0; k < 2; k++) {
        axle_dataset *whole = numbers_open(types[k], &user), *part;
        assert_ok(axle_subset_dataset_create(whole, 4, 3, &part));
        assert_failed(axle_subset_dataset_create(whole, 4, 7, &part), AXLE_ERR_INDEX, "7 samples",
                      "among 10", NULL);
        assert_failed(axle_subset_dataset_create(whole, INT64_MAX, 1, &part), AXLE_ERR_INDEX, NULL);
        axle_dataset_release(whole);
        assert_int_equal(user.gone, k);
        assert_int_equal(axle_dataset_length(part), 3);
        axle_batch *batch = fetch(part, 0, 2);
        assert_int_equal(numbers_of(batch)[0], 4);
        assert_int_equal(numbers_of(batch)[1], 6);
        axle_batch_release(batch);
        axle_dataset_release(part);
        assert_int_equal(user.gone, k + 1);
    }
}

static void synthetic_pictures_follow_from_the_seed(void **state)
{
    (void)state;
    axle_dataset *some, *more, *others;
    assert_ok(axle_synthetic_image_dataset_create(200, 5, &some));
    assert_ok(axle_synthetic_image_dataset_create(500, 5, &more));
    assert_ok(axle_synthetic_image_dataset_create(200, 6, &others));
    axle_batch *a = fetch(some, 199, 3), *b = fetch(more, 199, 3), *c = fetch(others, 199, 3);
    void *x, *y, *z, *label;
    assert_ok(axle_tensor_data(axle_batch_get(a, "input"), &x));
    assert_ok(axle_tensor_data(axle_batch_get(b, "input"), &y));
    assert_ok(axle_tensor_data(axle_batch_get(c, "input"), &z));
    assert_int_equal(axle_tensor_count(axle_batch_get(a, "input")), 2 * 28 * 28);
    assert_memory_equal(x, y, 2 * 784 * sizeof(float));
    assert_memory_not_equal(x, z, 2 * 784 * sizeof(float));
    axle_batch_release(a);
    axle_batch_release(b);
    axle_batch_release(c);
    int seen[10] = {0};
    for (int64_t k = 0; k < 500; k++) {
        assert_ok(axle_dataset_fetch(more, &k, 1, &a));
        assert_ok(axle_tensor_data(axle_batch_get(a, "target"), &label));
        assert_in_range(*(int64_t *)label, 0, 9);
        seen[*(int64_t *)label]++;
        axle_batch_release(a);
    }
    for (int k = 0; k < 10; k++)
        assert_in_range(seen[k], 25, 75);
    axle_dataset_release(some);
    axle_dataset_release(more);
    axle_dataset_release(others);
    assert_failed(axle_synthetic_image_dataset_create(-1, 0, &some), AXLE_ERR_INVALID, "-1", NULL);
}

/* ---- collating */

static axle_batch *sample_of(const char *name, axle_tensor *tensor)
{
    axle_batch *sample;
    assert_ok(axle_batch_create(&sample));
    assert_ok(axle__batch_set_take(sample, name, tensor));
    return sample;
}

static void samples_are_padded_in_every_dim(void **state)
{
    (void)state;
    const int64_t wide[] = {1, 3}, high[] = {2, 1}, empty[] = {0, 2}, x[] = {1, 2, 3};
    axle_batch *samples[] = {sample_of("x", numbers_tensor(2, wide, x)),
                             sample_of("x", numbers_tensor(2, high, x)),
                             sample_of("x", numbers_tensor(2, empty, x))};
    const int64_t wanted[2][3][6] = {
        {{1, 2, 3, 0, 0, 0}, {1, 0, 0, 2, 0, 0}, {0, 0, 0, 0, 0, 0}},
        {{1, 2, 3, -7, -7, -7}, {1, -7, -7, 2, -7, -7}, {-7, -7, -7, -7, -7, -7}}};
    double pad = -7;
    for (int k = 0; k < 2; k++) {
        axle_batch *batch;
        void *data;
        assert_ok(axle_batch_create(&batch));
        assert_ok(axle_collate_pad(samples, 3, batch, k ? &pad : NULL));
        axle_tensor *joint = axle_batch_get(batch, "x");
        assert_int_equal(axle_tensor_rank(joint), 3);
        assert_int_equal(axle_tensor_dims(joint)[1], 2);
        assert_int_equal(axle_tensor_dims(joint)[2], 3);
        assert_ok(axle_tensor_data(joint, &data));
        assert_memory_equal(data, wanted[k], sizeof(wanted[k]));
        axle_batch_release(batch);
    }
    for (int k = 0; k < 3; k++)
        axle_batch_release(samples[k]);
}

static void assert_no_batch(axle_batch *first, axle_batch *second, int code, const char *words)
{
    axle_batch *samples[] = {first, second}, *batch;
    assert_ok(axle_batch_create(&batch));
    assert_failed(axle_collate_pad(samples, 2, batch, NULL), code, "collate", words, NULL);
    axle_batch_release(batch);
    axle_batch_release(first);
    axle_batch_release(second);
}

static void samples_that_do_not_match_are_refused(void **state)
{
    (void)state;
    const int64_t one[] = {1, 1, 1, 1, 1, 1, 1, 1}, value = 3;
    axle_tensor *u8;
    assert_ok(axle_tensor_create(axle_device_host(), AXLE_DTYPE_U8, 1, one, &u8));
    assert_no_batch(sample_of("x", numbers_tensor(1, one, &value)),
                    sample_of("y", numbers_tensor(1, one, &value)), AXLE_ERR_INVALID,
                    "sample 1 has no 'x'");
    assert_no_batch(sample_of("x", numbers_tensor(1, one, &value)), sample_of("x", u8),
                    AXLE_ERR_DTYPE, "i64 in sample 0, u8 in sample 1");
    assert_no_batch(sample_of("x", numbers_tensor(1, one, &value)),
                    sample_of("x", numbers_tensor(2, one, &value)), AXLE_ERR_SHAPE,
                    "rank 1 in sample 0, 2 in sample 1");
    assert_no_batch(sample_of("x", numbers_tensor(8, one, &value)),
                    sample_of("x", numbers_tensor(8, one, &value)), AXLE_ERR_SHAPE, "rank 8");
    axle_batch *empty;
    assert_ok(axle_batch_create(&empty));
    assert_no_batch(sample_of("x", numbers_tensor(1, one, &value)), empty, AXLE_ERR_INVALID,
                    "sample 1 has 0");
}

/* ---- memory */

static int make_and_fetch(numbers *user, const axle_dataset_class *type)
{
    axle_dataset *set;
    axle_batch *batch;
    const int64_t indices[] = {1, 2};
    int code = axle_dataset_create(type, user, &set);
    if (code)
        return code;
    code = axle_dataset_fetch(set, indices, 2, &batch);
    if (!code)
        axle_batch_release(batch);
    axle_dataset_release(set);
    return code;
}

static int make_synthetic(void)
{
    axle_dataset *set, *part;
    int code = axle_synthetic_image_dataset_create(3, 1, &set);
    if (code)
        return code;
    code = axle_subset_dataset_create(set, 1, 1, &part);
    if (!code)
        axle_dataset_release(part);
    axle_dataset_release(set);
    return code;
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    numbers user = {.length = 10};
    const int64_t two = 2, values[] = {1, 2};
    axle_tensor *tensor = numbers_tensor(1, &two, values);
    const char *name = "input";
    axle_dataset *set;
    EACH_ALLOCATION_FAILS(make_and_fetch(&user, &numbers_class), (void)0);
    EACH_ALLOCATION_FAILS(make_and_fetch(&user, &numbers_get_class), (void)0);
    EACH_ALLOCATION_FAILS(make_synthetic(), (void)0);
    EACH_ALLOCATION_FAILS(axle_tensor_dataset_create(&name, &tensor, 1, &set),
                          axle_dataset_release(set));
    axle_tensor_release(tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_counts_names_and_rows),
        cmocka_unit_test(a_set_needs_a_length_and_a_way_to_its_samples),
        cmocka_unit_test(get_and_fetch_give_the_same),
        cmocka_unit_test(an_index_out_of_range_is_an_error),
        cmocka_unit_test(a_callback_that_fails_is_named),
        cmocka_unit_test(a_batch_needs_a_row_for_each_sample),
        cmocka_unit_test(rows_of_tensors_are_samples),
        cmocka_unit_test(a_strided_tensor_is_copied),
        cmocka_unit_test(tensors_must_agree_on_their_rows),
        cmocka_unit_test(a_subset_is_a_range),
        cmocka_unit_test(synthetic_pictures_follow_from_the_seed),
        cmocka_unit_test(samples_are_padded_in_every_dim),
        cmocka_unit_test(samples_that_do_not_match_are_refused),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("data sets", tests, NULL, NULL);
}
