/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

static void names_and_numbers_agree(void **state)
{
    (void)state;
#define CHECK(name, number, bytes, text)                                                           \
    assert_string_equal(axle_dtype_name(number), text);                                            \
    assert_int_equal(axle_dtype_from_name(text), number);                                          \
    assert_int_equal(axle_dtype_size(number), bytes);
    AXLE_DTYPE_LIST(CHECK)
#undef CHECK
}

static void strangers_are_told(void **state)
{
    (void)state;
    static const int strangers[] = {-1, 0, 5, 7, 11, 1000, INT32_MIN, INT32_MAX};
    for (size_t k = 0; k < sizeof(strangers) / sizeof(strangers[0]); k++) {
        assert_null(axle_dtype_name(strangers[k]));
        assert_int_equal(axle_dtype_size(strangers[k]), 0);
        assert_false(axle_dtype_is_float(strangers[k]));
    }
    assert_int_equal(axle_dtype_from_name("f8"), 0);
    assert_int_equal(axle_dtype_from_name(""), 0);
    assert_int_equal(axle_dtype_from_name(NULL), 0);
}

static void floats_are_known(void **state)
{
    (void)state;
    assert_true(axle_dtype_is_float(AXLE_DTYPE_F32) && axle_dtype_is_float(AXLE_DTYPE_F16));
    assert_true(axle_dtype_is_float(AXLE_DTYPE_BF16) && axle_dtype_is_float(AXLE_DTYPE_F64));
    assert_false(axle_dtype_is_float(AXLE_DTYPE_I32) || axle_dtype_is_float(AXLE_DTYPE_BOOL));
}

static const struct CMUnitTest tests[] = {
    UNIT("names, numbers and sizes agree with the list", names_and_numbers_agree),
    UNIT("numbers and names of no type are told apart", strangers_are_told),
    UNIT("the float types are known", floats_are_known),
};
UNIT_MAIN(tests)
