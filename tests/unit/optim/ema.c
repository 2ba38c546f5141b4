/* SPDX-License-Identifier: Apache-2.0 */
/* Averages of parameters: values, when they move, swapping, and bytes. */
#include <math.h>

#include "axle/axle.h"
#include "optim/ema.h"
#include "optim/optimizer.h"
#include "tensors.h"

static void ok(int code)
{
    if (code)
        fail_msg("%d: %s", code, axle_error_message());
}

static axle_module *net(void)
{
    axle_module *module, *layer;
    axle_seed(2);
    ok(axle_set_default_dtype(AXLE_DTYPE_F64));
    ok(axle_sequential_create(&module));
    ok(axle_linear_create(3, 5, 1, &layer));
    ok(axle_module_add_child(module, NULL, layer));
    ok(axle_linear_create(5, 2, 1, &layer));
    ok(axle_module_add_child(module, NULL, layer));
    ok(axle_set_default_dtype(AXLE_DTYPE_F32));
    return module;
}

static axle_optimizer *sgd(axle_module *module)
{
    axle_sgd_options options = AXLE_SGD_OPTIONS_INIT;
    axle_optimizer *optimizer;
    options.lr = 0.1;
    ok(axle_sgd_create(module, &options, &optimizer));
    return optimizer;
}

static void train_step(axle_module *module, axle_optimizer *optimizer)
{
    axle_scope_push();
    axle_optimizer_zero_grad(optimizer);
    axle_tensor *x = axle_randn(AXLE_DTYPE_F64, AXLE_DIMS(4, 3));
    axle_tensor *y = axle_module_forward(module, x);
    ok(axle_tensor_backward(axle_mean_all(axle_square(y)), NULL, 0));
    ok(axle_optimizer_step(optimizer));
    axle_scope_pop();
}

/* The first element of a parameter. */
static double first(axle_tensor *tensor)
{
    double *values = tensors_read(tensor), value = values[0];
    free(values);
    return value;
}

static void near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-14 * fmax(1.0, fabs(expected))))
        fail_msg("expected %.17g, got %.17g", expected, got);
}

/* One operator a call once the optimizer has an arena; several before. */
static void averages_follow_the_formula(void **state)
{
    (void)state;
    for (int warmup = 0; warmup < 2; warmup++) {
        axle_module *module = net();
        axle_optimizer *optimizer = sgd(module);
        axle_tensor *weight = axle_module_parameter(module, "0.weight");
        axle_tensor *bias = axle_module_parameter(module, "1.bias");
        axle_ema_options options = AXLE_EMA_OPTIONS_INIT;
        axle_ema *ema;
        options.warmup = warmup;
        ok(axle_ema_create(module, 0.3, &options, &ema));
        assert_int_equal(ema->run_count, 4);
        double expected[2] = {first(weight), first(bias)};
        for (int t = 1; t <= 6; t++) {
            train_step(module, optimizer);
            ok(axle_ema_update(ema, optimizer));
            double decay = warmup ? fmin(0.3, (1.0 + t) / (10.0 + t)) : 0.3;
            expected[0] = decay * expected[0] + (1.0 - decay) * first(weight);
            expected[1] = decay * expected[1] + (1.0 - decay) * first(bias);
            near(first(axle_ema_average(ema, "0.weight")), expected[0]);
            near(first(axle_ema_average(ema, "1.bias")), expected[1]);
        }
        assert_int_equal(ema->run_count, 1);
        assert_int_equal(axle_ema_updates(ema), 6);
        assert_null(axle_ema_average(ema, "2.weight"));
        axle_ema_release(ema);
        axle_optimizer_release(optimizer);
        axle_module_release(module);
    }
}

static void only_updates_count(void **state)
{
    (void)state;
    axle_module *module = net();
    axle_optimizer *optimizer = sgd(module);
    axle_ema *ema;
    ok(axle_ema_create(module, 0.9, NULL, &ema));
    ok(axle_ema_update(ema, optimizer));
    assert_int_equal(axle_ema_updates(ema), 0);
    train_step(module, optimizer);
    ok(axle_ema_update(ema, optimizer));
    ok(axle_ema_update(ema, optimizer));
    assert_int_equal(axle_ema_updates(ema), 1);
    optimizer->suspended = true; /* a window of the accelerator */
    train_step(module, optimizer);
    ok(axle_ema_update(ema, optimizer));
    assert_int_equal(axle_ema_updates(ema), 1);
    optimizer->suspended = false;
    train_step(module, optimizer);
    ok(axle_ema_update(ema, optimizer));
    ok(axle_ema_update(ema, NULL));
    assert_int_equal(axle_ema_updates(ema), 3);
    axle_ema_release(ema);
    axle_optimizer_release(optimizer);
    axle_module_release(module);
}

static void swapping_is_exact(void **state)
{
    (void)state;
    axle_module *module = net();
    axle_optimizer *optimizer = sgd(module);
    axle_ema *ema;
    uint64_t sums[4];
    ok(axle_ema_create(module, 0.9, NULL, &ema));
    ok(axle_module_checksum(module, &sums[0]));
    for (int t = 0; t < 3; t++) {
        train_step(module, optimizer);
        ok(axle_ema_update(ema, optimizer));
    }
    ok(axle_module_checksum(module, &sums[1]));
    double average = first(axle_ema_average(ema, "1.weight"));
    ok(axle_ema_swap(ema));
    assert_true(axle_ema_swapped(ema));
    assert_true(first(axle_module_parameter(module, "1.weight")) == average);
    assert_int_equal(axle_ema_update(ema, NULL), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "swap them back");
    ok(axle_module_checksum(module, &sums[2]));
    assert_true(sums[2] != sums[0] && sums[2] != sums[1]);
    ok(axle_ema_swap(ema));
    ok(axle_module_checksum(module, &sums[3]));
    assert_true(sums[3] == sums[1]);
    assert_false(axle_ema_swapped(ema));
    ok(axle_ema_swap(ema)); /* releasing swaps back */
    axle_ema_release(ema);
    ok(axle_module_checksum(module, &sums[3]));
    assert_true(sums[3] == sums[1]);
    axle_optimizer_release(optimizer);
    axle_module_release(module);
}

/* An average goes on with the run it finds itself in, and what is frozen has none. */
static void layouts_may_change(void **state)
{
    (void)state;
    axle_module *module = net();
    ok(axle_module_freeze(module, "0.weight", 1));
    axle_ema *ema;
    ok(axle_ema_create(module, 0.5, NULL, &ema));
    assert_null(axle_ema_average(ema, "0.weight"));
    axle_tensor *bias = axle_module_parameter(module, "0.bias");
    double expected = first(bias);
    for (int t = 0; t < 4; t++) {
        axle_optimizer *optimizer = sgd(module);
        train_step(module, optimizer);
        ok(axle_ema_update(ema, NULL));
        expected = 0.5 * expected + 0.5 * first(bias);
        near(first(axle_ema_average(ema, "0.bias")), expected);
        axle_optimizer_release(optimizer);
    }
    assert_int_equal(ema->run_count, 1);
    axle_ema_release(ema);
    axle_module_release(module);
}

static void a_decay_of_one_is_refused(void **state)
{
    (void)state;
    axle_module *module = net();
    axle_ema *ema;
    assert_int_equal(axle_ema_create(module, 1.0, NULL, &ema), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "decay 1 is not in [0, 1)");
    assert_int_equal(axle_ema_create(NULL, 0.5, NULL, &ema), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "the module is NULL");
    axle_ema_release(NULL);
    axle_module_release(module);
}

static const struct CMUnitTest tests[] = {
    TENSORS("averages follow the formula, in one run once there is an arena",
            averages_follow_the_formula),
    TENSORS("only real updates are taken in, each once", only_updates_count),
    TENSORS("swapping is exact, and releasing swaps back", swapping_is_exact),
    TENSORS("parameters may move, and frozen ones have no average", layouts_may_change),
    TENSORS("a decay of one is refused", a_decay_of_one_is_refused),
};

UNIT_MAIN(tests)
