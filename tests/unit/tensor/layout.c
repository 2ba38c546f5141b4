/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/layout.h"

#include "tensors.h"

/* (2, 3, 2, 2) stored as N, H, W, C. */
static axle_tensor *picture(void)
{
    axle_tensor *x = tensors_count(AXLE_DIMS(2, 3, 2, 2));
    axle_tensor *stored = axle_contiguous(axle_permute(x, (int[]){0, 2, 3, 1}));
    return axle_permute(stored, (int[]){0, 3, 1, 2});
}

static void channels_last_is_recognised(void **state)
{
    (void)state;
    assert_true(axle__is_channels_last(picture()));
    assert_int_equal(axle__layout_of(picture()), AXLE_LAYOUT_CHANNELS_LAST);
    assert_false(axle__is_channels_last(tensors_count(AXLE_DIMS(2, 3, 2, 2))));
    assert_false(axle__is_channels_last(axle_transpose(tensors_count(AXLE_DIMS(2, 3)), 0, 1)));
    axle_tensor *one = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(2, 1, 4, 4));
    assert_int_equal(axle__layout_of(one), AXLE_LAYOUT_ROW_MAJOR);
    assert_false(axle__is_channels_last(axle_slice(picture(), 3, 0, 1, 1)));
}

static void elementwise_results_keep_the_layout(void **state)
{
    (void)state;
    axle_tensor *x = picture(), *scale = axle_ones(AXLE_DTYPE_F64, AXLE_DIMS(3, 1, 1));
    assert_true(axle__is_channels_last(axle_exp(x)));
    assert_true(axle__is_channels_last(axle_mul(x, scale)));
    assert_true(axle__is_channels_last(axle_mul(scale, x)));
    assert_true(axle__is_channels_last(axle_cast(x, AXLE_DTYPE_F32)));
    assert_true(axle__is_channels_last(axle_dropout(x, 0.5)));
    assert_true(axle_tensor_is_contiguous(axle_clone(x)));
    axle_tensor *plain = tensors_count(AXLE_DIMS(2, 3, 2, 2));
    EXPECT(axle_sum_all(axle_abs(axle_sub(axle_square(x), axle_square(plain)))), 0);
}

static void dropout_does_not_depend_on_the_layout(void **state)
{
    (void)state;
    axle_seed(3);
    axle_tensor *a = axle_dropout(picture(), 0.5);
    axle_seed(3);
    axle_tensor *b = axle_dropout(axle_contiguous(picture()), 0.5);
    EXPECT(axle_sum_all(axle_abs(axle_sub(a, b))), 0);
    EXPECT(axle_any(axle_eq(a, axle_scalar(AXLE_DTYPE_F64, 0)), 0, NULL, 0), 1);
}

static void pooling_keeps_the_layout(void **state)
{
    (void)state;
    axle_tensor *x = tensors_leaf(picture()), *y = axle_max_pool(x, NULL);
    assert_int_equal(axle_tensor_dim(y, -1), 1);
    EXPECT(y, 3, 7, 11, 15, 19, 23);
    assert_int_equal(axle_tensor_backward(axle_sum_all(y), NULL, 0), AXLE_OK);
    EXPECT(axle_sum_all(axle_mul(axle_tensor_grad(x), axle_detach(x))), 78);
}

static void picture_results_check_their_dims(void **state)
{
    (void)state;
    const int64_t dims[] = {2, 3, -1, 2}, good[] = {2, 3, 4, 5};
    axle_device *host = axle_device_host();
    assert_null(
        axle__picture_result("test", host, AXLE_DTYPE_F32, 4, dims, AXLE_LAYOUT_CHANNELS_LAST));
    unit_expect_error(AXLE_ERR_SHAPE, "test: dim 2 is negative");
    assert_true(axle__is_channels_last(
        axle__picture_result("test", host, AXLE_DTYPE_F32, 4, good, AXLE_LAYOUT_CHANNELS_LAST)));
    assert_true(axle_tensor_is_contiguous(
        axle__picture_result("test", host, AXLE_DTYPE_F32, 2, good, AXLE_LAYOUT_CHANNELS_LAST)));
}

static const struct CMUnitTest tests[] = {
    TENSORS("channels-last tensors are recognised", channels_last_is_recognised),
    TENSORS("elementwise results keep the layout", elementwise_results_keep_the_layout),
    TENSORS("dropout does not depend on the layout", dropout_does_not_depend_on_the_layout),
    TENSORS("pooling keeps the layout", pooling_keeps_the_layout),
    TENSORS("results over pictures check their dims", picture_results_check_their_dims),
};

UNIT_MAIN(tests)
