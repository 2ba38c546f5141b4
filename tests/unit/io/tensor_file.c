/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "axle/autograd.h"
#include "axle/ops.h"
#include "axle/safetensors.h"

static const char *const names[] = {"a", "b", "c"};

/* f32 (2, 3), i64 (2), f32 (); of the thread's scope. */
static void make(axle_tensor *out[3])
{
    static const float values[] = {1.0F, -2.0F, 0.5F, 3.25F, 65504.0F, 5.960464477539063e-8F};
    out[0] = axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(2, 3), values);
    out[1] = axle_arange(AXLE_DTYPE_I64, 7.0, 9.0, 1.0);
    out[2] = axle_scalar(AXLE_DTYPE_F32, 1.5);
    assert_ok(axle_tensor_set_requires_grad(out[0], 1));
}

static void write_with(int dtype, uint64_t shard_size)
{
    static const char *const metadata[1][2] = {{"format", "pt"}};
    axle_tensor_file_options options = AXLE_TENSOR_FILE_OPTIONS_INIT;
    axle_tensor *tensors[3];
    make(tensors);
    options.base = "some";
    options.dtype = dtype;
    options.shard_size = shard_size;
    options.metadata = metadata;
    options.metadata_count = 1;
    assert_ok(axle_tensor_file_write(files_folder, names, tensors, 3, &options));
    axle_scope_pop();
}

static int open_and_close(void)
{
    axle_tensor_file *file;
    int status = axle_tensor_file_open(files_folder, "some", &file);
    if (!status)
        axle_tensor_file_close(file);
    return status;
}

/* Every tensor is in the file, with the values it had. */
static void expect_all(int dtype)
{
    axle_tensor_file *file;
    axle_tensor *tensors[3];
    make(tensors);
    assert_ok(axle_tensor_file_open(files_folder, "some", &file));
    assert_int_equal(axle_tensor_file_count(file), 3);
    assert_string_equal(axle_tensor_file_metadata(file, "format"), "pt");
    assert_null(axle_tensor_file_metadata(file, "shape"));
    for (int k = 0; k < 3; k++) {
        const axle_stored_tensor *stored = axle_tensor_file_find(file, names[k]);
        assert_non_null(stored);
        bool real = axle_dtype_is_float(axle_tensor_dtype(tensors[k]));
        assert_int_equal(stored->dtype, real ? dtype : AXLE_DTYPE_I64);
        axle_tensor *read = axle_empty(axle_tensor_dtype(tensors[k]), axle_tensor_rank(tensors[k]),
                                       axle_tensor_dims(tensors[k]));
        double same = 0.0;
        assert_ok(axle_tensor_file_read(stored, read));
        assert_ok(axle_tensor_item(
            axle_cast(axle_all(axle_eq(read, tensors[k]), 0, NULL, 0), AXLE_DTYPE_F32), &same));
        assert_true(same == 1.0);
    }
    axle_tensor_file_close(file);
    axle_scope_pop();
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    write_with(0, 0);
    assert_int_equal(files_count(0), 1);
    expect_all(AXLE_DTYPE_F32);
    write_with(AXLE_DTYPE_F16, 0); /* the values are halves */
    expect_all(AXLE_DTYPE_F16);
    write_with(AXLE_DTYPE_F64, 0);
    expect_all(AXLE_DTYPE_F64);
}

static void large_files_are_several(void **state)
{
    (void)state;
    files_count(1);
    write_with(0, 24);
    assert_int_equal(files_count(0), 3); /* two and the index */
    expect_all(AXLE_DTYPE_F32);
    files_count(1);
}

static void positions_and_names_have_bounds(void **state)
{
    (void)state;
    axle_tensor_file *file;
    write_with(0, 0);
    assert_ok(axle_tensor_file_open(files_folder, "some", &file));
    assert_null(axle_tensor_file_find(file, "d"));
    assert_int_equal(axle_error_code(), AXLE_OK);
    assert_null(axle_tensor_file_at(file, 3));
    assert_failed(axle_error_code(), AXLE_ERR_INDEX, "3 of 3", NULL);
    assert_null(axle_tensor_file_at(file, -1));
    axle_error_clear();
    axle_tensor_file_close(file);
    axle_tensor_file_close(NULL);
}

static void tensors_must_fit(void **state)
{
    (void)state;
    axle_tensor_file *file;
    write_with(0, 0);
    assert_ok(axle_tensor_file_open(files_path("some.safetensors"), NULL, &file));
    const axle_stored_tensor *stored = axle_tensor_file_find(file, "a");
    axle_tensor *other = axle_empty(AXLE_DTYPE_F32, AXLE_DIMS(3, 2));
    assert_failed(axle_tensor_file_read(stored, other), AXLE_ERR_SHAPE, "'a'", "(2, 3)", NULL);
    other = axle_empty(AXLE_DTYPE_I64, AXLE_DIMS(2, 3));
    assert_failed(axle_tensor_file_read(stored, other), AXLE_ERR_DTYPE, "f32", "i64", NULL);
    assert_failed(axle_tensor_file_read(NULL, other), AXLE_ERR_INVALID, NULL);
    axle_tensor_file_close(file);
    axle_scope_pop();
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    axle_tensor_file *file;
    axle_tensor_file_options options = AXLE_TENSOR_FILE_OPTIONS_INIT;
    axle_tensor *tensors[3];
    make(tensors);
    options.dtype = AXLE_DTYPE_I32;
    assert_failed(axle_tensor_file_write(files_folder, names, tensors, 3, &options), AXLE_ERR_DTYPE,
                  "i32", NULL);
    tensors[1] = NULL;
    assert_failed(axle_tensor_file_write(files_folder, names, tensors, 3, NULL), AXLE_ERR_INVALID,
                  "a tensor", NULL);
    assert_failed(axle_tensor_file_write(NULL, names, tensors, 3, NULL), AXLE_ERR_INVALID, NULL);
    assert_failed(axle_tensor_file_open(NULL, NULL, &file), AXLE_ERR_INVALID, NULL);
    assert_failed(axle_tensor_file_open(files_path("nowhere"), NULL, &file), AXLE_ERR_NOT_FOUND,
                  "nowhere", NULL);
    axle_scope_pop();
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    write_with(0, 24);
    EACH_ALLOCATION_FAILS(open_and_close(), (void)0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(large_files_are_several),
        cmocka_unit_test(positions_and_names_have_bounds),
        cmocka_unit_test(tensors_must_fit),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("tensor_file", tests, files_setup, files_teardown);
}
