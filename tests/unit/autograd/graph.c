/* SPDX-License-Identifier: Apache-2.0 */
/* Where gradients go when tensors are used twice, share storage or are empty, and what functions
 * of users may give back. */
#include <pthread.h>

#include "tensors.h"

static void expect_backward(axle_tensor *y)
{
    if (axle_tensor_backward(axle_sum_all(y), NULL, 0))
        fail_msg("%s", axle_error_message());
}

/* ------------------------------------------------------------------ one leaf in two places */

static axle_tensor *square_matrix(void)
{
    return tensors_leaf(axle_reshape(VECTOR(1, 2, 3, 4), AXLE_DIMS(2, 2)));
}

/* The first pass makes storage for the gradient, which rules of the second may write into. */
static void a_leaf_may_be_both_input_and_weight(void **state)
{
    (void)state;
    axle_tensor *w = square_matrix();
    for (int round = 0; round < 3; round++) {
        expect_backward(axle_linear(w, w, NULL));
        EXPECT(axle_tensor_grad(w), 8, 12, 8, 12);
        assert_int_equal(axle_tensor_set_grad(w, NULL), AXLE_OK);
    }
}

static void a_leaf_may_be_both_factors(void **state)
{
    (void)state;
    axle_tensor *w = square_matrix();
    for (int round = 0; round < 3; round++) {
        expect_backward(axle_matmul(w, w));
        EXPECT(axle_tensor_grad(w), 7, 11, 9, 13);
        assert_int_equal(axle_tensor_set_grad(w, NULL), AXLE_OK);
    }
}

static void a_leaf_may_be_input_and_scale(void **state)
{
    (void)state;
    axle_tensor *x = tensors_leaf(VECTOR(1, 3)), *twin = tensors_leaf(VECTOR(1, 3));
    axle_tensor *gamma = tensors_leaf(VECTOR(1, 3));
    expect_backward(axle_layer_norm(twin, 1, gamma, NULL, 0.5));
    axle_tensor *sum = axle_add(axle_tensor_grad(twin), axle_tensor_grad(gamma));
    for (int round = 0; round < 3; round++) {
        expect_backward(axle_layer_norm(x, 1, x, NULL, 0.5));
        EXPECT_NEAR(axle_sub(axle_tensor_grad(x), sum), 1e-12, 0, 0);
        assert_int_equal(axle_tensor_set_grad(x, NULL), AXLE_OK);
    }
}

static void views_of_one_leaf_add_up(void **state)
{
    (void)state;
    axle_tensor *x = square_matrix();
    axle_tensor *row = axle_select(x, 0, 1), *column = axle_select(axle_transpose(x, 0, 1), 0, 0);
    expect_backward(axle_mul(row, column));
    EXPECT(axle_tensor_grad(x), 3, 0, 1 + 4, 3);
}

/* ------------------------------------------------------------------ overwriting */

static void concat_does_not_mind_overwritten_inputs(void **state)
{
    (void)state;
    const double other[] = {9, 9};
    axle_tensor *a = tensors_leaf(VECTOR(1, 2)), *b = tensors_leaf(VECTOR(3));
    axle_tensor *y = axle_concat((axle_tensor *[]){a, b}, 2, -1);
    assert_int_equal(axle_tensor_write(a, other, sizeof(other)), AXLE_OK);
    expect_backward(axle_mul(y, VECTOR(1, 10, 100)));
    EXPECT(axle_tensor_grad(a), 1, 10);
    EXPECT(axle_tensor_grad(b), 100);
}

static void a_gradient_may_be_replaced_by_a_view_of_itself(void **state)
{
    (void)state;
    axle_tensor *x = square_matrix();
    expect_backward(axle_mul(x, axle_detach(x)));
    axle_tensor *swapped = axle_transpose(axle_tensor_grad(x), 0, 1);
    assert_int_equal(axle_tensor_set_grad(x, swapped), AXLE_OK);
    EXPECT(axle_tensor_grad(x), 1, 3, 2, 4);
    assert_int_equal(axle_tensor_set_grad(x, axle_tensor_grad(x)), AXLE_OK);
    EXPECT(axle_tensor_grad(x), 1, 3, 2, 4);
}

/* ------------------------------------------------------------------ empty operands */

static void a_bias_of_no_channels_still_learns(void **state)
{
    (void)state;
    axle_tensor *x = axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(2, 0, 3));
    axle_tensor *w = axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(2, 0, 2));
    axle_tensor *b = tensors_leaf(VECTOR(1, -1));
    axle_conv_params p = AXLE_CONV_PARAMS_INIT;
    axle_tensor *y = axle_conv(x, w, b, &p);
    EXPECT(y, 1, 1, -1, -1, 1, 1, -1, -1);
    expect_backward(y);
    EXPECT(axle_tensor_grad(b), 4, 4);
    assert_int_equal(axle_tensor_set_grad(b, NULL), AXLE_OK);
    p.relu = 1;
    expect_backward(axle_conv(x, w, b, &p));
    EXPECT(axle_tensor_grad(b), 4, 0);
}

static void keys_without_features_average_the_values(void **state)
{
    (void)state;
    axle_tensor *q = axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(1, 1, 1, 0));
    axle_tensor *k = axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(1, 1, 2, 0));
    axle_tensor *v = tensors_leaf(axle_reshape(VECTOR(1, 3), AXLE_DIMS(1, 1, 2, 1)));
    axle_tensor *y = axle_attention(q, k, v, NULL, NULL);
    EXPECT(y, 2);
    expect_backward(y);
    EXPECT(axle_tensor_grad(v), 0.5, 0.5);
}

static void repeated_over_nothing_is_zero(void **state)
{
    (void)state;
    axle_tensor *x = tensors_leaf(VECTOR(5));
    expect_backward(axle_expand(x, AXLE_DIMS(0, 1)));
    EXPECT(axle_tensor_grad(x), 0);
    expect_backward(axle_slice(x, 0, 1, 1, 1));
    EXPECT(axle_tensor_grad(x), 0);
}

/* ------------------------------------------------------------------ functions of users */

static int give_ones(axle_function_context *context, axle_tensor *const *in, int n_in,
                     axle_tensor **out, int n_out)
{
    (void)context, (void)in, (void)n_in;
    for (int k = 0; k < n_out; k++)
        out[k] = axle_ones(AXLE_DTYPE_F64, AXLE_DIMS(3));
    return AXLE_OK;
}

static int give_small_gradients(axle_function_context *context, axle_tensor *const *dy, int n_out,
                                axle_tensor **dx, int n_in)
{
    (void)context, (void)dy, (void)n_out;
    for (int k = 0; k < n_in; k++)
        dx[k] = axle_ones(AXLE_DTYPE_F64, AXLE_DIMS(1));
    return AXLE_OK;
}

/* It would be read beyond its end by the rule of square. */
static void a_gradient_of_other_dims_is_refused(void **state)
{
    (void)state;
    axle_function f = {sizeof(f), "shrinking", give_ones, give_small_gradients, NULL};
    axle_tensor *x = tensors_leaf(VECTOR(1, 2, 3)), *in = axle_square(x), *out;
    assert_int_equal(axle_function_apply(&f, &in, 1, &out, 1, NULL), AXLE_OK);
    assert_int_equal(axle_tensor_backward(axle_sum_all(out), NULL, 0), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "shrinking: input 0 is f64 (3), the gradient that backward "
                                      "gave f64 (1)");
    assert_null(axle_tensor_grad(x));
}

static int give_one_twice(axle_function_context *context, axle_tensor *const *in, int n_in,
                          axle_tensor **out, int n_out)
{
    (void)context, (void)n_in;
    out[0] = axle_mul_scalar(in[0], 2);
    for (int k = 1; k < n_out; k++)
        out[k] = out[0];
    return AXLE_OK;
}

static int sum_both(axle_function_context *context, axle_tensor *const *dy, int n_out,
                    axle_tensor **dx, int n_in)
{
    (void)context, (void)n_in;
    for (int k = 0; k < n_out; k++)
        if (dy[k])
            dx[0] = dx[0] ? axle_add(dx[0], axle_mul_scalar(dy[k], 2)) : axle_mul_scalar(dy[k], 2);
    return AXLE_OK;
}

static void an_output_may_be_given_twice(void **state)
{
    (void)state;
    axle_function f = {sizeof(f), "twice", give_one_twice, sum_both, NULL};
    axle_tensor *x = tensors_leaf(VECTOR(1, 2)), *out[2];
    assert_int_equal(axle_function_apply(&f, &x, 1, out, 2, NULL), AXLE_OK);
    expect_backward(axle_add_scaled(out[0], out[1], 10));
    EXPECT(axle_tensor_grad(x), 22, 22);
}

static axle_tensor *captured;

static int give_captured(axle_function_context *context, axle_tensor *const *in, int n_in,
                         axle_tensor **out, int n_out)
{
    (void)context, (void)in, (void)n_in, (void)n_out;
    out[0] = captured;
    return AXLE_OK;
}

static void a_captured_leaf_stays_a_leaf(void **state)
{
    (void)state;
    axle_function f = {sizeof(f), "capturing", give_captured, sum_both, NULL};
    axle_tensor *x = tensors_leaf(VECTOR(1, 2)), *out;
    captured = tensors_leaf(VECTOR(3, 4));
    assert_int_equal(axle_function_apply(&f, &x, 1, &out, 1, NULL), AXLE_OK);
    assert_true(axle_tensor_is_leaf(captured));
    assert_false(axle_tensor_is_leaf(out));
    expect_backward(out);
    EXPECT(axle_tensor_grad(x), 2, 2);
}

static void a_function_without_its_parts_is_refused(void **state)
{
    (void)state;
    axle_function f = AXLE_FUNCTION_INIT;
    axle_tensor *x = tensors_leaf(VECTOR(1)), *out = NULL;
    assert_int_equal(axle_function_apply(NULL, &x, 1, &out, 1, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "axle_function_apply");
    f.name = "half";
    f.forward = give_one_twice;
    assert_int_equal(axle_function_apply(&f, &x, 1, &out, 1, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "half lacks");
    axle_no_grad_push();
    assert_int_equal(axle_function_apply(&f, &x, 1, &out, 1, NULL), AXLE_OK);
    axle_no_grad_pop();
    EXPECT(out, 2);
}

/* ------------------------------------------------------------------ two threads */

typedef struct trainer {
    pthread_t thread;
    axle_tensor *shared;
    int status;
} trainer;

static void *train(void *user)
{
    trainer *t = user;
    for (int round = 0; round < 200 && !t->status; round++) {
        axle_scope_push();
        axle_tensor *y = axle_mul(axle_ones(AXLE_DTYPE_F64, AXLE_DIMS(4)), t->shared);
        t->status = axle_tensor_backward(axle_sum_all(axle_mul_scalar(y, 0.5)), NULL, 0);
        axle_scope_pop();
    }
    return NULL;
}

static void two_threads_add_to_one_leaf(void **state)
{
    (void)state;
    axle_tensor *w = tensors_leaf(VECTOR(1));
    trainer trainers[2] = {{.shared = w}, {.shared = w}};
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&trainers[k].thread, NULL, train, &trainers[k]), 0);
    for (int k = 0; k < 2; k++)
        pthread_join(trainers[k].thread, NULL);
    assert_int_equal(trainers[0].status | trainers[1].status, AXLE_OK);
    EXPECT(axle_tensor_grad(w), 800);
}

static const struct CMUnitTest tests[] = {
    TENSORS("a leaf may be both input and weight", a_leaf_may_be_both_input_and_weight),
    TENSORS("a leaf may be both factors", a_leaf_may_be_both_factors),
    TENSORS("a leaf may be both input and scale", a_leaf_may_be_input_and_scale),
    TENSORS("views of one leaf add up", views_of_one_leaf_add_up),
    TENSORS("concat does not mind overwritten inputs", concat_does_not_mind_overwritten_inputs),
    TENSORS("a gradient may be replaced by a view of itself",
            a_gradient_may_be_replaced_by_a_view_of_itself),
    TENSORS("the bias of a convolution over no channels still learns",
            a_bias_of_no_channels_still_learns),
    TENSORS("keys without features average the values", keys_without_features_average_the_values),
    TENSORS("what is repeated over nothing gets zero", repeated_over_nothing_is_zero),
    TENSORS("a gradient of other dims is refused", a_gradient_of_other_dims_is_refused),
    TENSORS("an output may be given twice", an_output_may_be_given_twice),
    TENSORS("a leaf that a function returns stays a leaf", a_captured_leaf_stays_a_leaf),
    TENSORS("a function without its parts is refused", a_function_without_its_parts_is_refused),
    TENSORS("two threads add to one leaf", two_threads_add_to_one_leaf),
};

UNIT_MAIN(tests)
