/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed precision in the accelerator: who may ask for it, what it leaves as f32, and the loss
 * scale. */
#include <unistd.h>

#include "axle/axle.h"
#include "base/settings.h"
#include "optim/optimizer.h"
#include "tensors.h"
#include "train/scaler.h"

#define F32 AXLE_DTYPE_F32

static axle_accelerator_options options_of(const char *precision)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    o.backend = "reference";
    o.quiet = 1;
    o.precision = precision;
    return o;
}

static axle_accelerator *open_with(const axle_accelerator_options *o)
{
    axle_accelerator *acc = NULL;
    if (axle_accelerator_create(o, &acc))
        fail_msg("%s", axle_error_message());
    return acc;
}

static axle_accelerator *open_precision(const char *precision)
{
    axle_accelerator_options o = options_of(precision);
    return open_with(&o);
}

/* ------------------------------------------------------------------ who may ask */

static void precisions_have_names(void **state)
{
    (void)state;
    static const char *const good[] = {"no", "f32", "bf16", "fp16", "f16", NULL};
    for (int k = 0; k < 6; k++)
        axle_accelerator_release(open_precision(good[k]));
    axle_accelerator_options o = options_of("fp8");
    axle_accelerator *acc = NULL;
    assert_int_equal(axle_accelerator_create(&o, &acc), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "'fp8'");
    assert_null(acc);
}

static void precisions_of_a_process_agree(void **state)
{
    (void)state;
    axle_accelerator *first = open_precision("bf16"), *second = open_precision(NULL), *third = NULL;
    axle_accelerator_options o = options_of("fp16");
    assert_int_equal(axle_accelerator_create(&o, &third), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "precision fp16 conflicts with precision bf16");
    axle_accelerator_release(first);
    assert_int_equal(axle_accelerator_create(&o, &third), AXLE_ERR_STATE);
    unit_expect_error(AXLE_ERR_STATE, "conflicts");
    axle_accelerator_release(second);
    axle_accelerator_release(open_precision("fp16"));
}

static void scales_are_checked(void **state)
{
    (void)state;
    axle_scaler_options s = AXLE_SCALER_OPTIONS_INIT;
    axle_accelerator_options o = options_of("fp16");
    axle_accelerator *acc = NULL;
    o.scaler = &s;
    s.backoff = 0.0;
    assert_int_equal(axle_accelerator_create(&o, &acc), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "backoff 0");
    s.backoff = 0.5;
    s.scale = NAN;
    assert_int_equal(axle_accelerator_create(&o, &acc), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "loss scale nan");
}

static void f64_is_refused_by_name(void **state)
{
    (void)state;
    axle_accelerator *acc = open_precision("bf16");
    axle_module *net;
    axle_optimizer *opt;
    axle_set_default_dtype(AXLE_DTYPE_F64);
    assert_int_equal(axle_linear_create(2, 2, 1, &net), AXLE_OK);
    axle_set_default_dtype(F32);
    assert_int_equal(axle_prepare(acc, net), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "'weight' is f64");
    assert_int_equal(axle_sgd_create(net, NULL, &opt), AXLE_OK);
    assert_int_equal(axle_prepare(acc, opt), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "'weight'");
    axle_accelerator_release(acc);
    axle_optimizer_release(opt);
    axle_module_release(net);
}

/* ------------------------------------------------------------------ what stays f32 */

static int seen_region;

static axle_output inside(axle_module *module, axle_batch *batch, void *user)
{
    (void)user;
    axle_tensor *y = axle_module_forward(module, axle_batch_get(batch, "input"));
    seen_region = axle_autocast_dtype();
    assert_int_equal(axle_tensor_dtype(y), seen_region);
    return (axle_output){.loss = axle_mean_all(axle_square(y)), .logits = y};
}

static axle_loader *numbers(int64_t n, int64_t batch)
{
    const char *name = "input";
    axle_dataset *set;
    axle_loader *loader;
    axle_loader_options o = AXLE_LOADER_OPTIONS_INIT;
    o.batch_size = batch;
    axle_tensor *x = axle_reshape(axle_arange(F32, 0, (double)n, 1), AXLE_DIMS(n, 1));
    assert_int_equal(axle_tensor_dataset_create(&name, &x, 1, &set), AXLE_OK);
    assert_int_equal(axle_loader_create(set, &o, &loader), AXLE_OK);
    axle_dataset_release(set);
    return loader;
}

static void the_loop_stays_in_f32(const char *precision, int dtype)
{
    axle_scaler_options s = AXLE_SCALER_OPTIONS_INIT;
    axle_accelerator_options o = options_of(precision);
    s.scale = 1024.0;
    o.scaler = &s;
    axle_accelerator *acc = open_with(&o);
    axle_module *net;
    axle_model *model;
    axle_optimizer *opt;
    axle_batch *batch;
    axle_loader *loader = numbers(4, 2);
    assert_int_equal(axle_linear_create(1, 3, 1, &net), AXLE_OK);
    axle_module_retain(net);
    assert_int_equal(axle_model_create(net, inside, NULL, &model), AXLE_OK);
    assert_int_equal(axle_adam_create(net, NULL, &opt), AXLE_OK);
    assert_int_equal(axle_prepare(acc, model, opt, loader), AXLE_OK);
    assert_non_null(strstr(axle_accelerator_plan(acc), dtype == F32 ? "; f32; " : precision));
    while (axle_loader_next(loader, &batch)) {
        axle_optimizer_zero_grad(opt);
        axle_output out = axle_model_forward(model, batch);
        assert_int_equal(seen_region, dtype);
        assert_int_equal(axle_autocast_dtype(), F32);
        assert_int_equal(axle_tensor_dtype(out.loss), F32);
        assert_int_equal(axle_tensor_dtype(out.logits), F32);
        assert_int_equal(axle_backward(acc, out.loss), AXLE_OK);
        assert_int_equal(axle_tensor_dtype(axle_tensor_grad(axle_module_parameter(net, "weight"))),
                         F32);
        assert_int_equal(axle_optimizer_step(opt), AXLE_OK);
    }
    assert_int_equal(axle_optimizer_updates(opt), 2);
    axle_tensor *x = axle_ones(F32, AXLE_DIMS(1, 1));
    assert_int_equal(axle_tensor_dtype(axle_module_forward(net, x)), F32);
    axle_accelerator_release(acc);
    assert_int_equal(axle_autocast_dtype(), F32);
    axle_loader_release(loader);
    axle_optimizer_release(opt);
    axle_model_release(model);
    axle_module_release(net);
}

static void models_compute_in_halves(void **state)
{
    (void)state;
    the_loop_stays_in_f32("no", F32);
    the_loop_stays_in_f32("bf16", AXLE_DTYPE_BF16);
    the_loop_stays_in_f32("fp16", AXLE_DTYPE_F16);
}

/* A region of the user's own is the one that counts. */
static void a_region_of_f32_turns_it_off(void **state)
{
    (void)state;
    axle_accelerator *acc = open_precision("bf16");
    axle_module *net;
    assert_int_equal(axle_linear_create(1, 1, 0, &net), AXLE_OK);
    assert_int_equal(axle_init_constant(axle_module_parameter(net, "weight"), 1.00390625), AXLE_OK);
    assert_int_equal(axle_prepare(acc, net), AXLE_OK);
    axle_tensor *x = axle_ones(F32, AXLE_DIMS(1, 1));
    EXPECT(axle_module_forward(net, x), 1.0);
    assert_int_equal(axle_autocast_push(F32), AXLE_OK);
    EXPECT(axle_module_forward(net, x), 1.00390625);
    axle_autocast_pop();
    axle_accelerator_release(acc);
    EXPECT(axle_module_forward(net, x), 1.00390625);
    axle_module_release(net);
}

/* ------------------------------------------------------------------ the loss scale */

/* Parameters whose gradient is what the test says: the loss is their product with it. */
typedef struct net {
    axle_tensor *weight; /* (2) f32 */
    axle_optimizer *opt;
    axle_scheduler *sched;
} net;

static double tenth(int64_t tick, void *user)
{
    (void)user;
    return 1.0 / (1.0 + (double)tick);
}

static net net_of(axle_accelerator *acc)
{
    net n;
    n.weight = axle_tensor_retain(axle_cast(VECTOR(1.0, 2.0), F32));
    tensors_leaf(n.weight);
    axle_adam_options o = AXLE_ADAM_OPTIONS_INIT;
    assert_int_equal(axle_adam_create(NULL, &o, &n.opt), AXLE_OK);
    assert_int_equal(axle_optimizer_add_group(n.opt, &n.weight, 1, NULL), AXLE_OK);
    assert_int_equal(axle_lambda_schedule_create(n.opt, tenth, NULL, &n.sched), AXLE_OK);
    assert_int_equal(axle_prepare(acc, n.opt, n.sched), AXLE_OK);
    return n;
}

static void net_end(net *n)
{
    axle_scheduler_release(n->sched);
    axle_optimizer_release(n->opt);
    axle_tensor_release(n->weight);
}

static int backward(axle_accelerator *acc, const net *n, double a, double b)
{
    axle_scope_push();
    axle_tensor *slope = axle_cast(VECTOR(a, b), F32);
    int status = axle_backward(acc, axle_sum_all(axle_mul(n->weight, slope)));
    axle_scope_pop();
    return status;
}

/* One turn of the loop; whether the step was skipped. */
static bool turn(axle_accelerator *acc, const net *n, double a, double b)
{
    axle_optimizer_zero_grad(n->opt);
    if (backward(acc, n, a, b) || axle_optimizer_step(n->opt) || axle_scheduler_step(n->sched))
        fail_msg("%s", axle_error_message());
    assert_int_equal(axle_step_was_skipped(acc), axle_optimizer_step_was_skipped(n->opt));
    return axle_step_was_skipped(acc);
}

static axle_accelerator *open_scaled(double scale, int interval, int accumulate)
{
    axle_scaler_options s = AXLE_SCALER_OPTIONS_INIT;
    axle_accelerator_options o = options_of("fp16");
    s.scale = scale;
    s.interval = interval;
    o.accumulate = accumulate;
    o.scaler = &s;
    return open_with(&o);
}

/* Case A9. */
static void an_overflow_changes_nothing(void **state)
{
    (void)state;
    axle_accelerator *acc = open_scaled(65536.0, 2, 1);
    net n = net_of(acc);
    axle_random_state before = axle_random_get();
    assert_true(axle_loss_scale(acc) == 65536.0);
    assert_true(turn(acc, &n, INFINITY, 1.0));
    assert_true(axle_loss_scale(acc) == 32768.0);
    assert_int_equal(axle_scheduler_ticks(n.sched), 0);
    assert_true(axle_optimizer_lr(n.opt, 0) == 1e-3);
    assert_int_equal(axle_optimizer_updates(n.opt), 0);
    assert_int_equal(n.opt->slots[0].age, 0);
    assert_int_equal(axle_random_get().update, before.update);
    EXPECT(n.weight, 1.0, 2.0);
    for (int k = 0; k < n.opt->moment_count; k++)
        if (n.opt->moments[k])
            EXPECT(axle_sum_all(axle_abs(n.opt->moments[k])), 0.0);
    assert_false(turn(acc, &n, 0.5, 1.0));
    assert_int_equal(axle_optimizer_updates(n.opt), 1);
    assert_int_equal(n.opt->slots[0].age, 1);
    assert_int_equal(axle_scheduler_ticks(n.sched), 1);
    EXPECT_NEAR(n.weight, 1e-6, 0.999, 1.999);
    assert_true(axle_loss_scale(acc) == 32768.0);
    assert_false(turn(acc, &n, 0.5, 1.0));
    assert_true(axle_loss_scale(acc) == 65536.0);
    axle_accelerator_release(acc);
    net_end(&n);
}

static void skips_follow_the_gradients(void **state)
{
    (void)state;
    axle_accelerator *acc = open_scaled(65536.0, 2000, 1);
    net n = net_of(acc);
    assert_false(turn(acc, &n, 1.0, 1.0));
    double lr = axle_optimizer_lr(n.opt, 0);
    assert_true(turn(acc, &n, 1.0, NAN));
    assert_true(axle_optimizer_lr(n.opt, 0) == lr);
    assert_true(turn(acc, &n, -INFINITY, 1.0));
    assert_true(axle_optimizer_lr(n.opt, 0) == lr);
    assert_false(turn(acc, &n, 1.0, 1.0));
    assert_true(axle_optimizer_lr(n.opt, 0) < lr);
    assert_int_equal(axle_optimizer_updates(n.opt), 2);
    assert_true(axle_loss_scale(acc) == 16384.0);
    axle_accelerator_release(acc);
    net_end(&n);
}

/* Gradients are true ones after backward, also where one window has two passes. */
static void gradients_read_after_backward_are_true(void **state)
{
    (void)state;
    axle_accelerator *acc = open_scaled(1024.0, 2000, 1);
    net n = net_of(acc);
    axle_loader *loader = numbers(2, 2);
    axle_batch *batch;
    assert_int_equal(axle_prepare(acc, loader), AXLE_OK);
    assert_true(axle_loader_next(loader, &batch));
    assert_int_equal(backward(acc, &n, 0.1f, 3.0), AXLE_OK);
    EXPECT(axle_tensor_grad(n.weight), 0.1f, 3.0);
    assert_int_equal(backward(acc, &n, 1.0, 5.0), AXLE_OK);
    EXPECT_NEAR(axle_tensor_grad(n.weight), 1e-7, 1.1f, 8.0);
    assert_false(axle_loader_next(loader, &batch));
    axle_accelerator_release(acc);
    axle_loader_release(loader);
    net_end(&n);
}

/* Case A11. */
static void clipping_unscales_once(void **state)
{
    (void)state;
    axle_accelerator *acc = open_scaled(1024.0, 2000, 2);
    net n = net_of(acc);
    double norm = -1.0;
    assert_int_equal(backward(acc, &n, 3.0, 4.0), AXLE_OK);
    double *first = tensors_read(axle_tensor_grad(n.weight));
    assert_int_equal(axle_clip_norm(acc, n.opt, 1.0, &norm), AXLE_OK);
    assert_true(norm == -1.0);
    EXPECT(axle_tensor_grad(n.weight), first[0], first[1]);
    free(first);
    assert_int_equal(backward(acc, &n, 3.0, 4.0), AXLE_OK);
    assert_int_equal(axle_clip_norm(acc, n.opt, 1.0, &norm), AXLE_OK);
    assert_true(norm == 5.0);
    EXPECT_NEAR(axle_tensor_grad(n.weight), 1e-7, 0.59999988, 0.79999984);
    assert_int_equal(axle_clip_norm(acc, n.opt, 1.0, &norm), AXLE_OK);
    assert_true(fabs(norm - 1.0) < 1e-6);
    EXPECT_NEAR(axle_tensor_grad(n.weight), 1e-6, 0.59999988, 0.79999984);
    axle_accelerator_release(acc);
    net_end(&n);
}

static void clipping_keeps_overflows(void **state)
{
    (void)state;
    axle_accelerator *acc = open_scaled(1024.0, 2000, 1);
    net n = net_of(acc);
    double norm = 0.0;
    assert_int_equal(backward(acc, &n, INFINITY, 4.0), AXLE_OK);
    assert_int_equal(axle_clip_norm(acc, n.opt, 1.0, &norm), AXLE_OK);
    assert_true(isinf(norm));
    assert_int_equal(axle_optimizer_step(n.opt), AXLE_OK);
    assert_true(axle_optimizer_step_was_skipped(n.opt));
    EXPECT(n.weight, 1.0, 2.0);
    axle_accelerator_release(acc);
    net_end(&n);
}

/* Clipping by value must not make a finite number of an infinite one first. */
static void automatic_clipping_keeps_overflows(void **state)
{
    (void)state;
    axle_accelerator_options o = options_of("fp16");
    o.clip_value = 1.0;
    o.clip_norm = 1.0;
    axle_accelerator *acc = open_with(&o);
    net n = net_of(acc);
    assert_true(turn(acc, &n, INFINITY, 1.0));
    assert_false(turn(acc, &n, 7.0, 1.0));
    axle_accelerator_release(acc);
    net_end(&n);
}

/* Case A14: K = 2, four batches, two nets in each. */
static void each_optimizer_skips_by_itself(void **state)
{
    (void)state;
    for (int overflow = 0; overflow < 2; overflow++) {
        axle_accelerator *acc = open_scaled(65536.0, 2000, 2);
        net a = net_of(acc), b = net_of(acc);
        axle_loader *loader = numbers(4, 1);
        axle_batch *batch;
        int turns = 0;
        assert_int_equal(axle_prepare(acc, loader), AXLE_OK);
        while (axle_loader_next(loader, &batch)) {
            axle_optimizer_zero_grad(a.opt);
            assert_int_equal(backward(acc, &a, 1.0, 1.0), AXLE_OK);
            axle_optimizer_zero_grad(b.opt);
            double slope = overflow && turns == 1 ? INFINITY : 1.0;
            assert_int_equal(backward(acc, &b, slope, 1.0), AXLE_OK);
            assert_int_equal(axle_optimizer_step(a.opt), AXLE_OK);
            assert_int_equal(axle_optimizer_step(b.opt), AXLE_OK);
            assert_int_equal(axle_optimizer_step_was_skipped(b.opt), overflow && turns == 1);
            assert_false(axle_optimizer_step_was_skipped(a.opt));
            turns++;
        }
        assert_int_equal(turns, 4);
        assert_int_equal(axle_optimizer_updates(a.opt), 2);
        assert_int_equal(axle_optimizer_updates(b.opt), overflow ? 1 : 2);
        assert_true(axle_loss_scale(acc) == (overflow ? 32768.0 : 65536.0));
        axle_accelerator_release(acc);
        axle_loader_release(loader);
        net_end(&a);
        net_end(&b);
    }
}

static int warnings;

static void count_warnings(int level, const char *where, const char *text, void *user)
{
    (void)where, (void)user;
    warnings += level == AXLE_LOG_WARN && strstr(text, "in a row were skipped") != NULL;
}

static void endless_overflow_is_told(void **state)
{
    (void)state;
    axle_scaler_options s = AXLE_SCALER_OPTIONS_INIT;
    axle_accelerator_options o = options_of("fp16");
    s.scale = 8.0;
    s.least = 0.5;
    s.warn_after = 5;
    o.scaler = &s;
    axle_accelerator *acc = open_with(&o);
    net n = net_of(acc);
    warnings = 0;
    axle_log_redirect(count_warnings, NULL);
    for (int k = 0; k < 12; k++)
        assert_true(turn(acc, &n, NAN, 1.0));
    axle_log_redirect(NULL, NULL);
    assert_int_equal(warnings, 2);
    assert_true(axle_loss_scale(acc) == 0.5);
    axle_accelerator_release(acc);
    net_end(&n);
}

/* With bf16 there is no scale, and a loss that is not finite is an error, as without. */
static void bf16_scales_nothing(void **state)
{
    (void)state;
    axle_accelerator *acc = open_precision("bf16");
    net n = net_of(acc);
    assert_true(axle_loss_scale(acc) == 1.0);
    assert_int_equal(backward(acc, &n, NAN, 1.0), AXLE_ERR_NONFINITE);
    unit_expect_error(AXLE_ERR_NONFINITE, "nan");
    assert_false(turn(acc, &n, 1.0, 1.0));
    axle_accelerator_release(acc);
    net_end(&n);
}

static void the_scale_can_be_kept(void **state)
{
    (void)state;
    axle__scaler_state kept;
    axle_accelerator *acc = open_scaled(65536.0, 3, 1);
    net n = net_of(acc);
    assert_true(turn(acc, &n, NAN, 1.0));
    assert_false(turn(acc, &n, 1.0, 1.0));
    assert_false(turn(acc, &n, 1.0, 1.0));
    assert_true(axle__scaler_get(acc, &kept));
    assert_true(kept.scale == 32768.0 && kept.good == 2 && kept.skipped == 0);
    axle_accelerator_release(acc);
    net_end(&n);
    acc = open_scaled(65536.0, 3, 1);
    n = net_of(acc);
    assert_int_equal(axle__scaler_set(acc, &kept), AXLE_OK);
    assert_false(turn(acc, &n, 1.0, 1.0));
    assert_true(axle_loss_scale(acc) == 65536.0);
    kept.scale = 0.0;
    assert_int_equal(axle__scaler_set(acc, &kept), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "loss scale 0");
    axle_accelerator_release(acc);
    net_end(&n);
}

static void the_scale_is_in_checkpoints(void **state)
{
    (void)state;
    char folder[] = "/tmp/axle-precision.XXXXXX", path[64], command[96];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/one", folder);
    axle_accelerator *acc = open_scaled(65536.0, 3, 1);
    net n = net_of(acc);
    assert_true(turn(acc, &n, NAN, 1.0));
    assert_false(turn(acc, &n, 1.0, 1.0));
    assert_false(turn(acc, &n, 1.0, 1.0));
    assert_int_equal(axle_save_state(acc, path), AXLE_OK);
    axle_accelerator_release(acc);
    net_end(&n);
    acc = open_scaled(65536.0, 3, 1);
    n = net_of(acc);
    if (axle_load_state(acc, path))
        fail_msg("%s", axle_error_message());
    assert_true(axle_loss_scale(acc) == 32768.0);
    assert_false(turn(acc, &n, 1.0, 1.0));
    assert_true(axle_loss_scale(acc) == 65536.0);
    axle_accelerator_release(acc);
    net_end(&n);
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

static const struct CMUnitTest tests[] = {
    TENSORS("precisions have names", precisions_have_names),
    TENSORS("living accelerators agree on one", precisions_of_a_process_agree),
    TENSORS("options of the loss scale are checked", scales_are_checked),
    TENSORS("f64 is refused by name", f64_is_refused_by_name),
    TENSORS("models compute in halves, and give f32", models_compute_in_halves),
    TENSORS("a region of f32 turns it off", a_region_of_f32_turns_it_off),
    TENSORS("an overflow changes nothing but the scale", an_overflow_changes_nothing),
    TENSORS("updates are skipped as gradients overflow", skips_follow_the_gradients),
    TENSORS("gradients read after backward are true", gradients_read_after_backward_are_true),
    TENSORS("clipping sees true gradients, once an update", clipping_unscales_once),
    TENSORS("clipping keeps an overflow", clipping_keeps_overflows),
    TENSORS("automatic clipping keeps an overflow", automatic_clipping_keeps_overflows),
    TENSORS("each optimizer skips by itself", each_optimizer_skips_by_itself),
    TENSORS("endless overflow is told, and the scale stays positive", endless_overflow_is_told),
    TENSORS("bf16 scales nothing", bf16_scales_nothing),
    TENSORS("the scale can be kept and brought back", the_scale_can_be_kept),
    TENSORS("the scale is part of a checkpoint", the_scale_is_in_checkpoints),
};
UNIT_MAIN(tests)
