/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "autograd/node.h"
#include "axle/axle.h"
#include "base/memory.h"
#include "unit.h"

static axle_tensor *vector(int n, const double *values)
{
    int64_t dims[] = {n};
    axle_tensor *x = axle_from_data(AXLE_DTYPE_F64, 1, dims, values);
    assert_non_null(x);
    assert_int_equal(axle_tensor_set_requires_grad(x, 1), AXLE_OK);
    return x;
}

#define VECTOR(...)                                                                                \
    vector(sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static void expect_values(const axle_tensor *x, int n, const double *values)
{
    double got[16];
    assert_non_null(x);
    assert_int_equal(axle_tensor_read(x, got, (size_t)n * sizeof(double)), AXLE_OK);
    for (int k = 0; k < n; k++)
        assert_true(fabs(got[k] - values[k]) < 1e-12);
}

#define EXPECT(x, ...)                                                                             \
    expect_values(x, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static int open_scope(void **state)
{
    (void)state;
    axle_error_clear();
    return axle_scope_push();
}

static int close_scope(void **state)
{
    (void)state;
    axle_scope_pop();
    return 0;
}

static void gradients_add_up(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2);
    assert_null(axle_tensor_grad(x));
    for (int k = 0; k < 2; k++)
        assert_int_equal(axle_tensor_backward(axle_sum_all(axle_square(x)), NULL, 0), AXLE_OK);
    EXPECT(axle_tensor_grad(x), 4, 8);
    assert_int_equal(axle_tensor_set_grad(x, NULL), AXLE_OK);
    assert_null(axle_tensor_grad(x));
}

static void a_leaf_used_twice_gets_both_shares(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(3);
    axle_tensor *y = axle_add(axle_mul(x, x), axle_mul_scalar(x, 5.0));
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_OK);
    EXPECT(axle_tensor_grad(x), 11);
}

static void a_graph_runs_once_unless_retained(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(2), *y = axle_square(x);
    assert_int_equal(axle_tensor_backward(y, NULL, 1), AXLE_OK);
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_OK);
    EXPECT(axle_tensor_grad(x), 8);
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "square");
}

static void overwriting_what_was_saved_is_noticed(void **state)
{
    (void)state;
    double other = 7;
    axle_tensor *x = VECTOR(2), *y = axle_square(x);
    assert_int_equal(axle_tensor_write(x, &other, sizeof(other)), AXLE_OK);
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "overwritten");
}

static void nothing_is_recorded_without_gradients(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(2);
    axle_no_grad_push();
    axle_no_grad_push();
    axle_no_grad_pop();
    assert_false(axle_grad_enabled());
    axle_tensor *y = axle_square(x);
    axle_no_grad_pop();
    assert_true(axle_grad_enabled());
    assert_false(axle_tensor_requires_grad(y));
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "requires a gradient");
}

static void a_root_of_many_elements_wants_a_gradient(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2), *y = axle_square(x);
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "(2)");
    assert_int_equal(axle_tensor_backward(y, axle_ones(AXLE_DTYPE_F64, AXLE_DIMS(3)), 0),
                     AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "(3)");
    double g[] = {1, 10};
    assert_int_equal(axle_tensor_backward(y, axle_from_data(AXLE_DTYPE_F64, AXLE_DIMS(2), g), 0),
                     AXLE_OK);
    EXPECT(axle_tensor_grad(x), 2, 40);
}

static void only_float_leaves_ask_for_gradients(void **state)
{
    (void)state;
    axle_tensor *i = axle_arange(AXLE_DTYPE_I64, 0, 3, 1);
    assert_int_equal(axle_tensor_set_requires_grad(i, 1), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "i64");
    axle_tensor *y = axle_exp(VECTOR(1));
    assert_false(axle_tensor_is_leaf(y));
    assert_int_equal(axle_tensor_set_requires_grad(y, 0), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "exp");
}

static void deep_graphs_need_no_deep_stack(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1), *y = x;
    for (int k = 0; k < 100000; k++)
        y = axle_add_scalar(y, 1.0);
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_OK);
    EXPECT(axle_tensor_grad(x), 1);
}

/* ------------------------------------------------------------------ hooks */

static axle_tensor *doubled(axle_tensor *g, void *user)
{
    ++*(int *)user;
    return axle_mul_scalar(g, 2.0);
}

static axle_tensor *misshapen(axle_tensor *g, void *user)
{
    (void)g, (void)user;
    return axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(5));
}

static void hooks_replace_gradients(void **state)
{
    (void)state;
    int calls = 0;
    axle_hook *hook;
    axle_tensor *x = VECTOR(3), *y = axle_square(x);
    assert_int_equal(axle_tensor_add_hook(y, doubled, &calls, NULL), AXLE_OK);
    assert_int_equal(axle_tensor_add_hook(x, doubled, &calls, &hook), AXLE_OK);
    assert_int_equal(axle_tensor_backward(y, NULL, 1), AXLE_OK);
    assert_int_equal(calls, 2);
    EXPECT(axle_tensor_grad(x), 24);
    axle_hook_remove(hook);
    assert_int_equal(axle_tensor_set_grad(x, NULL), AXLE_OK);
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_OK);
    assert_int_equal(calls, 3);
    EXPECT(axle_tensor_grad(x), 12);
}

static void a_hook_may_not_change_the_shape(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(3), *y = axle_square(x);
    assert_int_equal(axle_tensor_add_hook(y, misshapen, NULL, NULL), AXLE_OK);
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "hook");
}

static void note_ready(axle_tensor *leaf, void *user)
{
    double **next = user;
    axle_tensor_read(axle_tensor_grad(leaf), (*next)++, sizeof(double));
}

static void ready_hooks_see_the_whole_gradient_once(void **state)
{
    (void)state;
    double seen[4] = {0}, *next = seen;
    axle_tensor *x = VECTOR(3);
    assert_int_equal(axle_tensor_add_ready_hook(x, note_ready, &next, NULL), AXLE_OK);
    axle_tensor *y = axle_add(axle_mul(x, x), axle_exp(axle_mul_scalar(x, 0.0)));
    assert_int_equal(axle_tensor_backward(y, NULL, 0), AXLE_OK);
    assert_ptr_equal(next, seen + 1);
    assert_true(fabs(seen[0] - 6.0) < 1e-12);
}

/* ------------------------------------------------------------------ functions of users */

typedef struct calls {
    int forward, backward, destroyed;
} calls;

/* (a, b) -> (a * b, a + b). */
static int pair_forward(axle_function_context *context, axle_tensor *const *in, int n_in,
                        axle_tensor **out, int n_out)
{
    assert_int_equal(n_in, 2);
    assert_int_equal(n_out, 2);
    ((calls *)axle_function_user(context))->forward++;
    out[0] = axle_mul(in[0], in[1]);
    out[1] = axle_add(in[0], in[1]);
    assert_int_equal(axle_function_save(context, in[0]), AXLE_OK);
    return axle_function_save(context, in[1]);
}

static int pair_backward(axle_function_context *context, axle_tensor *const *dy, int n_out,
                         axle_tensor **dx, int n_in)
{
    assert_int_equal(n_in, 2);
    assert_int_equal(n_out, 2);
    ((calls *)axle_function_user(context))->backward++;
    for (int k = 0; k < 2; k++) {
        dx[k] = dy[0] ? axle_mul(dy[0], axle_function_saved(context, 1 - k)) : NULL;
        if (dy[1])
            dx[k] = dx[k] ? axle_add(dx[k], dy[1]) : dy[1];
    }
    assert_null(axle_function_saved(context, 2));
    axle_error_clear();
    return AXLE_OK;
}

static void count_destroyed(void *user)
{
    ((calls *)user)->destroyed++;
}

static const axle_function pair = {sizeof(axle_function), "pair", pair_forward, pair_backward,
                                   count_destroyed};

static void users_functions_have_their_own_derivative(void **state)
{
    (void)state;
    calls c = {0};
    axle_tensor *in[] = {VECTOR(2), VECTOR(5)}, *out[2];
    axle_scope_push();
    assert_int_equal(axle_function_apply(&pair, in, 2, out, 2, &c), AXLE_OK);
    EXPECT(out[0], 10);
    EXPECT(out[1], 7);
    assert_int_equal(axle_tensor_backward(axle_add_scaled(out[0], out[1], 3.0), NULL, 0), AXLE_OK);
    EXPECT(axle_tensor_grad(in[0]), 8);
    EXPECT(axle_tensor_grad(in[1]), 5);
    axle_scope_pop();
    assert_int_equal(c.forward, 1);
    assert_int_equal(c.backward, 1);
    assert_int_equal(c.destroyed, 1);
}

static void an_output_that_is_not_used_brings_no_gradient(void **state)
{
    (void)state;
    static calls c; /* the record goes with the scope, after this function */
    axle_tensor *in[] = {VECTOR(2), VECTOR(5)}, *out[2];
    assert_int_equal(axle_function_apply(&pair, in, 2, out, 2, &c), AXLE_OK);
    assert_int_equal(axle_tensor_backward(out[1], NULL, 0), AXLE_OK);
    EXPECT(axle_tensor_grad(in[0]), 1);
}

static int failing(axle_function_context *context, axle_tensor *const *in, int n_in,
                   axle_tensor **out, int n_out)
{
    (void)context, (void)in, (void)n_in, (void)out, (void)n_out;
    return axle_error_set(AXLE_ERR_INVALID, "no luck with %d", 13);
}

static void a_failing_function_says_why(void **state)
{
    (void)state;
    calls c = {0};
    axle_function f = pair;
    f.forward = failing;
    axle_tensor *in[] = {VECTOR(2), VECTOR(5)}, *out[2] = {NULL, NULL};
    assert_int_equal(axle_function_apply(&f, in, 2, out, 2, &c), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no luck with 13");
    assert_null(out[0]);
    assert_int_equal(c.destroyed, 1);
}

/* A correct function whose derivative is wrong by a factor. */
static int wrong_backward(axle_function_context *context, axle_tensor *const *dy, int n_out,
                          axle_tensor **dx, int n_in)
{
    (void)context, (void)n_out, (void)n_in;
    dx[0] = axle_mul_scalar(dy[0], 1.01);
    return AXLE_OK;
}

static int same_forward(axle_function_context *context, axle_tensor *const *in, int n_in,
                        axle_tensor **out, int n_out)
{
    (void)context, (void)n_in, (void)n_out;
    out[0] = in[0];
    return AXLE_OK;
}

static axle_tensor *apply_wrong(axle_tensor *const *in, int n, void *user)
{
    axle_function f = {sizeof(f), "wrong", same_forward, wrong_backward, NULL};
    axle_tensor *y = NULL;
    return axle_function_apply(&f, in, n, &y, 1, user) ? NULL : y;
}

static void gradcheck_finds_a_wrong_derivative(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2, 3);
    assert_int_equal(axle_gradcheck(apply_wrong, &x, 1, NULL, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "input 0, element 0");
}

/* ------------------------------------------------------------------ memory */

/* A small network's loss and gradients; 0 or the error. */
static int small_step(void)
{
    axle_tensor *w = NULL, *v = NULL;
    axle_scope_push();
    double x[] = {0.1, -0.2, 0.3, 0.7, 0.5, -0.9};
    int64_t t[] = {0, 1}, dw[] = {4, 3}, dv[] = {2, 4};
    int status = axle_tensor_create(axle_device_host(), AXLE_DTYPE_F64, 2, dw, &w);
    if (!status)
        status = axle_tensor_create(axle_device_host(), AXLE_DTYPE_F64, 2, dv, &v);
    if (!status)
        status = axle_init_constant(w, 0.1) ? axle_error_code() : axle_init_constant(v, 0.2);
    if (!status)
        status = axle_tensor_set_requires_grad(w, 1) ? axle_error_code()
                                                     : axle_tensor_set_requires_grad(v, 1);
    axle_tensor *in = status ? NULL : axle_from_data(AXLE_DTYPE_F64, AXLE_DIMS(2, 3), x);
    axle_tensor *h = axle_layer_norm(axle_gelu(axle_linear(in, w, NULL)), 1, NULL, NULL, 1e-5);
    axle_tensor *y = axle_concat((axle_tensor *[]){axle_linear(h, v, NULL)}, 1, 0);
    axle_tensor *loss =
        axle_cross_entropy(y, axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2), t), NULL);
    if (!status)
        status = loss ? axle_tensor_backward(loss, NULL, 0) : axle_error_code();
    axle_tensor_release(w);
    axle_tensor_release(v);
    axle_scope_pop();
    return status;
}

static void each_failing_allocation_is_an_error(void **state)
{
    (void)state;
    int failures = 0;
    assert_int_equal(small_step(), AXLE_OK);
    for (long n = 1;; n++) {
        axle__alloc_fail_at(n);
        int status = small_step();
        bool failed = axle__alloc_failed();
        axle__alloc_fail_at(0);
        if (!failed) {
            assert_int_equal(status, AXLE_OK);
            break;
        }
        if (status == AXLE_OK)
            continue; /* what failed could be done without */
        assert_int_equal(axle_error_code(), AXLE_ERR_NOMEM);
        assert_int_equal(axle_scope_depth(), 1);
        axle_error_clear();
        failures++;
    }
    assert_true(failures > 20);
    assert_int_equal(small_step(), AXLE_OK);
}

#define IN_SCOPE(sentence, function)                                                               \
    {                                                                                              \
        sentence, function, open_scope, close_scope, NULL                                          \
    }

static const struct CMUnitTest tests[] = {
    IN_SCOPE("gradients of several passes add up", gradients_add_up),
    IN_SCOPE("a leaf used twice gets both shares", a_leaf_used_twice_gets_both_shares),
    IN_SCOPE("a graph runs once unless it is retained", a_graph_runs_once_unless_retained),
    IN_SCOPE("overwriting what was saved is noticed", overwriting_what_was_saved_is_noticed),
    IN_SCOPE("nothing is recorded where gradients are off", nothing_is_recorded_without_gradients),
    IN_SCOPE("a root of many elements wants a gradient", a_root_of_many_elements_wants_a_gradient),
    IN_SCOPE("only float leaves ask for gradients", only_float_leaves_ask_for_gradients),
    IN_SCOPE("deep graphs need no deep stack", deep_graphs_need_no_deep_stack),
    IN_SCOPE("hooks replace gradients until they are removed", hooks_replace_gradients),
    IN_SCOPE("a hook may not change the shape", a_hook_may_not_change_the_shape),
    IN_SCOPE("ready hooks see the whole gradient once", ready_hooks_see_the_whole_gradient_once),
    IN_SCOPE("functions of users have their own derivative",
             users_functions_have_their_own_derivative),
    IN_SCOPE("an output that is not used brings no gradient",
             an_output_that_is_not_used_brings_no_gradient),
    IN_SCOPE("a failing function says why", a_failing_function_says_why),
    IN_SCOPE("gradcheck finds a wrong derivative", gradcheck_finds_a_wrong_derivative),
    IN_SCOPE("each failing allocation of a training step is an error",
             each_failing_allocation_is_an_error),
};

static int on_host(void **state)
{
    (void)state;
    return axle_device_set_default(axle_device_host());
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, on_host, NULL);
}
