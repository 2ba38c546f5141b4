/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "axle/data.h"

static int open_and_release(const char *path)
{
    axle_dataset *set;
    int code = axle_jsonl_dataset_open(path, &set);
    if (!code)
        axle_dataset_release(set);
    return code;
}

static axle_batch *read_all(const char *text)
{
    axle_dataset *set;
    axle_batch *batch;
    assert_ok(axle_jsonl_dataset_open(files_write_text("a.jsonl", text), &set));
    int64_t indices[] = {0, 1, 2, 3}, n = axle_dataset_length(set);
    assert_in_range(n, 1, 4);
    assert_ok(axle_dataset_fetch(set, indices, n, &batch));
    axle_dataset_release(set);
    return batch;
}

static const void *data_of(axle_batch *batch, const char *name, int dtype, int rank)
{
    void *data;
    axle_tensor *tensor = axle_batch_get(batch, name);
    assert_int_equal(axle_tensor_dtype(tensor), dtype);
    assert_int_equal(axle_tensor_rank(tensor), rank);
    assert_ok(axle_tensor_data(tensor, &data));
    return data;
}

static void keys_become_tensors(void **state)
{
    (void)state;
    axle_batch *batch = read_all("{\"x\": [[1.5, 2], [3, 4]], \"target\": 7}\n"
                                 "{\"target\": 9007199254740993, \"x\": [[5, 6], [7, 8]]}\r\n\n");
    const float x[] = {1.5f, 2, 3, 4, 5, 6, 7, 8};
    const int64_t target[] = {7, INT64_C(9007199254740993)};
    assert_memory_equal(data_of(batch, "x", AXLE_DTYPE_F32, 3), x, sizeof(x));
    assert_memory_equal(data_of(batch, "target", AXLE_DTYPE_I64, 1), target, sizeof(target));
    axle_batch_release(batch);
}

static void lengths_may_differ(void **state)
{
    (void)state;
    axle_batch *batch = read_all("{\"ids\": [1, 2, 3]}\n{\"ids\": []}\n{\"ids\": [4]}");
    const int64_t ids[] = {1, 2, 3, 0, 0, 0, 4, 0, 0};
    assert_memory_equal(data_of(batch, "ids", AXLE_DTYPE_I64, 2), ids, sizeof(ids));
    axle_batch_release(batch);
}

static void one_real_number_makes_the_column_f32(void **state)
{
    (void)state;
    axle_batch *batch = read_all("{\"x\": 1}\n{\"x\": 2}\n{\"x\": 0.5}\n{\"x\": 4}\n");
    const float x[] = {1, 2, 0.5f, 4};
    assert_memory_equal(data_of(batch, "x", AXLE_DTYPE_F32, 1), x, sizeof(x));
    axle_batch_release(batch);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words[2];
    } cases[] = {
        {"", {"the file is empty", ""}},
        {"[1]\n", {":1", "not an object"}},
        {"{}\n", {":1", "not an object with keys"}},
        {"{\"x\": 1}\n{\"x\": 1,}\n", {":2:", "expected near '}'"}},
        {"{\"x\": 1}\n{\"y\": 1}\n", {":2", "there is no 'x'"}},
        {"{\"x\": 1}\n{\"x\": 1, \"y\": 1}\n", {":2", "2 keys"}},
        {"{\"x\": 1}\n\n{\"x\": 1, \"x\": 2}\n", {":3:", "duplicate"}},
        {"{\"x\": \"text\"}\n", {":1: 'x'", "neither a number"}},
        {"{\"x\": true}\n", {":1: 'x'", "neither a number"}},
        {"{\"x\": [1, [2]]}\n", {":1: 'x'", "differ in depth"}},
        {"{\"x\": [[1], 2]}\n", {":1: 'x'", "mixes arrays"}},
        {"{\"x\": [[1, 2], [3]]}\n", {":1: 'x'", "differ in length"}},
        {"{\"x\": [1]}\n{\"x\": [[1]]}\n", {":2: 'x'", "another number of dims"}},
        {"{\"x\": [[[[[[[[1]]]]]]]]}\n", {":1: 'x'", "too many dims"}},
        {"{\"x\": 1e99}\n", {"'x'", "too large"}},
        {"{\"x\": 99999999999999999999}\n", {":1:", "too big integer"}},
        {"{\"x\": 1} {\"x\": 2}\n", {":1:", "end of file expected"}},
        {"{\"x\": \"\xff\"}\n", {":1:", "unable to decode"}},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        assert_failed(open_and_release(files_write_text("bad.jsonl", cases[k].text)),
                      AXLE_ERR_FORMAT, "bad.jsonl", cases[k].words[0], cases[k].words[1], NULL);
    assert_failed(open_and_release(files_path("none.jsonl")), AXLE_ERR_NOT_FOUND, "none.jsonl",
                  NULL);
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    const char *path =
        files_write_text("a.jsonl", "{\"x\": [1, 2], \"y\": 1}\n{\"x\": [], \"y\": 0.5}\n");
    EACH_ALLOCATION_FAILS(open_and_release(path), (void)0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_become_tensors),
        cmocka_unit_test(lengths_may_differ),
        cmocka_unit_test(one_real_number_makes_the_column_f32),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("json lines", tests, files_setup, files_teardown);
}
