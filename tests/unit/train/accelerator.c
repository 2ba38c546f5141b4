/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "axle/axle.h"
#include "optim/optimizer.h"
#include "unit.h"

/* y = w * x over rows with weights of their own; loss is the mean of (y - t)^2. */
typedef struct fixture {
    axle_accelerator *acc;
    axle_module *module;
    axle_model *model;
    axle_optimizer *opt;
    axle_scheduler *sched;
    axle_loader *loader;
    axle_dataset *set;
} fixture;

static axle_output squared_error(axle_module *module, axle_batch *batch, void *user)
{
    (void)user;
    axle_output out = {NULL, axle_module_forward(module, axle_batch_get(batch, "input"))};
    out.loss = axle_mse_loss(out.logits, axle_batch_get(batch, "target"), AXLE_LOSS_MEAN);
    return out;
}

static axle_dataset *rows(int64_t n)
{
    const char *names[] = {"input", "target"};
    int64_t dims[] = {n, 2}, target[] = {n, 1};
    axle_seed(5);
    axle_tensor *tensors[] = {axle_randn(AXLE_DTYPE_F64, 2, dims),
                              axle_randn(AXLE_DTYPE_F64, 2, target)};
    axle_dataset *set;
    assert_int_equal(axle_tensor_dataset_create(names, tensors, 2, &set), AXLE_OK);
    return set;
}

static fixture begin(int64_t n, int64_t batch, int accumulate, double clip)
{
    fixture f;
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    o.backend = "reference";
    o.accumulate = accumulate;
    o.clip_norm = clip;
    o.quiet = 1;
    assert_int_equal(axle_accelerator_create(&o, &f.acc), AXLE_OK);
    assert_int_equal(axle_set_default_dtype(AXLE_DTYPE_F64), AXLE_OK);
    f.set = rows(n);
    axle_seed(3);
    assert_int_equal(axle_linear_create(2, 1, 1, &f.module), AXLE_OK);
    axle_module_retain(f.module);
    assert_int_equal(axle_model_create(f.module, squared_error, NULL, &f.model), AXLE_OK);
    axle_adamw_options adam = AXLE_ADAMW_OPTIONS_INIT;
    adam.lr = 0.1;
    assert_int_equal(axle_adamw_create(f.module, &adam, &f.opt), AXLE_OK);
    assert_int_equal(axle_linear_schedule_create(f.opt, 0, 100, &f.sched), AXLE_OK);
    axle_loader_options lo = AXLE_LOADER_OPTIONS_INIT;
    lo.batch_size = batch;
    assert_int_equal(axle_loader_create(f.set, &lo, &f.loader), AXLE_OK);
    assert_int_equal(axle_prepare(f.acc, f.sched, f.loader, f.opt, f.model), AXLE_OK);
    axle_set_default_dtype(AXLE_DTYPE_F32);
    return f;
}

static void end(fixture *f)
{
    axle_accelerator_release(f->acc);
    axle_loader_release(f->loader);
    axle_dataset_release(f->set);
    axle_scheduler_release(f->sched);
    axle_optimizer_release(f->opt);
    axle_model_release(f->model);
    axle_module_release(f->module);
}

typedef enum order { ZERO_FIRST, ZERO_LAST } order;

static void train(fixture *f, int epochs, order zero)
{
    axle_batch *batch;
    for (int epoch = 0; epoch < epochs; epoch++) {
        while (axle_loader_next(f->loader, &batch)) {
            if (zero == ZERO_FIRST)
                axle_optimizer_zero_grad(f->opt);
            axle_output out = axle_model_forward(f->model, batch);
            assert_int_equal(axle_backward(f->acc, out.loss), AXLE_OK);
            assert_int_equal(axle_optimizer_step(f->opt), AXLE_OK);
            assert_int_equal(axle_scheduler_step(f->sched), AXLE_OK);
            if (zero == ZERO_LAST)
                axle_optimizer_zero_grad(f->opt);
        }
        assert_int_equal(axle_loader_status(f->loader), AXLE_OK);
    }
}

static void weights(const fixture *f, double out[3])
{
    axle_tensor_read(axle_module_parameter(f->module, "weight"), out, 2 * sizeof(double));
    axle_tensor_read(axle_module_parameter(f->module, "bias"), out + 2, sizeof(double));
}

static void expect_same(const double a[3], const double b[3])
{
    for (int k = 0; k < 3; k++)
        if (!(fabs(a[k] - b[k]) <= 1e-12))
            fail_msg("parameter %d: %.17g and %.17g", k, a[k], b[k]);
}

/* 18 rows: windows of 4 batches of 2 rows, the last of 1 batch. */
static void accumulate_equals_large(order zero)
{
    double large[3], small[3];
    fixture f = begin(18, 8, 1, 0.0);
    train(&f, 3, ZERO_FIRST);
    weights(&f, large);
    assert_int_equal(axle_optimizer_updates(f.opt), 9);
    end(&f);
    f = begin(18, 2, 4, 0.0);
    train(&f, 3, zero);
    weights(&f, small);
    assert_int_equal(axle_optimizer_updates(f.opt), 9);
    assert_int_equal(axle_scheduler_ticks(f.sched), 9);
    end(&f);
    expect_same(large, small);
}

static void windows_equal_large_batches(void **state)
{
    (void)state;
    accumulate_equals_large(ZERO_FIRST);
}

static void gradients_may_be_zeroed_after_the_step(void **state)
{
    (void)state;
    accumulate_equals_large(ZERO_LAST);
}

/* 7 rows by 2: the window's last batch has one row only. */
static void a_short_last_batch_weighs_its_rows(void **state)
{
    (void)state;
    double large[3], small[3];
    fixture f = begin(7, 7, 1, 0.0);
    train(&f, 2, ZERO_FIRST);
    weights(&f, large);
    end(&f);
    f = begin(7, 2, 4, 0.0);
    train(&f, 2, ZERO_FIRST);
    weights(&f, small);
    end(&f);
    expect_same(large, small);
}

static void clipping_happens_once_a_window(void **state)
{
    (void)state;
    double large[3], small[3];
    fixture f = begin(16, 8, 1, 0.05);
    train(&f, 2, ZERO_FIRST);
    weights(&f, large);
    end(&f);
    f = begin(16, 2, 4, 0.05);
    train(&f, 2, ZERO_FIRST);
    weights(&f, small);
    end(&f);
    expect_same(large, small);
}

static void clipping_inside_a_window_does_nothing(void **state)
{
    (void)state;
    fixture f = begin(8, 2, 4, 0.0);
    axle_batch *batch;
    double before[2], after[2], norm = -1.0;
    assert_true(axle_loader_next(f.loader, &batch));
    assert_false(axle_is_update(f.acc));
    assert_int_equal(axle_backward(f.acc, axle_model_forward(f.model, batch).loss), AXLE_OK);
    axle_tensor *grad = axle_tensor_grad(axle_module_parameter(f.module, "weight"));
    axle_tensor_read(grad, before, sizeof(before));
    assert_int_equal(axle_clip_norm(f.acc, f.opt, 1e-3, &norm), AXLE_OK);
    axle_tensor_read(grad, after, sizeof(after));
    assert_memory_equal(before, after, sizeof(before));
    assert_true(norm == -1.0);
    assert_false(axle_is_update(f.acc));
    axle_loader_break(f.loader);
    end(&f);
}

/* An evaluation between two batches of a window changes nothing. */
static void loops_nest(void **state)
{
    (void)state;
    double plain[3], nested[3];
    fixture f = begin(16, 2, 4, 0.0);
    train(&f, 1, ZERO_FIRST);
    weights(&f, plain);
    end(&f);
    f = begin(16, 2, 4, 0.0);
    axle_loader *inner;
    axle_dataset *set = rows(5);
    assert_int_equal(axle_loader_create(set, NULL, &inner), AXLE_OK);
    assert_int_equal(axle_prepare(f.acc, inner), AXLE_OK);
    axle_batch *batch, *eval;
    while (axle_loader_next(f.loader, &batch)) {
        axle_optimizer_zero_grad(f.opt);
        axle_output out = axle_model_forward(f.model, batch);
        axle_no_grad_push();
        int seen = 0;
        while (axle_loader_next(inner, &eval))
            seen += axle_model_forward(f.model, eval).loss != NULL;
        axle_no_grad_pop();
        assert_int_equal(seen, 5);
        assert_int_equal(axle_backward(f.acc, out.loss), AXLE_OK);
        assert_int_equal(axle_optimizer_step(f.opt), AXLE_OK);
        assert_int_equal(axle_scheduler_step(f.sched), AXLE_OK);
    }
    weights(&f, nested);
    end(&f);
    axle_loader_release(inner);
    axle_dataset_release(set);
    expect_same(plain, nested);
}

static void preparing_twice_changes_nothing(void **state)
{
    (void)state;
    double once[3], twice[3];
    fixture f = begin(8, 2, 1, 0.0);
    train(&f, 1, ZERO_FIRST);
    weights(&f, once);
    end(&f);
    f = begin(8, 2, 1, 0.0);
    assert_int_equal(axle_prepare(f.acc, f.model, f.loader, f.model, f.opt), AXLE_OK);
    assert_int_equal(axle_loader_length(f.loader), 4);
    train(&f, 1, ZERO_FIRST);
    weights(&f, twice);
    end(&f);
    expect_same(once, twice);
}

static void strangers_are_refused_by_position(void **state)
{
    (void)state;
    fixture f = begin(8, 2, 1, 0.0);
    uint64_t stranger[64] = {0};
    assert_int_equal(axle_prepare(f.acc, f.model, stranger), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "argument 2");
    end(&f);
}

static void a_loss_that_is_not_finite_is_refused(void **state)
{
    (void)state;
    fixture f = begin(8, 2, 1, 0.0);
    axle_tensor *loss = axle_log(axle_mul_scalar(
        axle_sum_all(axle_square(axle_module_parameter(f.module, "weight"))), -1.0));
    assert_int_equal(axle_backward(f.acc, loss), AXLE_ERR_NONFINITE);
    unit_expect_error(AXLE_ERR_NONFINITE, "nan");
    assert_null(axle_tensor_grad(axle_module_parameter(f.module, "weight")));
    assert_int_equal(axle_backward(f.acc, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no loss");
    end(&f);
}

static void the_plan_is_told(void **state)
{
    (void)state;
    fixture f = begin(18, 2, 4, 0.0);
    assert_non_null(strstr(axle_accelerator_plan(f.acc),
                           "2 x 1 process x 4 accumulation = 8 per update; 3 updates an epoch; "
                           "f64; reference: "));
    end(&f);
}

/* A loop left inside a window leaves no gradient behind for the next. */
static void an_unfinished_window_is_dropped(void **state)
{
    (void)state;
    double whole[3], broken[3];
    fixture f = begin(8, 2, 2, 0.0);
    train(&f, 1, ZERO_LAST);
    weights(&f, whole);
    end(&f);
    f = begin(8, 2, 2, 0.0);
    axle_batch *batch;
    assert_true(axle_loader_next(f.loader, &batch));
    assert_int_equal(axle_backward(f.acc, axle_model_forward(f.model, batch).loss), AXLE_OK);
    axle_loader_break(f.loader);
    train(&f, 1, ZERO_LAST);
    weights(&f, broken);
    end(&f);
    expect_same(whole, broken);
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
    IN_SCOPE("windows equal large batches", windows_equal_large_batches),
    IN_SCOPE("gradients may be zeroed after the step", gradients_may_be_zeroed_after_the_step),
    IN_SCOPE("a short last batch weighs its rows", a_short_last_batch_weighs_its_rows),
    IN_SCOPE("clipping happens once a window", clipping_happens_once_a_window),
    IN_SCOPE("clipping inside a window does nothing", clipping_inside_a_window_does_nothing),
    IN_SCOPE("an evaluation inside a window changes nothing", loops_nest),
    IN_SCOPE("preparing twice changes nothing", preparing_twice_changes_nothing),
    IN_SCOPE("strangers are refused by position", strangers_are_refused_by_position),
    IN_SCOPE("a loss that is not finite is refused", a_loss_that_is_not_finite_is_refused),
    IN_SCOPE("the plan is told", the_plan_is_told),
    IN_SCOPE("an unfinished window is dropped", an_unfinished_window_is_dropped),
};
UNIT_MAIN(tests)
