/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "axle/data.h"

/* A file of that version (0: none), header text and elements; returns its path. */
static const char *craft(int version, const char *header, const void *elements, size_t size)
{
    unsigned char bytes[512] = "\x93NUMPY";
    size_t length = strlen(header), at = 8;
    bytes[6] = (unsigned char)version;
    bytes[at++] = (unsigned char)length;
    bytes[at++] = (unsigned char)(length >> 8);
    if (version > 1)
        at += 2;
    memcpy(bytes + at, header, length);
    memcpy(bytes + at + length, elements, size);
    return files_write("crafted.npy", bytes, at + length + size);
}

static int read_and_release(const char *path)
{
    axle_tensor *tensor;
    int code = axle_npy_read(path, &tensor);
    if (!code)
        axle_tensor_release(tensor);
    return code;
}

static axle_tensor *read_npy(const char *path, int dtype, int rank)
{
    axle_tensor *tensor;
    assert_ok(axle_npy_read(path, &tensor));
    assert_int_equal(axle_tensor_dtype(tensor), dtype);
    assert_int_equal(axle_tensor_rank(tensor), rank);
    return tensor;
}

static void assert_bytes(axle_tensor *tensor, const void *bytes, size_t size)
{
    void *data;
    assert_ok(axle_tensor_data(tensor, &data));
    assert_memory_equal(data, bytes, size);
    axle_tensor_release(tensor);
}

static void all_three_versions_are_read(void **state)
{
    (void)state;
    static const unsigned char values[] = {1, 2, 3, 4, 5, 6};
    for (int version = 1; version <= 3; version++) {
        axle_tensor *tensor = read_npy(
            craft(version, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }  \n",
                  values, 6),
            AXLE_DTYPE_U8, 2);
        assert_int_equal(axle_tensor_dims(tensor)[0], 2);
        assert_bytes(tensor, values, 6);
    }
}

static void fortran_order_is_turned(void **state)
{
    (void)state;
    static const unsigned char stored[] = {1, 4, 2, 5, 3, 6}, turned[] = {1, 2, 3, 4, 5, 6};
    assert_bytes(
        read_npy(craft(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", stored, 6),
                 AXLE_DTYPE_U8, 2),
        turned, 6);
    static const unsigned char cube[] = {0, 4, 2, 6, 1, 5, 3, 7},
                               straight[] = {0, 1, 2, 3, 4, 5, 6, 7};
    assert_bytes(
        read_npy(craft(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2,2,2,)}", cube, 8),
                 AXLE_DTYPE_U8, 3),
        straight, 8);
}

static void either_byte_order_is_read(void **state)
{
    (void)state;
    static const unsigned char big[] = {0, 0, 1, 2}, little[] = {2, 1, 0, 0};
    const int32_t value = 258;
    assert_bytes(read_npy(craft(1, "{'descr': '>i4', 'fortran_order': False, 'shape': ()}", big, 4),
                          AXLE_DTYPE_I32, 0),
                 &value, 4);
    assert_bytes(
        read_npy(
            craft(1, "{\"shape\": (1,), \"descr\": \"<i4\", \"fortran_order\": False}", little, 4),
            AXLE_DTYPE_I32, 1),
        &value, 4);
}

static void empty_arrays_are_arrays(void **state)
{
    (void)state;
    axle_tensor *tensor =
        read_npy(craft(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 3)}", "", 0),
                 AXLE_DTYPE_F64, 2);
    assert_int_equal(axle_tensor_count(tensor), 0);
    axle_tensor_release(tensor);
}

static void malformed_headers_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"", "'{' is missing"},
        {"{'descr': '<f4', 'fortran_order': False}", "is missing"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "not a number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2}", "')' is missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "overflows"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "too many dims"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'extra': 1}", "unknown key"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "twice"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "behind the dictionary"},
        {"{'descr: <f4", "is missing"},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        assert_failed(read_and_release(craft(1, cases[k].header, "....", 4)), AXLE_ERR_FORMAT,
                      "crafted.npy", cases[k].words, NULL);
    assert_failed(read_and_release(craft(4, "{}", "", 0)), AXLE_ERR_FORMAT, "version 4.0", NULL);
    assert_failed(read_and_release(files_write_text("text.npy", "1,2,3")), AXLE_ERR_FORMAT,
                  "not a .npy file", NULL);
}

static void types_without_a_dtype_are_named(void **state)
{
    (void)state;
    static const char *const types[] = {"<i2", "<c8", "|O", "<U3", "f4", "", "?"};
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
        char header[100];
        snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}",
                 types[k]);
        assert_failed(read_and_release(craft(1, header, "....", 4)), AXLE_ERR_DTYPE, types[k],
                      NULL);
    }
}

static void the_size_must_fit(void **state)
{
    (void)state;
    const char *header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}";
    assert_failed(read_and_release(craft(1, header, "12345678", 7)), AXLE_ERR_FORMAT, "only 7 of 8",
                  NULL);
    assert_failed(read_and_release(craft(1, header, "123456789", 9)), AXLE_ERR_FORMAT,
                  "1 bytes behind", NULL);
    char bytes[10] = "\x93NUMPY\x01";
    for (size_t size = 6; size < 10; size++)
        assert_failed(read_and_release(files_write("cut.npy", bytes, size)), AXLE_ERR_FORMAT,
                      "truncated", NULL);
    bytes[8] = 1;
    assert_failed(read_and_release(files_write("cut.npy", bytes, 10)), AXLE_ERR_FORMAT, "truncated",
                  NULL);
}

static void booleans_are_zero_or_one(void **state)
{
    (void)state;
    const char *header = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}";
    assert_bytes(read_npy(craft(1, header, "\1\0\1", 3), AXLE_DTYPE_BOOL, 1), "\1\0\1", 3);
    assert_failed(read_and_release(craft(1, header, "\1\0\2", 3)), AXLE_ERR_FORMAT,
                  "element 2 is 2", NULL);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    static const int dtypes[] = {AXLE_DTYPE_F32, AXLE_DTYPE_F16, AXLE_DTYPE_F64, AXLE_DTYPE_U8,
                                 AXLE_DTYPE_I32, AXLE_DTYPE_I64, AXLE_DTYPE_BOOL};
    const int64_t dims[] = {2, 1, 3};
    unsigned char bytes[48] = {1, 0, 1, 1, 0, 1};
    for (size_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]); k++)
        for (int rank = 0; rank <= 3; rank += rank ? 2 : 1) {
            axle_tensor *tensor;
            assert_ok(axle_tensor_create(axle_device_host(), dtypes[k], rank, dims, &tensor));
            size_t size = (size_t)axle_tensor_count(tensor) * axle_dtype_size(dtypes[k]);
            assert_ok(axle_tensor_write(tensor, bytes, size));
            assert_ok(axle_npy_write(files_path("out.npy"), tensor));
            axle_tensor_release(tensor);
            tensor = read_npy(files_path("out.npy"), dtypes[k], rank);
            assert_memory_equal(axle_tensor_dims(tensor), dims, (size_t)rank * sizeof(*dims));
            assert_bytes(tensor, bytes, size);
        }
}

static void the_header_is_what_numpy_writes(void **state)
{
    (void)state;
    static const char known[] =
        "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    const int64_t three = 3;
    unsigned char bytes[200];
    axle_tensor *tensor;
    assert_ok(axle_tensor_create(axle_device_host(), AXLE_DTYPE_F32, 1, &three, &tensor));
    assert_ok(axle_npy_write(files_path("out.npy"), tensor));
    axle_tensor_release(tensor);
    FILE *file = fopen(files_path("out.npy"), "rb");
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_int_equal(size, 128 + 12);
    assert_memory_equal(bytes, known, sizeof(known) - 1);
    assert_int_equal(bytes[127], '\n');
}

static void what_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    axle_tensor *tensor;
    assert_ok(axle_tensor_create(axle_device_host(), AXLE_DTYPE_BF16, 0, NULL, &tensor));
    assert_failed(axle_npy_write(files_path("bf16.npy"), tensor), AXLE_ERR_DTYPE, "bf16.npy",
                  "no bf16", NULL);
    axle_tensor_release(tensor);
    assert_ok(axle_tensor_create(axle_device_host(), AXLE_DTYPE_U8, 0, NULL, &tensor));
    assert_failed(axle_npy_write("/nonexistent/a.npy", tensor), AXLE_ERR_IO, "/nonexistent/a.npy",
                  "No such file", NULL);
    axle_tensor_release(tensor);
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    const char *path =
        craft(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "123456", 6);
    axle_tensor *tensor;
    EACH_ALLOCATION_FAILS(read_and_release(path), (void)0);
    assert_ok(axle_npy_read(path, &tensor));
    files_count(1);
    EACH_ALLOCATION_FAILS(axle_npy_write(files_path("out.npy"), tensor), (void)0);
    assert_int_equal(files_count(1), 1);
    axle_tensor_release(tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_three_versions_are_read),
        cmocka_unit_test(fortran_order_is_turned),
        cmocka_unit_test(either_byte_order_is_read),
        cmocka_unit_test(empty_arrays_are_arrays),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(types_without_a_dtype_are_named),
        cmocka_unit_test(the_size_must_fit),
        cmocka_unit_test(booleans_are_zero_or_one),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(the_header_is_what_numpy_writes),
        cmocka_unit_test(what_cannot_be_written_is_an_error),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("npy", tests, files_setup, files_teardown);
}
