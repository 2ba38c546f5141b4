/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "io/safetensors.h"

/* A file of the true length N, a header and `data_size` bytes of 1; returns its path. */
static const char *craft(const char *header, size_t data_size)
{
    unsigned char bytes[1024] = {0};
    size_t length = strlen(header);
    bytes[0] = (unsigned char)length;
    bytes[1] = (unsigned char)(length >> 8);
    memcpy(bytes + 8, header, length);
    memset(bytes + 8 + length, 1, data_size);
    return files_write("crafted.safetensors", bytes, 8 + length + data_size);
}

static int open_and_close(const char *path)
{
    axle__safetensors *file;
    int code = axle__safetensors_open(path, &file);
    if (!code)
        axle__safetensors_close(file);
    return code;
}

static axle__safetensors *open_crafted(const char *header, size_t data_size)
{
    axle__safetensors *file;
    assert_ok(axle__safetensors_open(craft(header, data_size), &file));
    return file;
}

#define TENSOR(name, dtype, shape, offsets)                                                        \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

/* ---- what is valid */

static void keys_come_in_any_order(void **state)
{
    (void)state;
    axle__safetensors *file = open_crafted(
        "{" TENSOR("b", "F32", "[1]",
                   "[4,8]") ",\"a\":{\"data_offsets\":[0,4],\"shape\":[2,2],\"dtype\":\"U8\"}}",
        8);
    assert_int_equal(axle__safetensors_count(file), 2);
    assert_string_equal(axle__safetensors_at(file, 0)->name, "a");
    const axle__safetensors_entry *b = axle__safetensors_find(file, "b");
    assert_int_equal(b->dtype, AXLE_DTYPE_F32);
    assert_int_equal(b->rank, 1);
    assert_int_equal(b->size, 4);
    assert_ptr_equal(b->data, (const char *)axle__safetensors_at(file, 0)->data + 4);
    assert_null(axle__safetensors_find(file, "c"));
    assert_int_equal(axle_error_code(), AXLE_OK);
    axle__safetensors_close(file);
}

static void a_header_may_end_with_spaces(void **state)
{
    (void)state;
    axle__safetensors_close(open_crafted("{" TENSOR("a", "F32", "[1]", "[0,4]") "}    ", 4));
}

static void an_empty_shape_is_a_scalar(void **state)
{
    (void)state;
    axle__safetensors *file = open_crafted("{" TENSOR("a", "F64", "[]", "[0,8]") "}", 8);
    assert_int_equal(axle__safetensors_at(file, 0)->rank, 0);
    axle__safetensors_close(file);
}

static void tensors_without_elements_lie_anywhere_between(void **state)
{
    (void)state;
    axle__safetensors *file = open_crafted(
        "{" TENSOR("full", "U8", "[4]", "[0,4]") "," TENSOR(
            "first", "F32", "[0]", "[0,0]") "," TENSOR("last", "F32", "[3,0]", "[4,4]") "}",
        4);
    assert_int_equal(axle__safetensors_count(file), 3);
    axle__safetensors_close(file);
}

static void starts_need_no_alignment(void **state)
{
    (void)state;
    axle__safetensors_close(open_crafted(
        "{" TENSOR("a", "U8", "[1]", "[0,1]") "," TENSOR("b", "F32", "[1]", "[1,5]") "}", 5));
}

static void a_file_may_hold_no_tensor(void **state)
{
    (void)state;
    axle__safetensors *file = open_crafted("{\"__metadata__\":{\"format\":\"pt\"}}", 0);
    assert_int_equal(axle__safetensors_count(file), 0);
    assert_string_equal(axle__safetensors_metadata(file, "format"), "pt");
    assert_null(axle__safetensors_metadata(file, "other"));
    axle__safetensors_close(file);
    file = open_crafted("{}", 0);
    assert_null(axle__safetensors_metadata(file, "format"));
    axle__safetensors_close(file);
}

/* ---- what is not */

static void a_length_of_2_to_the_63_is_refused(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0, 0, 0, 0, 0, 0, 0, 0x80, '{', '}'};
    assert_failed(open_and_close(files_write("huge.st", bytes, sizeof(bytes))), AXLE_ERR_FORMAT,
                  "huge.st", "9223372036854775808", NULL);
}

static void a_header_longer_than_the_file_is_refused(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {3, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
    assert_failed(open_and_close(files_write("long.st", bytes, sizeof(bytes))), AXLE_ERR_FORMAT,
                  "long.st", "3 bytes, but only 2 follow", NULL);
}

static void a_file_of_7_bytes_is_refused(void **state)
{
    (void)state;
    assert_failed(open_and_close(files_write("seven.st", "1234567", 7)), AXLE_ERR_FORMAT,
                  "7 bytes are too few", NULL);
    assert_failed(open_and_close(files_write("empty.st", "", 0)), AXLE_ERR_FORMAT,
                  "0 bytes are too few", NULL);
}

static void every_malformed_file_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *words[2];
    } cases[] = {
        {"{" TENSOR("a", "F32", "[1000,1000]", "[0,4]") "}",
         4,
         {"tensor 'a'", "4 bytes where its shape needs 4000000"}},
        {"{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("b", "F32", "[1]", "[0,4]") "}",
         4,
         {"overlap", "'b'"}},
        {"{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("b", "F32", "[1]", "[8,12]") "}",
         12,
         {"4 bytes before", "'b'"}},
        {"{" TENSOR("a", "F32", "[1]", "[0,4]") "}", 5, {"1 bytes after", "'a'"}},
        {"{" TENSOR("a", "F32", "[4294967296,4294967296]", "[0,4]") "}",
         4,
         {"tensor 'a'", "overflows"}},
        {"{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("a", "F32", "[1]", "[4,8]") "}",
         8,
         {"\"a\" twice", ""}},
        {"{" TENSOR("a", "F32", "[1]", "[-4,0]") "}", 4, {"tensor 'a'", "[-4, 0]"}},
        {"{" TENSOR("a", "F8_E4M3", "[4]", "[0,4]") "}", 4, {"tensor 'a'", "F8_E4M3"}},
        {"{" TENSOR("a", "F32", "[1]", "[4,0]") "}", 4, {"tensor 'a'", "[4, 0]"}},
        {"{" TENSOR("a", "F32", "[2]", "[0,8]") "}", 4, {"tensor 'a'", "ends at byte 8 of 4"}},
        {"{" TENSOR("a", "F32", "[0]", "[2,2]") "," TENSOR("b", "F32", "[1]", "[0,4]") "}",
         4,
         {"overlap", "'a'"}},
        {"{" TENSOR("a", "F32", "[-1]", "[0,4]") "}", 4, {"tensor 'a'", "dim 0"}},
        {"{" TENSOR("a", "F32", "[1.0]", "[0,4]") "}", 4, {"tensor 'a'", "dim 0"}},
        {"{" TENSOR("a", "F32", "1", "[0,4]") "}", 4, {"tensor 'a'", "no shape"}},
        {"{" TENSOR("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4, {"tensor 'a'", "9 dims"}},
        {"{" TENSOR("a", "F32", "[1]", "[0,4,8]") "}", 4, {"tensor 'a'", "data_offsets"}},
        {"{" TENSOR("a", "F32", "[1]", "[0,4.0]") "}", 4, {"tensor 'a'", "data_offsets"}},
        {"{" TENSOR("a", "F32", "[1]", "[0,99999999999999999999]") "}", 4, {"not valid JSON", ""}},
        {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, {"tensor 'a'", "no dtype"}},
        {"{\"a\":7}", 0, {"tensor 'a'", "object"}},
        {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
         4,
         {"\"dtype\" twice", ""}},
        {"{\"__metadata__\":{\"x\":1}}", 0, {"__metadata__", "'x'"}},
        {"{\"__metadata__\":[]}", 0, {"__metadata__", ""}},
        {"{} {}", 0, {"not valid JSON", ""}},
        {"{", 0, {"not valid JSON", ""}},
        {"[]", 0, {"begin with {", ""}},
        {" {}", 0, {"begin with {", ""}},
        {"", 0, {"begin with {", ""}},
        {"{\"\xff\":1}", 0, {"not valid JSON", ""}},
        {"{}", 1, {"1 bytes after", ""}},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        assert_failed(open_and_close(craft(cases[k].header, cases[k].data)), AXLE_ERR_FORMAT,
                      "crafted.safetensors", cases[k].words[0], cases[k].words[1], NULL);
}

static void a_long_repeated_name_is_quoted_whole(void **state)
{
    (void)state;
    assert_failed(open_and_close(craft("{\"encoder.layer.10.attention.self.query.weight\":1,"
                                       "\"encoder.layer.10.attention.self.query.weight\":1}",
                                       0)),
                  AXLE_ERR_FORMAT, "\"encoder.layer.10.attention.self.query.weight\" twice", NULL);
}

static void booleans_are_zero_or_one(void **state)
{
    (void)state;
    static const char header[] = "{" TENSOR("a", "BOOL", "[2]", "[0,2]") "}";
    unsigned char bytes[128] = {sizeof(header) - 1};
    memcpy(bytes + 8, header, sizeof(header) - 1);
    bytes[8 + sizeof(header)] = 2;
    assert_failed(open_and_close(files_write("bool.st", bytes, 8 + sizeof(header) + 1)),
                  AXLE_ERR_FORMAT, "tensor 'a'", "element 1 is 2", NULL);
}

static void any_byte_of_a_file_may_be_wrong(void **state)
{
    (void)state;
    static const char header[] =
        "{" TENSOR("a", "F32", "[2,1]", "[0,8]") "," TENSOR("b", "BOOL", "[1]", "[8,9]") "}";
    size_t size = 8 + sizeof(header) - 1 + 9;
    for (size_t k = 0; k < size; k++)
        for (int value = 0; value < 256; value += k < 8 ? 1 : 7) {
            /* Memory of just that size lets tools see what is read beyond it. */
            unsigned char *bytes = calloc(1, size);
            axle__safetensors *file;
            bytes[0] = sizeof(header) - 1;
            memcpy(bytes + 8, header, sizeof(header) - 1);
            bytes[k] = (unsigned char)value;
            if (axle__safetensors_parse("flipped", bytes, size, &file) == AXLE_OK)
                axle__safetensors_close(file);
            axle_error_clear();
            free(bytes);
        }
}

static void files_that_are_not_there_are_named(void **state)
{
    (void)state;
    assert_failed(open_and_close(files_path("none.st")), AXLE_ERR_NOT_FOUND, "none.st",
                  "No such file", NULL);
    assert_failed(open_and_close(files_folder), AXLE_ERR_IO, files_folder, NULL);
}

/* ---- writing */

static axle_tensor *tensor_of(int dtype, int rank, const int64_t *dims, const void *bytes)
{
    axle_tensor *tensor;
    assert_ok(axle_tensor_create(axle_device_host(), dtype, rank, dims, &tensor));
    assert_ok(axle_tensor_write(tensor, bytes,
                                (size_t)axle_tensor_count(tensor) * axle_dtype_size(dtype)));
    return tensor;
}

static void every_dtype_reads_back_bit_by_bit(void **state)
{
    (void)state;
    static const int dtypes[] = {AXLE_DTYPE_U8,  AXLE_DTYPE_F32, AXLE_DTYPE_F16, AXLE_DTYPE_BF16,
                                 AXLE_DTYPE_F64, AXLE_DTYPE_I32, AXLE_DTYPE_I64, AXLE_DTYPE_BOOL};
    enum { COUNT = sizeof(dtypes) / sizeof(dtypes[0]) };
    const int64_t dims[] = {1, 3};
    unsigned char bytes[24];
    axle__named_tensor named[COUNT];
    axle__safetensors *file;
    static const char *const metadata[][2] = {{"format", "axle"}, {"note", "\xc3\xa4 \"quoted\""}};
    for (int k = 0; k < 24; k++)
        bytes[k] = (unsigned char)(k * 37 + 1);
    for (int k = 0; k < COUNT; k++) {
        const void *data = dtypes[k] == AXLE_DTYPE_BOOL ? (const void *)"\1\0\1" : bytes;
        named[k] =
            (axle__named_tensor){axle_dtype_name(dtypes[k]), tensor_of(dtypes[k], 2, dims, data)};
    }
    const char *path = files_path("out.safetensors");
    assert_ok(axle__safetensors_write(path, named, COUNT, metadata, 2));
    assert_ok(axle__safetensors_open(path, &file));
    assert_int_equal(axle__safetensors_count(file), COUNT);
    for (int k = 0; k < COUNT; k++) {
        const axle__safetensors_entry *entry = axle__safetensors_find(file, named[k].name);
        assert_int_equal(entry->dtype, dtypes[k]);
        assert_int_equal(entry->rank, 2);
        assert_int_equal(entry->dims[1], 3);
        assert_int_equal((uintptr_t)entry->data % axle_dtype_size(dtypes[k]), 0);
        assert_memory_equal(entry->data,
                            dtypes[k] == AXLE_DTYPE_BOOL ? (const void *)"\1\0\1" : bytes,
                            entry->size);
        axle_tensor_release((axle_tensor *)(uintptr_t)named[k].tensor);
    }
    assert_string_equal(axle__safetensors_metadata(file, "note"), metadata[1][1]);
    axle__safetensors_close(file);
}

static void the_data_begin_at_a_multiple_of_8(void **state)
{
    (void)state;
    char name[] = "aaaaaaaaa";
    for (size_t length = 1; length < sizeof(name) - 1; length++) {
        unsigned char size[8];
        char text[16];
        snprintf(text, sizeof(text), "%.*s", (int)length, name);
        axle__named_tensor named = {text, tensor_of(AXLE_DTYPE_U8, 0, NULL, "x")};
        assert_ok(axle__safetensors_write(files_path("out.st"), &named, 1, NULL, 0));
        axle_tensor_release((axle_tensor *)(uintptr_t)named.tensor);
        FILE *file = fopen(files_path("out.st"), "rb");
        assert_int_equal(fread(size, 1, 8, file), 8);
        fclose(file);
        assert_int_equal(size[0] % 8, 0);
        assert_ok(open_and_close(files_path("out.st")));
    }
}

static void nothing_is_a_valid_file(void **state)
{
    (void)state;
    assert_ok(axle__safetensors_write(files_path("none.st"), NULL, 0, NULL, 0));
    assert_ok(open_and_close(files_path("none.st")));
}

static void bad_names_are_refused(void **state)
{
    (void)state;
    axle_tensor *tensor = tensor_of(AXLE_DTYPE_U8, 0, NULL, "x");
    const axle__named_tensor twice[] = {{"a", tensor}, {"a", tensor}};
    const axle__named_tensor bytes = {"\xff", tensor}, reserved = {"__metadata__", tensor};
    const char *path = files_path("names.st");
    assert_failed(axle__safetensors_write(path, twice, 2, NULL, 0), AXLE_ERR_INVALID, "names.st",
                  "'a'", NULL);
    assert_failed(axle__safetensors_write(path, &bytes, 1, NULL, 0), AXLE_ERR_INVALID, "UTF-8",
                  NULL);
    assert_failed(axle__safetensors_write(path, &reserved, 1, NULL, 0), AXLE_ERR_INVALID,
                  "__metadata__", NULL);
    assert_int_not_equal(access(path, F_OK), 0);
    axle_tensor_release(tensor);
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    axle_tensor *tensor = tensor_of(AXLE_DTYPE_U8, 0, NULL, "x");
    const axle__named_tensor named[] = {{"a", tensor}, {"b", tensor}};
    files_count(1);
    EACH_ALLOCATION_FAILS(axle__safetensors_write(files_path("a.st"), named, 2, NULL, 0), (void)0);
    assert_int_equal(files_count(0), 1);
    EACH_ALLOCATION_FAILS(open_and_close(files_path("a.st")), (void)0);
    axle_tensor_release(tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_in_any_order),
        cmocka_unit_test(a_header_may_end_with_spaces),
        cmocka_unit_test(an_empty_shape_is_a_scalar),
        cmocka_unit_test(tensors_without_elements_lie_anywhere_between),
        cmocka_unit_test(starts_need_no_alignment),
        cmocka_unit_test(a_file_may_hold_no_tensor),
        cmocka_unit_test(a_length_of_2_to_the_63_is_refused),
        cmocka_unit_test(a_header_longer_than_the_file_is_refused),
        cmocka_unit_test(a_file_of_7_bytes_is_refused),
        cmocka_unit_test(every_malformed_file_is_refused_by_name),
        cmocka_unit_test(a_long_repeated_name_is_quoted_whole),
        cmocka_unit_test(booleans_are_zero_or_one),
        cmocka_unit_test(any_byte_of_a_file_may_be_wrong),
        cmocka_unit_test(files_that_are_not_there_are_named),
        cmocka_unit_test(every_dtype_reads_back_bit_by_bit),
        cmocka_unit_test(the_data_begin_at_a_multiple_of_8),
        cmocka_unit_test(nothing_is_a_valid_file),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("safetensors", tests, files_setup, files_teardown);
}
