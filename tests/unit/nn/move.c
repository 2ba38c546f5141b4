/* SPDX-License-Identifier: Apache-2.0 */
#include "nn.h"

#include "base/memory.h"

static axle_module *new_norm(void)
{
    axle_module *module;
    assert_ok(axle_batch_norm_create(3, 1e-5, 0.1, &module));
    return module;
}

static void floats_change_their_type_and_handles_stay(void **state)
{
    (void)state;
    axle_module *norm = new_norm();
    axle_tensor *weight = axle_module_parameter(norm, "weight");
    assert_ok(axle_init_constant(weight, 1.5));
    assert_ok(axle_module_to_dtype(norm, AXLE_DTYPE_F64));
    assert_ptr_equal(axle_module_parameter(norm, "weight"), weight);
    assert_int_equal(axle_tensor_dtype(weight), AXLE_DTYPE_F64);
    assert_int_equal(axle_tensor_dtype(axle_module_buffer(norm, "running_mean")), AXLE_DTYPE_F64);
    assert_int_equal(axle_tensor_dtype(axle_module_buffer(norm, "num_batches_tracked")),
                     AXLE_DTYPE_I64);
    double *values = values_of(weight);
    assert_true(values[0] == 1.5 && values[2] == 1.5);
    free(values);
    assert_true(axle_tensor_requires_grad(weight) && axle_tensor_is_leaf(weight));
    made(axle_module_forward(norm, axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(4, 3))));
    axle_module_release(norm);
    axle_scope_pop();
}

static void gradients_go_along(void **state)
{
    (void)state;
    axle_module *linear;
    assert_ok(axle_linear_create(2, 1, 0, &linear));
    axle_tensor *weight = axle_module_parameter(linear, "weight");
    axle_tensor *x = made(axle_full(AXLE_DTYPE_F32, AXLE_DIMS(1, 2), 3.0));
    assert_ok(axle_tensor_backward(axle_module_forward(linear, x), NULL, 0));
    assert_ok(axle_module_to_dtype(linear, AXLE_DTYPE_F64));
    assert_int_equal(axle_tensor_dtype(made(axle_tensor_grad(weight))), AXLE_DTYPE_F64);
    x = made(axle_full(AXLE_DTYPE_F64, AXLE_DIMS(1, 2), 1.0));
    assert_ok(axle_tensor_backward(axle_module_forward(linear, x), NULL, 0));
    double *grad = values_of(axle_tensor_grad(weight));
    assert_true(grad[0] == 4.0 && grad[1] == 4.0);
    free(grad);
    axle_module_release(linear);
    axle_scope_pop();
}

static void tied_tensors_stay_tied(void **state)
{
    (void)state;
    axle_module *top, *linear;
    assert_ok(axle_sequential_create(&top));
    assert_ok(axle_linear_create(2, 2, 0, &linear));
    assert_ok(axle_module_add_child(top, "a", axle_module_retain(linear)));
    assert_ok(axle_module_add_child(top, "b", linear));
    assert_ok(axle_module_to_dtype(top, AXLE_DTYPE_F64));
    assert_ptr_equal(axle_module_parameter(top, "a.weight"),
                     axle_module_parameter(top, "b.weight"));
    axle_module_release(top);
}

static void where_they_are_already_nothing_happens(void **state)
{
    (void)state;
    axle_module *norm = new_norm();
    void *before, *after;
    axle_tensor *weight = axle_module_parameter(norm, "weight");
    assert_ok(axle_tensor_data(weight, &before));
    assert_ok(axle_module_to_device(norm, axle_tensor_device(weight)));
    assert_ok(axle_module_to_dtype(norm, AXLE_DTYPE_F32));
    assert_ok(axle_tensor_data(weight, &after));
    assert_ptr_equal(before, after);
    axle_module_release(norm);
}

static void what_is_no_float_type_or_no_device_is_refused(void **state)
{
    (void)state;
    axle_module *norm = new_norm();
    assert_int_equal(axle_module_to_dtype(norm, AXLE_DTYPE_I64), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "i64");
    assert_int_equal(axle_module_to_dtype(norm, 77), AXLE_ERR_DTYPE);
    axle_error_clear();
    assert_int_equal(axle_module_to_device(norm, NULL), AXLE_ERR_INVALID);
    axle_error_clear();
    axle_module_release(norm);
}

static void a_failure_leaves_every_tensor_as_it_was(void **state)
{
    (void)state;
    axle_module *norm = new_norm();
    for (long nth = 1;; nth++) {
        axle__alloc_fail_at(nth);
        int status = axle_module_to_dtype(norm, AXLE_DTYPE_F64);
        axle__alloc_fail_at(0);
        int wanted = status ? AXLE_DTYPE_F32 : AXLE_DTYPE_F64;
        assert_int_equal(axle_tensor_dtype(axle_module_parameter(norm, "weight")), wanted);
        assert_int_equal(axle_tensor_dtype(axle_module_buffer(norm, "running_var")), wanted);
        if (!status)
            break;
        unit_expect_error(AXLE_ERR_NOMEM, "");
    }
    assert_int_equal(axle_scope_depth(), 0);
    assert_true(axle_grad_enabled());
    axle_module_release(norm);
}

static const struct CMUnitTest tests[] = {
    UNIT("floats change their type, and handles stay", floats_change_their_type_and_handles_stay),
    UNIT("gradients go along", gradients_go_along),
    UNIT("tied tensors stay tied", tied_tensors_stay_tied),
    UNIT("where they are already, nothing happens", where_they_are_already_nothing_happens),
    UNIT("what is no float type, or no device, is refused",
         what_is_no_float_type_or_no_device_is_refused),
    UNIT("a failure leaves every tensor as it was", a_failure_leaves_every_tensor_as_it_was),
};
UNIT_MAIN(tests)
