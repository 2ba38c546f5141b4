/* SPDX-License-Identifier: Apache-2.0 */
/* Autocast regions: which operator runs in which type, and what its gradient is. */
#include "tensors.h"

#define F32 AXLE_DTYPE_F32
#define BF16 AXLE_DTYPE_BF16
#define F16 AXLE_DTYPE_F16
#define F64 AXLE_DTYPE_F64

static void region(int dtype)
{
    assert_int_equal(axle_autocast_push(dtype), AXLE_OK);
}

static axle_tensor *ones(int dtype, int rank, const int64_t *dims)
{
    return axle_ones(dtype, rank, dims);
}

static void expect_dtype(axle_tensor *x, int dtype)
{
    if (!x)
        fail_msg("%s", axle_error_message());
    assert_string_equal(axle_dtype_name(axle_tensor_dtype(x)), axle_dtype_name(dtype));
}

/* ------------------------------------------------------------------ regions */

static void regions_nest(void **state)
{
    (void)state;
    assert_int_equal(axle_autocast_dtype(), F32);
    region(BF16);
    assert_int_equal(axle_autocast_dtype(), BF16);
    region(F32);
    assert_int_equal(axle_autocast_dtype(), F32);
    axle_tensor *x = ones(F32, AXLE_DIMS(2, 2));
    expect_dtype(axle_matmul(x, x), F32);
    region(F16);
    expect_dtype(axle_matmul(x, x), F16);
    axle_autocast_pop();
    axle_autocast_pop();
    expect_dtype(axle_matmul(x, x), BF16);
    axle_autocast_pop();
    axle_autocast_pop();
    assert_int_equal(axle_autocast_dtype(), F32);
}

static void other_types_make_no_region(void **state)
{
    (void)state;
    assert_int_equal(axle_autocast_push(F64), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "f64");
    assert_int_equal(axle_autocast_push(99), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "axle_autocast_push");
    for (int k = 0; k < AXLE_MAX_AUTOCAST_DEPTH; k++)
        region(BF16);
    assert_int_equal(axle_autocast_push(BF16), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "64 regions");
    for (int k = 0; k < AXLE_MAX_AUTOCAST_DEPTH; k++)
        axle_autocast_pop();
    assert_int_equal(axle_autocast_dtype(), F32);
}

/* ------------------------------------------------------------------ the table */

/* One operator of each policy and family, on operands of one type: (2, 4, 4) or what fits. */
typedef axle_tensor *(*operator_fn)(int dtype);

static axle_tensor *cube(int dtype)
{
    return axle_ones(dtype, AXLE_DIMS(2, 4, 4));
}

#define OPERATOR(name, expression)                                                                 \
    static axle_tensor *run_##name(int d)                                                          \
    {                                                                                              \
        return expression;                                                                         \
    }

static axle_tensor *labels(void)
{
    return axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(2, 4));
}

OPERATOR(matmul, axle_matmul(cube(d), cube(d)))
OPERATOR(linear, axle_linear(cube(d), axle_ones(d, AXLE_DIMS(3, 4)), axle_ones(d, AXLE_DIMS(3))))
OPERATOR(linear_relu, axle_linear_relu(cube(d), axle_ones(d, AXLE_DIMS(3, 4)), NULL))
OPERATOR(conv, axle_conv(cube(d), axle_ones(d, AXLE_DIMS(3, 4, 2)), NULL, NULL))
OPERATOR(conv_transpose, axle_conv_transpose(cube(d), axle_ones(d, AXLE_DIMS(4, 3, 2)), NULL, NULL))
OPERATOR(attention,
         axle_attention(axle_unsqueeze(cube(d), 1), axle_unsqueeze(cube(d), 1),
                        axle_unsqueeze(cube(d), 1), axle_zeros(d, AXLE_DIMS(4, 4)), NULL))
OPERATOR(softmax, axle_softmax(cube(d), 1))
OPERATOR(log_softmax, axle_log_softmax(cube(d), 1))
OPERATOR(cross_entropy, axle_cross_entropy(cube(d), labels(), NULL))
OPERATOR(bce, axle_bce_with_logits(cube(d), cube(d), cube(d), cube(d), AXLE_LOSS_MEAN))
OPERATOR(mse, axle_mse_loss(cube(d), cube(d), AXLE_LOSS_NONE))
OPERATOR(l1, axle_l1_loss(cube(d), cube(d), AXLE_LOSS_SUM))
OPERATOR(layer_norm, axle_layer_norm(cube(d), 1, axle_ones(d, AXLE_DIMS(4)), NULL, 1e-5))
OPERATOR(rms_norm, axle_rms_norm(cube(d), NULL, 1e-5))
OPERATOR(batch_norm,
         axle_batch_norm(cube(d), axle_ones(d, AXLE_DIMS(4)), NULL, NULL, NULL, 1, 0.1, 1e-5))
OPERATOR(group_norm, axle_group_norm(cube(d), 2, NULL, NULL, 1e-5))
OPERATOR(sum, axle_sum_all(cube(d)))
OPERATOR(mean, axle_mean_all(cube(d)))
OPERATOR(prod, axle_prod(cube(d), 0, NULL, 0))
OPERATOR(var, axle_var(cube(d), 0, NULL, 0, 1.0))
OPERATOR(norm, axle_norm(cube(d), 0, NULL, 0, 2))
OPERATOR(max, axle_max(cube(d), 0, NULL, 0))
OPERATOR(exp, axle_exp(cube(d)))
OPERATOR(log, axle_log(cube(d)))
OPERATOR(pow, axle_pow(cube(d), cube(d)))
OPERATOR(pow_scalar, axle_pow_scalar(cube(d), 2.0))
OPERATOR(relu, axle_relu(cube(d)))
OPERATOR(gelu, axle_gelu(cube(d)))
OPERATOR(tanh, axle_tanh(cube(d)))
OPERATOR(add, axle_add(cube(d), cube(d)))
OPERATOR(max_pool, axle_max_pool(cube(d), NULL))
OPERATOR(reshape, axle_reshape(cube(d), AXLE_DIMS(32)))

enum { LOW = 0, FULL = F32, SAME = -1 };

static const struct policy {
    const char *name;
    operator_fn run;
    int result;
} policies[] = {
#define ROW(name, result) {#name, run_##name, result},
    ROW(matmul, LOW) ROW(linear, LOW) ROW(linear_relu, LOW) ROW(conv, LOW) ROW(conv_transpose, LOW)
        ROW(attention, LOW) ROW(softmax, FULL) ROW(log_softmax, FULL) ROW(cross_entropy, FULL)
            ROW(bce, FULL) ROW(mse, FULL) ROW(l1, FULL) ROW(layer_norm, FULL) ROW(rms_norm, FULL)
                ROW(batch_norm, FULL) ROW(group_norm, FULL) ROW(sum, FULL) ROW(mean, FULL)
                    ROW(prod, FULL) ROW(var, FULL) ROW(norm, FULL) ROW(max, SAME) ROW(exp, FULL)
                        ROW(log, FULL) ROW(pow, FULL) ROW(pow_scalar, FULL) ROW(relu, SAME)
                            ROW(gelu, SAME) ROW(tanh, SAME) ROW(add, SAME) ROW(max_pool, SAME)
                                ROW(reshape, SAME)
#undef ROW
};

static void operators_choose_their_type(void **state)
{
    (void)state;
    static const int types[] = {BF16, F16};
    for (int t = 0; t < 2; t++) {
        region(types[t]);
        for (size_t k = 0; k < sizeof(policies) / sizeof(policies[0]); k++) {
            const struct policy *p = &policies[k];
            int low = types[t], of_full = p->result == LOW ? low : F32;
            int of_half = p->result == SAME ? low : of_full;
            expect_dtype(p->run(F32), of_full);
            expect_dtype(p->run(low), of_half);
        }
        axle_autocast_pop();
    }
    for (size_t k = 0; k < sizeof(policies) / sizeof(policies[0]); k++)
        expect_dtype(policies[k].run(BF16), BF16);
}

static void f64_and_integers_are_left_alone(void **state)
{
    (void)state;
    region(BF16);
    expect_dtype(axle_matmul(ones(F64, AXLE_DIMS(2, 2)), ones(F64, AXLE_DIMS(2, 2))), F64);
    expect_dtype(axle_softmax(ones(F64, AXLE_DIMS(2)), 0), F64);
    expect_dtype(axle_sum_all(axle_ones(AXLE_DTYPE_I64, AXLE_DIMS(2))), AXLE_DTYPE_I64);
    assert_null(axle_add(ones(F64, AXLE_DIMS(2)), ones(F32, AXLE_DIMS(2))));
    unit_expect_error(AXLE_ERR_DTYPE, "add");
    axle_autocast_pop();
}

static void different_types_meet_in_f32(void **state)
{
    (void)state;
    axle_tensor *f = ones(F32, AXLE_DIMS(2)), *b = ones(BF16, AXLE_DIMS(2)),
                *h = ones(F16, AXLE_DIMS(2));
    region(BF16);
    expect_dtype(axle_add(f, b), F32);
    expect_dtype(axle_mul(b, h), F32);
    axle_tensor *mixed[] = {b, f, b};
    expect_dtype(axle_concat(mixed, 3, 0), F32);
    expect_dtype(axle_stack(mixed, 3, 0), F32);
    expect_dtype(axle_where(axle_gt(f, b), b, f), F32);
    expect_dtype(axle_scatter_add(f, 0, axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(2)), b), F32);
    axle_autocast_pop();
    assert_null(axle_add(f, b));
    unit_expect_error(AXLE_ERR_DTYPE, "add");
}

/* ------------------------------------------------------------------ gradients */

/* 1.00390625 is no bf16; its neighbour 1.0 is. */
static void gradients_are_f32(void **state)
{
    (void)state;
    axle_tensor *w = tensors_leaf(axle_cast(VECTOR(1.00390625, 2.0), F32));
    axle_tensor *x = axle_cast(VECTOR(3.0, 5.0), F32);
    region(BF16);
    axle_tensor *y = axle_matmul(x, w);
    axle_tensor *loss = axle_sum_all(y);
    axle_autocast_pop();
    expect_dtype(y, BF16);
    expect_dtype(loss, F32);
    EXPECT(loss, 13.0);
    assert_int_equal(axle_tensor_backward(loss, NULL, 0), AXLE_OK);
    expect_dtype(axle_tensor_grad(w), F32);
    EXPECT(axle_tensor_grad(w), 3.0, 5.0);
}

/* Inside a region, too, backward runs in the types of forward. */
static void backward_ignores_regions(void **state)
{
    (void)state;
    axle_tensor *w = tensors_leaf(axle_cast(VECTOR(1.00390625, 2.0), F32));
    axle_tensor *loss = axle_sum_all(axle_square(
        axle_matmul(axle_reshape(w, AXLE_DIMS(1, 2)), axle_reshape(w, AXLE_DIMS(2, 1)))));
    region(F16);
    assert_int_equal(axle_tensor_backward(loss, NULL, 0), AXLE_OK);
    assert_int_equal(axle_autocast_dtype(), F16);
    axle_autocast_pop();
    double n = 1.00390625 * 1.00390625 + 4.0;
    EXPECT_NEAR(axle_tensor_grad(w), 1e-5, 4.0 * n * 1.00390625, 8.0 * n);
}

/* ------------------------------------------------------------------ casts of parameters */

static void a_parameter_is_cast_once(void **state)
{
    (void)state;
    axle_tensor *w = tensors_leaf(ones(F32, AXLE_DIMS(64, 64)));
    axle_tensor *x = ones(BF16, AXLE_DIMS(1, 64));
    region(BF16);
    axle_tensor *first = axle_matmul(x, w);
    uint64_t before = tensors_bytes();
    axle_tensor *second = axle_matmul(x, w);
    assert_true(tensors_bytes() - before < 64 * 64 * 2);
    axle_tensor *loss = axle_sum_all(axle_add(first, second));
    axle_autocast_pop();
    assert_int_equal(axle_tensor_backward(loss, NULL, 0), AXLE_OK);
    axle_tensor *grad = axle_tensor_grad(w);
    expect_dtype(grad, F32);
    EXPECT(axle_max(grad, 0, NULL, 0), 2.0);
    EXPECT(axle_min(grad, 0, NULL, 0), 2.0);
}

static void a_changed_parameter_is_cast_again(void **state)
{
    (void)state;
    axle_tensor *w = tensors_leaf(axle_cast(VECTOR(1.0, 2.0), F32));
    axle_tensor *x = axle_cast(VECTOR(1.0, 1.0), F32);
    const float other[] = {4.0f, 8.0f};
    region(BF16);
    EXPECT(axle_matmul(x, w), 3.0);
    assert_int_equal(axle_tensor_write(w, other, sizeof(other)), AXLE_OK);
    EXPECT(axle_matmul(x, w), 12.0);
    axle_autocast_pop();
}

/* A cast made without recording must not cut gradients off later, nor one whose graph is gone. */
static void old_casts_do_not_cut_gradients_off(void **state)
{
    (void)state;
    axle_tensor *w = tensors_leaf(axle_cast(VECTOR(1.0, 2.0), F32));
    axle_tensor *x = axle_cast(VECTOR(3.0, 5.0), F32);
    region(BF16);
    axle_no_grad_push();
    EXPECT(axle_matmul(x, w), 13.0);
    axle_no_grad_pop();
    for (int k = 0; k < 2; k++)
        assert_int_equal(axle_tensor_backward(axle_sum_all(axle_matmul(x, w)), NULL, 0), AXLE_OK);
    axle_autocast_pop();
    EXPECT(axle_tensor_grad(w), 6.0, 10.0);
}

/* What is computed again is computed in the types of the first time, and parameters used in both
 * places get both gradients. */
static axle_tensor *times_weight(axle_tensor *const *in, int n, void *user)
{
    (void)n;
    axle_tensor *weight = user;
    return axle_matmul(in[0], axle_relu(axle_matmul(weight, weight)));
}

static void computing_again_keeps_the_types(void **state)
{
    (void)state;
    double first[4];
    for (int again = 0; again < 2; again++) {
        axle_tensor *w =
            tensors_leaf(axle_cast(axle_reshape(VECTOR(0.3, 0.7, 1.1, 0.9), AXLE_DIMS(2, 2)), F32));
        axle_tensor *x = axle_cast(axle_reshape(VECTOR(1.1, 2.3), AXLE_DIMS(1, 2)), F32);
        region(BF16);
        axle_tensor *y = axle_matmul(x, w);
        y = again ? axle_checkpoint(times_weight, &y, 1, w, NULL) : times_weight(&y, 1, w);
        expect_dtype(y, BF16);
        axle_tensor *loss = axle_sum_all(axle_matmul(y, w));
        if (again)
            axle_autocast_pop();
        assert_int_equal(axle_tensor_backward(loss, NULL, 0), AXLE_OK);
        if (!again)
            axle_autocast_pop();
        double *grad = tensors_read(axle_tensor_grad(w));
        for (int k = 0; k < 4 && again; k++)
            assert_true(fabs(grad[k] - first[k]) <= 0.02 * fabs(first[k]));
        memcpy(first, grad, sizeof(first));
        free(grad);
    }
}

static const struct CMUnitTest tests[] = {
    TENSORS("regions nest, and one of f32 casts nothing", regions_nest),
    TENSORS("other types, and too many regions, are refused", other_types_make_no_region),
    TENSORS("operators choose their type by the table", operators_choose_their_type),
    TENSORS("f64 and integers are left alone", f64_and_integers_are_left_alone),
    TENSORS("different types meet in f32", different_types_meet_in_f32),
    TENSORS("gradients of f32 parameters are f32", gradients_are_f32),
    TENSORS("backward runs in the types of forward", backward_ignores_regions),
    TENSORS("a parameter used twice is cast once", a_parameter_is_cast_once),
    TENSORS("a parameter that changed is cast again", a_changed_parameter_is_cast_again),
    TENSORS("old casts cut no gradient off", old_casts_do_not_cut_gradients_off),
    TENSORS("computing again keeps the types", computing_again_keeps_the_types),
};
UNIT_MAIN(tests)
