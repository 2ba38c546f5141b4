/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <locale.h>

#include "axle/data.h"

static axle_table_options with_target(const char *target)
{
    axle_table_options options = AXLE_TABLE_OPTIONS_INIT;
    options.target = target;
    return options;
}

static int open_and_release(const char *path, const axle_table_options *options)
{
    axle_dataset *set;
    int code = axle_table_dataset_open(path, options, &set);
    if (!code)
        axle_dataset_release(set);
    return code;
}

/* Open a crafted file and fetch all of it. */
static axle_batch *read_all(const char *name, const char *text, const axle_table_options *options)
{
    axle_dataset *set;
    axle_batch *batch;
    assert_ok(axle_table_dataset_open(files_write_text(name, text), options, &set));
    int64_t indices[16], n = axle_dataset_length(set);
    assert_in_range(n, 1, 16);
    for (int64_t k = 0; k < n; k++)
        indices[k] = k;
    assert_ok(axle_dataset_fetch(set, indices, n, &batch));
    axle_dataset_release(set);
    return batch;
}

static void assert_floats(axle_batch *batch, const char *name, int64_t rows, int64_t columns,
                          const float *values)
{
    void *data;
    axle_tensor *tensor = axle_batch_get(batch, name);
    assert_int_equal(axle_tensor_dtype(tensor), AXLE_DTYPE_F32);
    assert_int_equal(axle_tensor_dims(tensor)[0], rows);
    assert_int_equal(axle_tensor_count(tensor), rows * columns);
    assert_ok(axle_tensor_data(tensor, &data));
    assert_memory_equal(data, values, (size_t)(rows * columns) * sizeof(float));
}

static void columns_become_input_and_target(void **state)
{
    (void)state;
    axle_table_options options = with_target("class");
    axle_batch *batch = read_all("a.csv", "x,class,y\n1,3,2\n-1.5e1,0, 4 \n", &options);
    const float input[] = {1, 2, -15, 4};
    void *data;
    assert_floats(batch, "input", 2, 2, input);
    assert_int_equal(axle_tensor_dtype(axle_batch_get(batch, "target")), AXLE_DTYPE_I64);
    assert_ok(axle_tensor_data(axle_batch_get(batch, "target"), &data));
    assert_int_equal(((int64_t *)data)[0], 3);
    assert_int_equal(((int64_t *)data)[1], 0);
    axle_batch_release(batch);
}

static void a_regression_target_is_f32(void **state)
{
    (void)state;
    axle_table_options options = with_target("1");
    options.header = 0;
    options.regression = 1;
    axle_batch *batch = read_all("a.csv", "1,0.5\n2,0.25\n", &options);
    const float input[] = {1, 2}, target[] = {0.5f, 0.25f};
    assert_floats(batch, "input", 2, 1, input);
    assert_floats(batch, "target", 2, 1, target);
    axle_batch_release(batch);
}

static void quotes_line_ends_and_marks_follow_the_rfc(void **state)
{
    (void)state;
    axle_table_options options = with_target("the \"last\", really\nso");
    axle_batch *batch = read_all(
        "a.csv",
        "\xef\xbb\xbf\"a,b\",\"the \"\"last\"\", really\nso\"\r\n\"1\",2\r\n3,\"4\"\r\n\r\n",
        &options);
    const float input[] = {1, 3};
    assert_floats(batch, "input", 2, 1, input);
    axle_batch_release(batch);
}

static void tsv_is_separated_by_tabs(void **state)
{
    (void)state;
    const float input[] = {1, 2, 3, 4};
    axle_batch *batch = read_all("a.tsv", "a\tb\n1\t2\n3\t4", NULL);
    assert_floats(batch, "input", 2, 2, input);
    axle_batch_release(batch);
    axle_table_options options = AXLE_TABLE_OPTIONS_INIT;
    options.separator = ';';
    batch = read_all("a.csv", "a;b\n1;2\n3;4", &options);
    assert_floats(batch, "input", 2, 2, input);
    axle_batch_release(batch);
}

static void a_decimal_point_is_one_in_any_locale(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    const char *found = NULL;
    for (size_t k = 0; !found && k < 4; k++)
        found = setlocale(LC_NUMERIC, commas[k]);
    axle_batch *batch = read_all("a.csv", "a\n1.5\n", NULL);
    setlocale(LC_NUMERIC, "C");
    const float input[] = {1.5f};
    assert_floats(batch, "input", 1, 1, input);
    axle_batch_release(batch);
}

static void what_is_no_number_is_named_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words[3];
    } cases[] = {
        {"x,y\n1,2\n3,abc\n", {":3: column 2 (y)", "'abc'", "not a number"}},
        {"x,y\n1,\n", {":2: column 2 (y)", "empty", ""}},
        {"x,y\n1,0x10\n", {":2: column 2", "'0x10'", "not a number"}},
        {"x,y\nnan,1\n", {":2: column 1 (x)", "'nan'", "not a number"}},
        {"x,y\n1,1e99\n", {":2: column 2", "too large", ""}},
        {"x,y\n1,1e999\n", {":2: column 2", "too large", ""}},
        {"x,y\n1,2 3\n", {":2: column 2", "not a number", ""}},
        {"x,y\n1,2,3\n", {":2: column 3", "has 3 columns", "first has 2"}},
        {"x,y\n1,2\n3\n", {":3: column 2", "has 1 columns", ""}},
        {"x,y\n1,2\n\n3,4\n", {":3", "the line is empty", ""}},
        {"x,\"y\nz\"\n1,2\n3,\"\n\"\n", {":4: column 2 (y?z)", "'?'", ""}},
        {"x,y\n1,\"2\n", {":2: column 2", "quote is not closed", ""}},
        {"x,y\n1,\"2\"3\n", {":2: column 2", "behind the closing quote", ""}},
        {"", {"the file is empty", "", ""}},
        {"\n\n", {"the file is empty", "", ""}},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        assert_failed(open_and_release(files_write_text("bad.csv", cases[k].text), NULL),
                      AXLE_ERR_FORMAT, "bad.csv", cases[k].words[0], cases[k].words[1],
                      cases[k].words[2], NULL);
}

static void a_nul_byte_is_refused(void **state)
{
    (void)state;
    assert_failed(open_and_release(files_write("nul.csv", "x\n1\0002\n", 6), NULL), AXLE_ERR_FORMAT,
                  "nul.csv:2", "NUL", NULL);
}

static void the_target_must_be_a_column_of_classes(void **state)
{
    (void)state;
    axle_table_options options = with_target("y");
    assert_failed(open_and_release(files_write_text("a.csv", "x,z\n1,2\n"), &options),
                  AXLE_ERR_NOT_FOUND, "a.csv", "'y'", NULL);
    assert_failed(open_and_release(files_write_text("a.csv", "y,y\n1,2\n"), &options),
                  AXLE_ERR_FORMAT, "columns 1 and 2", NULL);
    assert_failed(open_and_release(files_write_text("a.csv", "y\n1\n"), &options), AXLE_ERR_FORMAT,
                  "no column but the target", NULL);
    assert_failed(open_and_release(files_write_text("a.csv", "x,y\n1,0.5\n"), &options),
                  AXLE_ERR_FORMAT, "column 2 (y)", "not a whole number", NULL);
    assert_failed(open_and_release(files_path("none.csv"), NULL), AXLE_ERR_NOT_FOUND, "none.csv",
                  NULL);
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    axle_table_options options = with_target("y");
    const char *path = files_write_text("a.csv", "x,y\n1,2\n3,4\n");
    EACH_ALLOCATION_FAILS(open_and_release(path, &options), (void)0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_become_input_and_target),
        cmocka_unit_test(a_regression_target_is_f32),
        cmocka_unit_test(quotes_line_ends_and_marks_follow_the_rfc),
        cmocka_unit_test(tsv_is_separated_by_tabs),
        cmocka_unit_test(a_decimal_point_is_one_in_any_locale),
        cmocka_unit_test(what_is_no_number_is_named_with_its_place),
        cmocka_unit_test(a_nul_byte_is_refused),
        cmocka_unit_test(the_target_must_be_a_column_of_classes),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("table", tests, files_setup, files_teardown);
}
