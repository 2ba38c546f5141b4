/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <locale.h>

#include "axle/data.h"
#include "axle/random.h"
#include "axle/records.h"

static axle_records *open_text(const char *name, const char *text,
                               const axle_records_options *options)
{
    axle_records *records;
    assert_ok(axle_records_open(files_write_text(name, text), options, &records));
    return records;
}

static void refused(const char *name, const char *text, int code, const char *part)
{
    axle_records *records = NULL;
    assert_failed(axle_records_open(files_write_text(name, text), NULL, &records), code, part,
                  NULL);
    assert_null(records);
}

static void csv_fields_may_hold_separators_and_newlines(void **state)
{
    (void)state;
    axle_records *records =
        open_text("a.csv", "text,label\n\"good, \"\"really\"\"\nso\",1\r\nbad,0\n\n", NULL);
    assert_int_equal(axle_records_count(records), 2);
    assert_int_equal(axle_records_column_count(records), 2);
    assert_string_equal(axle_records_column_name(records, 1), "label");
    assert_string_equal(axle_records_field(records, 0, 0), "good, \"really\"\nso");
    assert_string_equal(axle_records_field(records, 1, 0), "bad");
    assert_int_equal(axle_records_line(records, 0), 2);
    assert_int_equal(axle_records_line(records, 1), 4);
    axle_records_release(records);
}

static void tsv_takes_quotes_for_text(void **state)
{
    (void)state;
    axle_records *records = open_text("a.tsv", "text\tlabel\n\"odd\" one, two\t1\n", NULL);
    assert_string_equal(axle_records_field(records, 0, 0), "\"odd\" one, two");
    axle_records_release(records);
    axle_records_options options = AXLE_RECORDS_OPTIONS_INIT;
    options.quote = '"';
    records = open_text("a.tsv", "text\tlabel\n\"a\tb\"\t1\n", &options);
    assert_string_equal(axle_records_field(records, 0, 0), "a\tb");
    axle_records_release(records);
}

static void columns_are_found_by_name_and_number(void **state)
{
    (void)state;
    int column;
    axle_records *records = open_text("a.csv", "a,b,a\n1,2,3\n", NULL);
    assert_ok(axle_records_column(records, "b", &column));
    assert_int_equal(column, 1);
    assert_ok(axle_records_column(records, "2", &column));
    assert_int_equal(column, 2);
    assert_true(axle_records_has_column(records, "a"));
    assert_false(axle_records_has_column(records, "2"));
    assert_failed(axle_records_column(records, "a", &column), AXLE_ERR_FORMAT,
                  "columns 1 and 3 are both named 'a'", NULL);
    assert_failed(axle_records_column(records, "c", &column), AXLE_ERR_NOT_FOUND,
                  "no column 'c'; there are a, b, a", NULL);
    assert_null(axle_records_field(records, 1, 0));
    assert_failed(axle_error_code(), AXLE_ERR_INDEX, "record 1", NULL);
    axle_records_release(records);
}

static void columns_without_a_header_are_numbers(void **state)
{
    (void)state;
    int column;
    axle_records_options options = AXLE_RECORDS_OPTIONS_INIT;
    options.header = 0;
    axle_records *records = open_text("a.csv", "x,1\ny,2\n", &options);
    assert_int_equal(axle_records_count(records), 2);
    assert_ok(axle_records_column(records, "1", &column));
    assert_string_equal(axle_records_field(records, 1, column), "2");
    axle_records_release(records);
}

static void json_lines_are_texts(void **state)
{
    (void)state;
    axle_records *records =
        open_text("a.jsonl",
                  "{\"text\": \"caf\\u00e9\\n\", \"label\": 3}\n\n{\"label\": [\"a\", 1.5]}\n"
                  "{\"text\": null, \"label\": true}",
                  NULL);
    assert_int_equal(axle_records_count(records), 3);
    assert_string_equal(axle_records_field(records, 0, 0), "caf\xc3\xa9\n");
    assert_string_equal(axle_records_field(records, 0, 1), "3");
    assert_null(axle_records_field(records, 1, 0));
    assert_string_equal(axle_records_field(records, 1, 1), "[\"a\",1.5]");
    assert_null(axle_records_field(records, 2, 0));
    assert_string_equal(axle_records_field(records, 2, 1), "true");
    assert_int_equal(axle_records_line(records, 1), 3);
    assert_int_equal(axle_error_code(), AXLE_OK);
    axle_records_release(records);
}

static void numbers_have_a_point_in_every_locale(void **state)
{
    (void)state;
    double value = 0.0;
    axle_records *records = open_text("b.tsv", "x\n1.5\n1,5\n", NULL);
    setlocale(LC_ALL, "de_DE.UTF-8");
    assert_ok(axle_records_number(records, 0, 0, &value));
    setlocale(LC_ALL, "C");
    assert_true(value == 1.5);
    assert_failed(axle_records_number(records, 1, 0, &value), AXLE_ERR_FORMAT,
                  "b.tsv:3: column 'x': '1,5'", NULL);
    axle_records_release(records);
}

static void malformed_files_are_refused_with_their_line(void **state)
{
    (void)state;
    refused("a.csv", "", AXLE_ERR_FORMAT, "no record");
    refused("a.csv", "text,label\n", AXLE_ERR_FORMAT, "no record");
    refused("a.csv", "a,b\n1,2\n3\n", AXLE_ERR_FORMAT, "a.csv:3: column 2: the record has 1");
    refused("a.csv", "a,b\n\"open,2\n", AXLE_ERR_FORMAT, "not closed");
    refused("a.jsonl", "[1]\n", AXLE_ERR_FORMAT, "a.jsonl:1: the line is not an object");
    refused("a.jsonl", "{\"a\": 1}\n{\"a\": }\n", AXLE_ERR_FORMAT, "a.jsonl:2:");
    refused("a.jsonl", "{\"a\": 1}\n{\"b\": 1}\n", AXLE_ERR_FORMAT, "a.jsonl:2: there is 'b'");
    refused("a.jsonl", "{\"a\": 1, \"a\": 2}\n", AXLE_ERR_FORMAT, "duplicate");
    axle_records *records = NULL;
    assert_failed(axle_records_open(files_path("absent"), NULL, &records), AXLE_ERR_NOT_FOUND,
                  "absent", NULL);
    assert_failed(axle_records_open(NULL, NULL, &records), AXLE_ERR_INVALID, "path is NULL", NULL);
}

static int open_and_release(const char *path)
{
    axle_records *records;
    int code = axle_records_open(path, NULL, &records);
    if (!code)
        axle_records_release(records);
    return code;
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    const char *csv = files_write_text("a.csv", "text,label\na,1\nb,2\n");
    const char *lines = files_write_text("a.jsonl", "{\"text\": \"a\", \"label\": 1}\n");
    EACH_ALLOCATION_FAILS(open_and_release(csv), (void)0);
    EACH_ALLOCATION_FAILS(open_and_release(lines), (void)0);
}

static int64_t one(void *user)
{
    (void)user;
    return 1;
}

static int nothing(void *user, int64_t index, axle_batch *sample)
{
    (void)user;
    (void)index;
    (void)sample;
    return AXLE_OK;
}

static void a_set_tells_what_it_was_made_with(void **state)
{
    (void)state;
    axle_dataset_class type = AXLE_DATASET_CLASS_INIT, other;
    type.length = one;
    type.get = nothing;
    other = type;
    int mine;
    axle_dataset *set;
    assert_ok(axle_dataset_create(&type, &mine, &set));
    assert_ptr_equal(axle_dataset_user(set, &other), &mine);
    other.get = NULL;
    assert_null(axle_dataset_user(set, &other));
    assert_null(axle_dataset_user(NULL, &type));
    axle_dataset_release(set);
}

static void orders_and_blocks_follow_from_their_seed(void **state)
{
    (void)state;
    enum { N = 50 };
    int64_t a[N], b[N], seen = 0;
    uint32_t first[4], second[4];
    assert_ok(axle_epoch_order(7, 2, N, a));
    assert_ok(axle_epoch_order(7, 2, N, b));
    assert_memory_equal(a, b, sizeof(a));
    assert_ok(axle_epoch_order(7, 3, N, b));
    assert_memory_not_equal(a, b, sizeof(a));
    for (int k = 0; k < N; k++)
        seen |= (int64_t)1 << a[k];
    assert_int_equal(seen, ((int64_t)1 << N) - 1);
    assert_failed(axle_epoch_order(7, -1, N, a), AXLE_ERR_INVALID, "epoch -1", NULL);
    axle_random_block(1, 2, first);
    axle_random_block(1, 3, second);
    assert_memory_not_equal(first, second, sizeof(first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_fields_may_hold_separators_and_newlines),
        cmocka_unit_test(tsv_takes_quotes_for_text),
        cmocka_unit_test(columns_are_found_by_name_and_number),
        cmocka_unit_test(columns_without_a_header_are_numbers),
        cmocka_unit_test(json_lines_are_texts),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
        cmocka_unit_test(malformed_files_are_refused_with_their_line),
        cmocka_unit_test(a_failed_allocation_is_an_error),
        cmocka_unit_test(a_set_tells_what_it_was_made_with),
        cmocka_unit_test(orders_and_blocks_follow_from_their_seed),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("records", tests, files_setup, files_teardown);
}
