/* SPDX-License-Identifier: Apache-2.0 */
#include "nn.h"

#include "axle/model.h"

static axle_module *new_linear(void)
{
    axle_module *module;
    assert_ok(axle_linear_create(3, 2, 1, &module));
    return module;
}

static axle_batch *new_batch(bool with_target)
{
    axle_batch *batch;
    assert_ok(axle_batch_create(&batch));
    assert_ok(axle_batch_set(batch, "input", axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(4, 3))));
    if (with_target)
        assert_ok(axle_batch_set(
            batch, "target",
            axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(4), (const int64_t[]){0, 1, 1, 0})));
    return batch;
}

static void a_classifier_gives_loss_and_logits(void **state)
{
    (void)state;
    axle_model *model;
    axle_batch *batch = new_batch(true);
    assert_ok(axle_classifier_create(new_linear(), &model));
    axle_output output = axle_model_forward(model, batch);
    expect_dims(made(output.loss), AXLE_SCALAR);
    expect_dims(output.logits, AXLE_DIMS(4, 2));
    expect_equal(output.loss,
                 axle_cross_entropy(output.logits, axle_batch_get(batch, "target"), NULL));
    assert_ok(axle_tensor_backward(output.loss, NULL, 0));
    assert_non_null(axle_tensor_grad(axle_module_parameter(axle_model_module(model), "weight")));
    axle_batch_release(batch);
    axle_model_release(model);
    axle_scope_pop();
}

static void without_a_target_there_is_no_loss_and_no_error(void **state)
{
    (void)state;
    axle_model *model;
    axle_batch *batch = new_batch(false);
    assert_ok(axle_classifier_create(new_linear(), &model));
    axle_output output = axle_model_forward(model, batch);
    assert_null(output.loss);
    assert_non_null(output.logits);
    assert_int_equal(axle_error_code(), AXLE_OK);
    axle_batch_release(batch);
    axle_model_release(model);
    axle_scope_pop();
}

static void without_an_input_there_is_an_error(void **state)
{
    (void)state;
    axle_model *model;
    axle_batch *batch;
    assert_ok(axle_batch_create(&batch));
    assert_ok(axle_classifier_create(new_linear(), &model));
    axle_output output = axle_model_forward(model, batch);
    assert_true(!output.loss && !output.logits);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "input");
    axle_batch_release(batch);
    axle_model_release(model);
    axle_scope_pop();
}

static void a_target_out_of_range_gives_neither(void **state)
{
    (void)state;
    axle_model *model;
    axle_batch *batch = new_batch(false);
    assert_ok(axle_batch_set(
        batch, "target",
        axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(4), (const int64_t[]){0, 1, 2, 0})));
    assert_ok(axle_classifier_create(new_linear(), &model));
    axle_output output = axle_model_forward(model, batch);
    assert_true(!output.loss && !output.logits);
    unit_expect_error(AXLE_ERR_INDEX, "2");
    axle_batch_release(batch);
    axle_model_release(model);
    axle_scope_pop();
}

static axle_output doubled(axle_module *module, axle_batch *batch, void *user)
{
    axle_tensor *y = axle_module_forward(module, axle_batch_get(batch, "input"));
    ++*(int *)user;
    return (axle_output){.loss = axle_sum_all(axle_square(y)), .logits = y};
}

static axle_output nothing(axle_module *module, axle_batch *batch, void *user)
{
    (void)module;
    (void)batch;
    (void)user;
    return (axle_output){NULL, NULL};
}

static void a_model_of_ones_own_is_called_with_its_user(void **state)
{
    (void)state;
    axle_model *model;
    int calls = 0;
    axle_batch *batch = new_batch(false);
    assert_ok(axle_model_create(new_linear(), doubled, &calls, &model));
    assert_non_null(axle_model_forward(axle_model_retain(model), batch).loss);
    assert_int_equal(calls, 1);
    axle_model_release(model);
    axle_model_release(model);
    axle_model_release(NULL);
    assert_ok(axle_model_create(new_linear(), nothing, NULL, &model));
    assert_null(axle_model_forward(model, batch).logits);
    unit_expect_error(AXLE_ERR_INTERNAL, "no output");
    axle_model_release(model);
    axle_batch_release(batch);
    axle_scope_pop();
}

static void a_model_wants_a_module_and_a_function(void **state)
{
    (void)state;
    axle_model *model = NULL;
    assert_int_equal(axle_classifier_create(NULL, &model), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "module");
    assert_int_equal(axle_model_create(new_linear(), NULL, NULL, &model), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "function");
    assert_null(model);
}

static const struct CMUnitTest tests[] = {
    UNIT("a classifier gives loss and logits", a_classifier_gives_loss_and_logits),
    UNIT("without a target there is no loss and no error",
         without_a_target_there_is_no_loss_and_no_error),
    UNIT("without an input there is an error", without_an_input_there_is_an_error),
    UNIT("a target out of range gives neither loss nor logits",
         a_target_out_of_range_gives_neither),
    UNIT("a model of one's own is called with its user",
         a_model_of_ones_own_is_called_with_its_user),
    UNIT("a model wants a module and a function", a_model_wants_a_module_and_a_function),
};
UNIT_MAIN(tests)
