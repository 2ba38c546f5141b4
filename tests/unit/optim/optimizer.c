/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "autograd/node.h"
#include "axle/axle.h"
#include "base/memory.h"
#include "optim/optimizer.h"
#include "tensor/elementwise.h"
#include "unit.h"

/* A module with one parameter "weight" of these values. */
static const axle_module_class bag_class = {
    .struct_size = sizeof(axle_module_class), .name = "bag", .instance_size = sizeof(axle_module)};

static axle_module *bag(void)
{
    axle_module *module;
    assert_int_equal(axle_module_new(&bag_class, &module), AXLE_OK);
    return module;
}

static axle_tensor *add(axle_module *module, const char *name, double value)
{
    axle_tensor *p;
    assert_int_equal(axle_tensor_create(axle_device_host(), AXLE_DTYPE_F64, 0, NULL, &p), AXLE_OK);
    assert_int_equal(axle_tensor_write(p, &value, sizeof(value)), AXLE_OK);
    assert_int_equal(axle_module_add_parameter(module, name, p), AXLE_OK);
    return axle_module_parameter(module, name);
}

static void set_grad(axle_tensor *p, double g)
{
    assert_int_equal(axle_tensor_set_grad(p, axle_scalar(AXLE_DTYPE_F64, g)), AXLE_OK);
}

static double value(axle_tensor *p)
{
    double v = NAN;
    assert_int_equal(axle_tensor_item(p, &v), AXLE_OK);
    return v;
}

static void near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("expected %.12g, got %.12g", expected, got);
}

static double one_adam_step(const axle_adam_options *options, bool decoupled, double p, double g)
{
    axle_module *module = bag();
    axle_tensor *w = add(module, "weight", p);
    axle_optimizer *opt;
    assert_int_equal((decoupled ? axle_adamw_create : axle_adam_create)(module, options, &opt), 0);
    set_grad(w, g);
    assert_int_equal(axle_optimizer_step(opt), AXLE_OK);
    double result = value(w);
    axle_optimizer_release(opt);
    axle_module_release(module);
    return result;
}

static void eps_comes_after_bias_correction(void **state)
{
    (void)state;
    axle_adam_options o = AXLE_ADAM_OPTIONS_INIT;
    near(one_adam_step(&o, false, 1.0, 1e-6), 0.99900990, 5e-9);
}

static void amsgrad_keeps_the_largest_raw_moment(void **state)
{
    (void)state;
    axle_adam_options o = AXLE_ADAM_OPTIONS_INIT;
    o.amsgrad = 1;
    axle_module *module = bag();
    axle_tensor *w = add(module, "weight", 0.0);
    axle_optimizer *opt;
    assert_int_equal(axle_adam_create(module, &o, &opt), AXLE_OK);
    set_grad(w, 1.0);
    assert_int_equal(axle_optimizer_step(opt), AXLE_OK);
    set_grad(w, 0.0);
    assert_int_equal(axle_optimizer_step(opt), AXLE_OK);
    near(value(w), -0.00166972, 5e-9);
    axle_optimizer_release(opt);
    axle_module_release(module);
}

static void decay_is_decoupled_in_adamw_alone(void **state)
{
    (void)state;
    axle_adam_options o = AXLE_ADAM_OPTIONS_INIT;
    o.weight_decay = 0.1;
    near(one_adam_step(&o, true, 2.0, 0.5), 1.99880000, 5e-9);
    near(one_adam_step(&o, false, 2.0, 0.5), 1.99900000, 5e-9);
}

/* It has a gradient, which is 0, and keeps no other place. */
static void a_padding_row_decays_as_others_do(void **state)
{
    (void)state;
    axle_module *embedding;
    axle_optimizer *opt;
    double rows[6];
    axle_adamw_options o = AXLE_ADAMW_OPTIONS_INIT;
    o.weight_decay = 0.1;
    assert_int_equal(axle_set_default_dtype(AXLE_DTYPE_F64), AXLE_OK);
    assert_int_equal(axle_embedding_create(3, 2, 0, &embedding), AXLE_OK);
    axle_set_default_dtype(AXLE_DTYPE_F32);
    axle_tensor *weight = axle_module_parameter(embedding, "weight");
    assert_int_equal(axle_tensor_write(weight, (double[]){5, 5, 1, 2, 3, 4}, sizeof(rows)),
                     AXLE_OK);
    assert_int_equal(axle_adamw_create(embedding, &o, &opt), AXLE_OK);
    axle_tensor *ids = axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(3), (int64_t[]){0, 1, 1});
    axle_tensor *y = axle_module_forward(embedding, ids);
    assert_int_equal(axle_tensor_backward(axle_sum_all(y), NULL, 0), AXLE_OK);
    assert_int_equal(axle_optimizer_step(opt), AXLE_OK);
    assert_int_equal(axle_tensor_read(weight, rows, sizeof(rows)), AXLE_OK);
    near(rows[0], 5.0 * (1.0 - 1e-3 * 0.1), 1e-12);
    near(rows[4], 3.0 * (1.0 - 1e-3 * 0.1), 1e-12);
    near(rows[2], 1.0 * (1.0 - 1e-3 * 0.1) - 1e-3, 1e-9);
    axle_optimizer_release(opt);
    axle_module_release(embedding);
}

static void groups_by_name_keep_their_own_decay(void **state)
{
    (void)state;
    axle_module *module = bag();
    axle_tensor *weight = add(module, "weight", 2.0), *bias = add(module, "bias", 2.0);
    axle_adam_options o = AXLE_ADAMW_OPTIONS_INIT;
    o.weight_decay = 0.1;
    axle_group_options plain = AXLE_GROUP_OPTIONS_INIT;
    plain.weight_decay = 0.0;
    axle_optimizer *opt;
    assert_int_equal(axle_adamw_create(module, &o, &opt), AXLE_OK);
    assert_int_equal(axle_optimizer_group_by_name(opt, "*bias", &plain), AXLE_OK);
    assert_int_equal(axle_optimizer_group_count(opt), 2);
    assert_int_equal(axle_optimizer_group_by_name(opt, "*.nothing", &plain), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "*.nothing");
    set_grad(weight, 0.5);
    set_grad(bias, 0.5);
    assert_int_equal(axle_optimizer_step(opt), AXLE_OK);
    near(value(weight), 1.9988, 5e-9);
    near(value(bias), 1.999, 5e-9);
    assert_int_equal(axle_optimizer_group_by_name(opt, "*", NULL), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "before the first");
    axle_optimizer_release(opt);
    axle_module_release(module);
}

static void a_parameter_without_gradient_is_left_alone(void **state)
{
    (void)state;
    axle_module *module = bag();
    axle_tensor *used = add(module, "used", 1.0), *idle = add(module, "idle", 1.0),
                *last = add(module, "last", 1.0);
    axle_adam_options o = AXLE_ADAMW_OPTIONS_INIT;
    o.weight_decay = 0.1;
    axle_optimizer *opt;
    assert_int_equal(axle_adamw_create(module, &o, &opt), AXLE_OK);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(axle_optimizer_zero_grad(opt), AXLE_OK);
        set_grad(used, 0.5);
        set_grad(last, 0.5);
        assert_int_equal(axle_optimizer_step(opt), AXLE_OK);
    }
    assert_true(value(idle) == 1.0);
    assert_true(value(used) == value(last));
    assert_int_equal(opt->slots[1].age, 0);
    /* Its first update corrects bias as a first update does. */
    assert_int_equal(axle_optimizer_zero_grad(opt), AXLE_OK);
    set_grad(idle, 0.5);
    assert_int_equal(axle_optimizer_step(opt), AXLE_OK);
    near(value(idle), 1.0 * (1 - 1e-3 * 0.1) - 1e-3, 1e-9);
    axle_optimizer_release(opt);
    axle_module_release(module);
}

static void parameters_share_one_arena_and_keep_their_values(void **state)
{
    (void)state;
    axle_module *module = bag();
    axle_tensor *a = add(module, "a", 3.0), *b = add(module, "b", 4.0);
    axle_optimizer *opt;
    assert_int_equal(axle_sgd_create(module, NULL, &opt), AXLE_OK);
    set_grad(a, 1.0);
    assert_int_equal(axle__optimizer_lay_out(opt), AXLE_OK);
    assert_true(axle_tensor_shares_storage(a, b));
    assert_true(value(a) == 3.0 && value(b) == 4.0);
    assert_true(value(axle_tensor_grad(a)) == 1.0);
    assert_null(axle_tensor_grad(b));
    axle_optimizer_release(opt);
    assert_true(value(a) == 3.0);
    axle_module_release(module);
}

static int64_t reserved(void)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    assert_int_equal(axle_device_get_stats(axle_device_host(), &stats), AXLE_OK);
    return (int64_t)stats.bytes_reserved;
}

/* Two arenas come, and where the parameter was goes. */
static void memory_from_before_the_arenas_goes_back(void **state)
{
    (void)state;
    enum { COUNT = 3 << 20 };
    axle_module *module = bag();
    axle_tensor *p;
    axle_optimizer *opt;
    assert_int_equal(axle_tensor_create(axle_device_host(), AXLE_DTYPE_F32, AXLE_DIMS(COUNT), &p),
                     AXLE_OK);
    assert_int_equal(axle_init_constant(p, 1.0), AXLE_OK);
    assert_int_equal(axle_module_add_parameter(module, "p", p), AXLE_OK);
    assert_int_equal(axle_sgd_create(module, NULL, &opt), AXLE_OK);
    axle_device_trim(axle_device_host());
    int64_t before = reserved();
    assert_int_equal(axle__optimizer_lay_out(opt), AXLE_OK);
    assert_true(reserved() - before < COUNT * (int64_t)sizeof(float) * 3 / 2);
    axle_optimizer_release(opt);
    axle_module_release(module);
}

static void clipping_scales_by_the_joint_norm(void **state)
{
    (void)state;
    axle_module *module = bag();
    axle_tensor *a = add(module, "a", 0.0), *b = add(module, "b", 0.0);
    axle_optimizer *opt;
    double norm = 0.0;
    assert_int_equal(axle_sgd_create(module, NULL, &opt), AXLE_OK);
    set_grad(a, 3.0);
    set_grad(b, 4.0);
    assert_int_equal(axle_optimizer_clip_norm(opt, 1.0, &norm), AXLE_OK);
    near(norm, 5.0, 1e-12);
    near(value(axle_tensor_grad(a)), 0.5999999, 5e-8);
    near(value(axle_tensor_grad(b)), 0.7999998, 5e-8);
    assert_int_equal(axle_optimizer_clip_norm(opt, 1.0, &norm), AXLE_OK);
    near(norm, 1.0, 1e-6);
    near(value(axle_tensor_grad(a)), 0.5999999, 1e-6);
    assert_int_equal(axle_optimizer_clip_value(opt, 0.7), AXLE_OK);
    near(value(axle_tensor_grad(b)), 0.7, 1e-12);
    assert_int_equal(axle_optimizer_clip_norm(opt, -1.0, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "-1");
    axle_optimizer_release(opt);
    axle_module_release(module);
}

static void bad_options_are_refused_by_value(void **state)
{
    (void)state;
    axle_optimizer *opt = NULL;
    axle_adam_options adam = AXLE_ADAM_OPTIONS_INIT;
    adam.beta1 = 1.0;
    assert_int_equal(axle_adam_create(NULL, &adam, &opt), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "betas 1");
    axle_sgd_options sgd = AXLE_SGD_OPTIONS_INIT;
    sgd.lr = -0.5;
    assert_int_equal(axle_sgd_create(NULL, &sgd, &opt), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "-0.5");
    sgd.lr = 0.5;
    sgd.nesterov = 1;
    assert_int_equal(axle_sgd_create(NULL, &sgd, &opt), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "Nesterov");
    assert_null(opt);
}

static void the_same_parameter_is_not_taken_twice(void **state)
{
    (void)state;
    axle_module *module = bag();
    axle_tensor *a = add(module, "a", 0.0);
    axle_optimizer *opt;
    assert_int_equal(axle_sgd_create(module, NULL, &opt), AXLE_OK);
    assert_int_equal(axle_optimizer_add_group(opt, &a, 1, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "twice");
    axle_optimizer_release(opt);
    axle_module_release(module);
}

static void bad_schedules_are_refused_by_value(void **state)
{
    (void)state;
    axle_optimizer *opt;
    axle_scheduler *sched = NULL;
    axle_one_cycle_options cycle = AXLE_ONE_CYCLE_OPTIONS_INIT;
    axle_anneal_options anneal = AXLE_ANNEAL_OPTIONS_INIT;
    const int64_t falls[] = {3, 2};
    assert_int_equal(axle_sgd_create(NULL, NULL, &opt), AXLE_OK);
    assert_int_equal(axle_multi_step_schedule_create(opt, falls, 2, 0.1, &sched), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "milestone 1 is tick 2, after 3");
    assert_int_equal(axle_multi_step_schedule_create(opt, NULL, 1, 0.1, &sched), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "1 milestones");
    anneal.anneal = 2;
    assert_int_equal(axle_anneal_schedule_create(opt, &anneal, &sched), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "anneal 2");
    cycle.three_phase = 1;
    cycle.rise = 0.6;
    assert_int_equal(axle_one_cycle_schedule_create(opt, &cycle, &sched), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "rise 0.6 of three phases");
    assert_null(sched);
    /* A program that was built when the options ended before the kind of annealing. */
    cycle = (axle_one_cycle_options)AXLE_ONE_CYCLE_OPTIONS_INIT;
    cycle.total = 10;
    cycle.struct_size = offsetof(axle_one_cycle_options, anneal);
    cycle.anneal = 17;
    assert_int_equal(axle_one_cycle_schedule_create(opt, &cycle, &sched), AXLE_OK);
    axle_scheduler_release(sched);
    axle_optimizer_release(opt);
}

static void a_schedule_ticks_with_updates(void **state)
{
    (void)state;
    axle_module *module = bag();
    axle_tensor *a = add(module, "a", 0.0);
    axle_sgd_options o = AXLE_SGD_OPTIONS_INIT;
    o.lr = 1.0;
    axle_optimizer *opt;
    axle_scheduler *sched;
    assert_int_equal(axle_sgd_create(module, &o, &opt), AXLE_OK);
    assert_int_equal(axle_linear_schedule_create(opt, 0, 4, &sched), AXLE_OK);
    double expected[] = {1.0, 0.75, 0.5, 0.25, 0.0};
    for (int k = 0; k < 5; k++) {
        near(axle_optimizer_lr(opt, 0), expected[k], 1e-15);
        set_grad(a, 1.0);
        assert_int_equal(axle_optimizer_step(opt), AXLE_OK);
        assert_int_equal(axle_scheduler_step(sched), AXLE_OK);
    }
    assert_int_equal(axle_scheduler_ticks(sched), 5);
    axle_scheduler_release(sched);
    axle_optimizer_release(opt);
    axle_module_release(module);
}

static int whole_life(void)
{
    axle_module *module = NULL;
    axle_optimizer *opt = NULL;
    axle_scheduler *sched = NULL;
    axle_tensor *p = NULL, *q = NULL;
    int status = axle_module_new(&bag_class, &module);
    if (!status)
        status = axle_tensor_create(axle_device_host(), AXLE_DTYPE_F64, 0, NULL, &p);
    if (!status)
        status = axle__fill(p, 1.0) ? axle_error_code() : axle_module_add_parameter(module, "p", p);
    else
        axle_tensor_release(p);
    if (!status)
        status = axle_adam_create(module, NULL, &opt);
    if (!status)
        status = axle_constant_schedule_create(opt, 1, &sched);
    if (!status) {
        q = axle_scalar(AXLE_DTYPE_F64, 1.0);
        status =
            q ? axle_tensor_set_grad(axle_module_parameter(module, "p"), q) : axle_error_code();
    }
    if (!status)
        status = axle_optimizer_clip_norm(opt, 0.5, NULL);
    if (!status)
        status = axle_optimizer_step(opt);
    axle_scheduler_release(sched);
    axle_optimizer_release(opt);
    axle_module_release(module);
    return status;
}

static void each_failing_allocation_is_an_error(void **state)
{
    (void)state;
    int failures = 0;
    for (long n = 1;; n++) {
        axle_scope_push();
        axle__alloc_fail_at(n);
        int status = whole_life();
        bool failed = axle__alloc_failed();
        axle__alloc_fail_at(0);
        axle_scope_pop();
        if (!failed) {
            assert_int_equal(status, AXLE_OK);
            break;
        }
        failures += status != AXLE_OK;
        axle_error_clear();
    }
    assert_true(failures > 10);
}

static int open_scope(void **state)
{
    (void)state;
    axle_error_clear();
    return axle_device_set_default(axle_device_host()) || axle_scope_push();
}

static int close_scope(void **state)
{
    (void)state;
    axle_scope_pop();
    return 0;
}

#define IN_SCOPE(sentence, function)                                                               \
    {                                                                                              \
        sentence, function, open_scope, close_scope, NULL                                          \
    }

static const struct CMUnitTest tests[] = {
    IN_SCOPE("Adam adds eps after bias correction", eps_comes_after_bias_correction),
    IN_SCOPE("amsgrad keeps the largest raw moment", amsgrad_keeps_the_largest_raw_moment),
    IN_SCOPE("decay is decoupled in AdamW alone", decay_is_decoupled_in_adamw_alone),
    IN_SCOPE("a padding row decays as others do", a_padding_row_decays_as_others_do),
    IN_SCOPE("groups by name keep their own decay", groups_by_name_keep_their_own_decay),
    IN_SCOPE("a parameter without gradient is left alone",
             a_parameter_without_gradient_is_left_alone),
    IN_SCOPE("parameters share one arena and keep their values",
             parameters_share_one_arena_and_keep_their_values),
    IN_SCOPE("memory from before the arenas goes back", memory_from_before_the_arenas_goes_back),
    IN_SCOPE("clipping scales by the joint norm, once", clipping_scales_by_the_joint_norm),
    IN_SCOPE("bad options are refused by value", bad_options_are_refused_by_value),
    IN_SCOPE("the same parameter is not taken twice", the_same_parameter_is_not_taken_twice),
    IN_SCOPE("bad schedules are refused by value, and options of older programs are taken",
             bad_schedules_are_refused_by_value),
    IN_SCOPE("a schedule ticks with updates", a_schedule_ticks_with_updates),
    IN_SCOPE("each failing allocation is an error", each_failing_allocation_is_an_error),
};
UNIT_MAIN(tests)
