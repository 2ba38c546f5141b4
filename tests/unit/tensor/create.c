/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

static const int dtypes[] = {
#define DTYPE(name, number, bytes, text) number,
    AXLE_DTYPE_LIST(DTYPE)
#undef DTYPE
};
enum { N_DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

static void every_element_type_is_filled(void **state)
{
    (void)state;
    for (int k = 0; k < N_DTYPES; k++) {
        EXPECT(axle_ones(dtypes[k], AXLE_DIMS(2, 2)), 1, 1, 1, 1);
        EXPECT(axle_zeros(dtypes[k], AXLE_DIMS(3)), 0, 0, 0);
        EXPECT(axle_scalar(dtypes[k], 1), 1);
        assert_int_equal(axle_tensor_count(axle_empty(dtypes[k], AXLE_DIMS(5, 0))), 0);
    }
    EXPECT(axle_full(AXLE_DTYPE_BOOL, AXLE_DIMS(2), 0.25), 1, 1);
    EXPECT(axle_full(AXLE_DTYPE_I32, AXLE_DIMS(2), -2.9), -2, -2);
}

static void integers_take_the_nearest_of_what_they_cannot_hold(void **state)
{
    (void)state;
    int64_t value;
    assert_int_equal(
        axle_tensor_read(axle_full(AXLE_DTYPE_I64, AXLE_SCALAR, 1e300), &value, sizeof(value)), 0);
    assert_true(value == INT64_MAX);
    assert_int_equal(
        axle_tensor_read(axle_full(AXLE_DTYPE_I64, AXLE_SCALAR, -INFINITY), &value, sizeof(value)),
        0);
    assert_true(value == INT64_MIN);
    EXPECT(axle_full(AXLE_DTYPE_I64, AXLE_SCALAR, NAN), 0);
}

static void arange_counts(void **state)
{
    (void)state;
    EXPECT(axle_arange(AXLE_DTYPE_F32, 0, 1, 0.25), 0, 0.25, 0.5, 0.75);
    EXPECT(axle_arange(AXLE_DTYPE_I64, 5, 0, -2), 5, 3, 1);
    assert_int_equal(axle_tensor_count(axle_arange(AXLE_DTYPE_F32, 1, 0, 1)), 0);
    assert_int_equal(axle_tensor_count(axle_arange(AXLE_DTYPE_F32, 1, 1, 1)), 0);
    const double bad[][3] = {{0, 1, 0},     {0, 0, 0},      {0, NAN, 1},
                             {NAN, 1, 1},   {0, 1, NAN},    {0, INFINITY, 1},
                             {0, 1e300, 1}, {0, 1, 1e-300}, {-INFINITY, 0, 1}};
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        assert_null(axle_arange(AXLE_DTYPE_F64, bad[k][0], bad[k][1], bad[k][2]));
        unit_expect_error(AXLE_ERR_INVALID, "arange: from ");
    }
}

static void bad_dims_are_refused(void **state)
{
    (void)state;
    assert_null(axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(2, -3)));
    unit_expect_error(AXLE_ERR_SHAPE, "full: dim 1 is negative, -3");
    assert_null(axle_empty(AXLE_DTYPE_F32, 9, (int64_t[9]){1}));
    unit_expect_error(AXLE_ERR_SHAPE, "empty: rank 9");
    assert_null(axle_empty(AXLE_DTYPE_F32, -1, NULL));
    unit_expect_error(AXLE_ERR_SHAPE, "empty: rank -1");
    assert_null(axle_empty(AXLE_DTYPE_F32, 2, NULL));
    unit_expect_error(AXLE_ERR_INVALID, "empty: rank 2 without dims");
    assert_null(axle_rand(AXLE_DTYPE_F64, AXLE_DIMS(INT64_C(1) << 40, INT64_C(1) << 40)));
    unit_expect_error(AXLE_ERR_SHAPE, "rand: too many elements at dim 1");
    assert_null(axle_empty(AXLE_DTYPE_F64, AXLE_DIMS(INT64_C(1) << 55)));
    unit_expect_error(AXLE_ERR_NOMEM, "288230376151711744");
}

static void bad_types_are_refused(void **state)
{
    (void)state;
    assert_null(axle_zeros(99, AXLE_DIMS(2)));
    unit_expect_error(AXLE_ERR_DTYPE, "full: there is no element type 99");
    assert_null(axle_zeros(-1, AXLE_DIMS(2)));
    unit_expect_error(AXLE_ERR_DTYPE, "-1");
    assert_null(axle_rand(AXLE_DTYPE_I64, AXLE_DIMS(2)));
    unit_expect_error(AXLE_ERR_DTYPE, "rand: wants a float type, got i64");
    assert_null(axle_randn(77, AXLE_DIMS(2)));
    unit_expect_error(AXLE_ERR_DTYPE, "randn");
    assert_null(axle_arange(AXLE_DTYPE_BOOL, 0, 2, 1));
    unit_expect_error(AXLE_ERR_UNSUPPORTED, "arange");
}

static void host_data_is_copied(void **state)
{
    (void)state;
    float data[] = {1, 2, 3, 4};
    axle_tensor *x = axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(2, 2), data);
    data[0] = 9;
    EXPECT(x, 1, 2, 3, 4);
    assert_null(axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(2), NULL));
    unit_expect_error(AXLE_ERR_INVALID, "from_data: 8 bytes wanted, got none");
    assert_int_equal(axle_tensor_count(axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(0), NULL)), 0);
}

static void a_created_tensor_belongs_to_its_caller(void **state)
{
    (void)state;
    axle_tensor *x = (axle_tensor *)state;
    assert_int_equal(axle_tensor_create(NULL, AXLE_DTYPE_F32, AXLE_DIMS(2), &x), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no device");
    assert_int_equal(axle_tensor_create(axle_device_host(), 0, AXLE_DIMS(2), &x), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "axle_tensor_create");
    assert_ptr_equal(x, state);
    axle_scope_push();
    assert_int_equal(axle_tensor_create(axle_device_host(), AXLE_DTYPE_F32, AXLE_DIMS(2), &x),
                     AXLE_OK);
    axle_scope_pop();
    assert_int_equal(axle_tensor_dim(x, -1), 2);
    assert_int_equal(axle_tensor_dim(x, 1), -1);
    unit_expect_error(AXLE_ERR_SHAPE, "axle_tensor_dim: dim 1 is out of range for rank 1");
    axle_tensor_release(x);
}

static const struct CMUnitTest tests[] = {
    TENSORS("every element type is filled", every_element_type_is_filled),
    TENSORS("integers take the nearest of what they cannot hold",
            integers_take_the_nearest_of_what_they_cannot_hold),
    TENSORS("arange counts up and down, and refuses what has no end", arange_counts),
    TENSORS("bad dims are refused with their values", bad_dims_are_refused),
    TENSORS("bad element types are refused by name", bad_types_are_refused),
    TENSORS("host data is copied", host_data_is_copied),
    TENSORS("a created tensor belongs to its caller", a_created_tensor_belongs_to_its_caller),
};

UNIT_MAIN(tests)
