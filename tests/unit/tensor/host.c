/* SPDX-License-Identifier: Apache-2.0 */
/* Exchange of tensors with host memory, and tensors as text. */
#include "tensors.h"

static void views_are_read_row_major(void **state)
{
    (void)state;
    float out[6];
    axle_tensor *x = axle_cast(tensors_count(AXLE_DIMS(2, 3)), AXLE_DTYPE_F32);
    assert_int_equal(axle_tensor_read(axle_transpose(x, 0, 1), out, sizeof(out)), AXLE_OK);
    const float expected[] = {0, 3, 1, 4, 2, 5};
    assert_memory_equal(out, expected, sizeof(out));
    assert_int_equal(axle_tensor_read(axle_slice(x, 1, 1, 3, 1), out, 4 * sizeof(float)), AXLE_OK);
    const float part[] = {1, 2, 4, 5};
    assert_memory_equal(out, part, sizeof(part));
}

static void views_are_written_row_major(void **state)
{
    (void)state;
    axle_tensor *x = tensors_count(AXLE_DIMS(2, 3));
    const double column[] = {8, 9};
    assert_int_equal(axle_tensor_write(axle_select(x, 1, 1), column, sizeof(column)), AXLE_OK);
    EXPECT(x, 0, 8, 2, 3, 9, 5);
}

static void sizes_must_fit_exactly(void **state)
{
    (void)state;
    float values[4] = {0};
    axle_tensor *x = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(3));
    assert_int_equal(axle_tensor_read(x, values, 16), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "axle_tensor_read: f32 (3) holds 12 bytes, not 16");
    assert_int_equal(axle_tensor_write(x, values, 8), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "axle_tensor_write: f32 (3) holds 12 bytes, not 8");
    assert_int_equal(axle_tensor_write(x, NULL, 12), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no host memory");
    axle_tensor *none = axle_empty(AXLE_DTYPE_F32, AXLE_DIMS(0));
    assert_int_equal(axle_tensor_read(none, NULL, 0), AXLE_OK);
    assert_int_equal(axle_tensor_write(none, NULL, 0), AXLE_OK);
}

static void repeated_elements_are_not_written(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3};
    axle_tensor *x = axle_expand(axle_scalar(AXLE_DTYPE_F64, 5), AXLE_DIMS(3));
    assert_int_equal(axle_tensor_write(x, values, sizeof(values)), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_write: elements of (3) repeat along dim 0");
    assert_int_equal(axle_tensor_assign(x, axle_from_data(AXLE_DTYPE_F64, AXLE_DIMS(3), values)),
                     AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_assign");
    EXPECT(x, 5, 5, 5);
}

static void assign_casts(void **state)
{
    (void)state;
    axle_tensor *x = axle_zeros(AXLE_DTYPE_I32, AXLE_DIMS(2));
    assert_int_equal(axle_tensor_assign(x, VECTOR(1.9, -2.9)), AXLE_OK);
    EXPECT(x, 1, -2);
    assert_int_equal(axle_tensor_assign(x, VECTOR(1, 2, 3)), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "axle_tensor_assign: dims differ, (2) and (3)");
}

/* As if the source had been read before anything is written. */
static void assigning_from_the_same_storage_is_safe(void **state)
{
    (void)state;
    axle_tensor *x = tensors_count(AXLE_DIMS(3, 3));
    assert_int_equal(axle_tensor_assign(x, axle_transpose(x, 0, 1)), AXLE_OK);
    EXPECT(x, 0, 3, 6, 1, 4, 7, 2, 5, 8);
    axle_tensor *v = tensors_count(AXLE_DIMS(5));
    assert_int_equal(axle_tensor_assign(axle_slice(v, 0, 1, 5, 1), axle_slice(v, 0, 0, 4, 1)),
                     AXLE_OK);
    EXPECT(v, 0, 0, 1, 2, 3);
    assert_int_equal(axle_tensor_assign(v, v), AXLE_OK);
    EXPECT(v, 0, 0, 1, 2, 3);
}

static void one_element_is_an_item(void **state)
{
    (void)state;
    const int dtypes[] = {AXLE_DTYPE_F32, AXLE_DTYPE_F64, AXLE_DTYPE_F16, AXLE_DTYPE_BF16,
                          AXLE_DTYPE_U8,  AXLE_DTYPE_I32, AXLE_DTYPE_I64, AXLE_DTYPE_BOOL};
    double value = -1;
    for (size_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]); k++) {
        axle_tensor *x = axle_full(dtypes[k], AXLE_DIMS(1, 1), 1);
        assert_int_equal(axle_tensor_item(x, &value), AXLE_OK);
        assert_true(value == 1);
        value = -1;
    }
    assert_int_equal(axle_tensor_item(axle_select(tensors_count(AXLE_DIMS(9)), 0, 7), &value), 0);
    assert_true(value == 7);
    assert_int_equal(axle_tensor_item(tensors_count(AXLE_DIMS(2)), &value), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "axle_tensor_item: (2) is not one element");
    assert_int_equal(axle_tensor_item(axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0)), &value),
                     AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "(0)");
    assert_true(value == 7);
}

static void elements_have_an_address(void **state)
{
    (void)state;
    void *base, *part;
    axle_tensor *x = tensors_count(AXLE_DIMS(2, 3));
    assert_int_equal(axle_tensor_data(x, &base), AXLE_OK);
    assert_int_equal(axle_tensor_data(axle_select(x, 0, 1), &part), AXLE_OK);
    assert_ptr_equal(part, (double *)base + 3);
    assert_int_equal(axle_tensor_data(axle_empty(AXLE_DTYPE_F32, AXLE_DIMS(0)), &part), AXLE_OK);
}

static void nothing_where_a_tensor_should_be_is_told(void **state)
{
    (void)state;
    char *text;
    void *data;
    double value;
    assert_int_equal(axle_tensor_read(NULL, &value, 8), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_read: no tensor");
    assert_int_equal(axle_tensor_write(NULL, &value, 8), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_write: no tensor");
    assert_int_equal(axle_tensor_assign(NULL, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_assign: no tensor");
    assert_int_equal(axle_tensor_item(NULL, &value), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_item: no tensor");
    assert_int_equal(axle_tensor_data(NULL, &data), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_data: no tensor");
    assert_int_equal(axle_tensor_format(NULL, &text), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_tensor_format: no tensor");
    /* What made it NULL comes first. */
    assert_int_equal(axle_tensor_item(axle_sqrt(axle_zeros(AXLE_DTYPE_I32, AXLE_DIMS(1))), &value),
                     AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "sqrt");
}

static void expect_text(const axle_tensor *x, const char *expected)
{
    char *text;
    assert_int_equal(axle_tensor_format(x, &text), AXLE_OK);
    assert_string_equal(text, expected);
    axle_free(text);
}

static void tensors_have_a_text(void **state)
{
    (void)state;
    axle_tensor *x = axle_cast(tensors_count(AXLE_DIMS(2, 3)), AXLE_DTYPE_F32);
    expect_text(x, "f32 (2, 3) on reference: [[0, 1, 2], [3, 4, 5]]");
    expect_text(axle_transpose(x, 0, 1), "f32 (3, 2) on reference: [[0, 3], [1, 4], [2, 5]]");
    expect_text(axle_scalar(AXLE_DTYPE_F64, -0.125), "f64 () on reference: -0.125");
    expect_text(axle_zeros(AXLE_DTYPE_U8, AXLE_DIMS(2, 0)), "u8 (2, 0) on reference: [[], []]");
    expect_text(axle_scalar(AXLE_DTYPE_I64, 123456789012), "i64 () on reference: 123456789012");
    expect_text(axle_scalar(AXLE_DTYPE_BF16, NAN), "bf16 () on reference: nan");
    expect_text(axle_ones(AXLE_DTYPE_BOOL, AXLE_DIMS(1)), "bool (1) on reference: [1]");
}

static void long_texts_are_abridged(void **state)
{
    (void)state;
    expect_text(axle_arange(AXLE_DTYPE_I32, 0, 100, 1),
                "i32 (100) on reference: [0, 1, 2, ..., 97, 98, 99]");
    expect_text(axle_arange(AXLE_DTYPE_I32, 0, 7, 1),
                "i32 (7) on reference: [0, 1, 2, 3, 4, 5, 6]");
    char *text;
    assert_int_equal(axle_tensor_format(tensors_count(AXLE_DIMS(10, 20)), &text), AXLE_OK);
    assert_non_null(strstr(text, "[40, 41, 42, ..., 57, 58, 59], ..., [140, 141, 142"));
    assert_non_null(strstr(text, "197, 198, 199]]"));
    axle_free(text);
}

static void count_release(void *user)
{
    ++*(int *)user;
}

static void memory_of_the_program_becomes_a_tensor(void **state)
{
    (void)state;
    static float values[] = {1, 2, 3, 4};
    int released = 0;
    axle_tensor *x;
    axle_device *device = axle_device_current();
    assert_int_equal(axle_tensor_import(device, AXLE_DTYPE_F32, AXLE_DIMS(2, 2), values,
                                        count_release, &released, &x),
                     AXLE_OK);
    axle_tensor *column = axle_select(x, 1, 1), *twice = axle_add(x, x);
    EXPECT(twice, 2, 4, 6, 8);
    values[1] = 7;
    assert_int_equal(axle_tensor_assign(axle_select(x, 0, 1), VECTOR(8, 9)), AXLE_OK);
    assert_float_equal(values[3], 9, 0);
    axle_tensor_release(x);
    EXPECT(column, 7, 9);
    assert_int_equal(released, 0);
    axle_scope_pop();
    assert_int_equal(released, 1);
    assert_int_equal(axle_scope_push(), AXLE_OK);
}

static void memory_that_is_no_tensor_is_refused(void **state)
{
    (void)state;
    float values[2] = {0};
    axle_tensor *x = NULL;
    axle_device *device = axle_device_current();
    assert_int_equal(axle_tensor_import(device, AXLE_DTYPE_F32, AXLE_DIMS(1), (char *)values + 1,
                                        NULL, NULL, &x),
                     AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "a multiple of 4");
    assert_int_equal(
        axle_tensor_import(device, AXLE_DTYPE_F32, AXLE_DIMS(0), values, NULL, NULL, &x),
        AXLE_ERR_INVALID);
    assert_int_equal(axle_tensor_import(device, 99, AXLE_DIMS(1), values, NULL, NULL, &x),
                     AXLE_ERR_DTYPE);
    assert_int_equal(axle_tensor_import(NULL, AXLE_DTYPE_F32, AXLE_DIMS(1), values, NULL, NULL, &x),
                     AXLE_ERR_INVALID);
    assert_null(x);
    axle_error_clear();
}

static const struct CMUnitTest tests[] = {
    TENSORS("views are read row-major", views_are_read_row_major),
    TENSORS("views are written row-major", views_are_written_row_major),
    TENSORS("sizes of host memory must fit exactly", sizes_must_fit_exactly),
    TENSORS("repeated elements are not written", repeated_elements_are_not_written),
    TENSORS("assign casts and checks dims", assign_casts),
    TENSORS("assigning from the same storage is safe", assigning_from_the_same_storage_is_safe),
    TENSORS("one element of any type is an item", one_element_is_an_item),
    TENSORS("elements have an address", elements_have_an_address),
    TENSORS("memory of the program becomes a tensor", memory_of_the_program_becomes_a_tensor),
    TENSORS("memory that is no tensor is refused", memory_that_is_no_tensor_is_refused),
    TENSORS("nothing where a tensor should be is told", nothing_where_a_tensor_should_be_is_told),
    TENSORS("tensors have a text", tensors_have_a_text),
    TENSORS("long texts are abridged", long_texts_are_abridged),
};

UNIT_MAIN(tests)
