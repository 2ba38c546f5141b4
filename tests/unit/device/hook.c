/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks around a device that is the host's, but spoils what a test tells it to. */
#define _GNU_SOURCE 1
#include "device/hook.h"

#include <math.h>
#include <time.h>

#include "unit/device/plugins.h"

#include "axle/axle.h"
#include "device/check.h"
#include "optim/optimizer.h"
#include "tensor/run.h"

/* ------------------------------------------------------------------ the device */

/* What a run of `op` does to element `element` of its output `out`, by memory order. */
static struct {
    uint32_t op, out;
    int64_t element;
    double add;
    int runs;
} fault;

static axle_device spoiler;
static axle_device_api spoiler_api;

static double get(const axle_view *view, const void *at)
{
    return view->dtype == AXLE_DTYPE_F64 ? *(const double *)at : (double)*(const float *)at;
}

static void put(const axle_view *view, void *at, double value)
{
    if (view->dtype == AXLE_DTYPE_F64)
        *(double *)at = value;
    else
        *(float *)at = (float)value;
}

static axle_status spoil(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                         axle_error *error)
{
    const axle_device_api *api = axle_device_host()->api;
    axle_status status = api->op_run(queue, op, args, error);
    fault.runs++;
    if (status || fault.add == 0.0)
        return status;
    const axle_view *view = args->out[fault.out];
    uint64_t size = axle_dtype_size((int)view->dtype);
    unsigned char *at;
    status = api->buffer_map(queue, view->buffer, view->offset + (uint64_t)fault.element * size,
                             size, AXLE_MAP_READ | AXLE_MAP_WRITE, (void **)&at, error);
    if (!status)
        put(view, at, get(view, at) + fault.add);
    return status;
}

/* Begin anew with these hooks; the device's operators work. */
static void start(const char *hooks)
{
    axle_finalize();
    setenv("AXLE_HOOK", hooks, 1);
    axle__settings_reset();
    assert_non_null(axle_device_host());
    spoiler = *axle_device_host();
    spoiler_api = *spoiler.api;
    spoiler_api.op_run = spoil;
    spoiler.api = &spoiler_api;
    memset(&fault, 0, sizeof(fault));
}

static int set_up(void **state)
{
    if (plugins_setup(state))
        return -1;
    start("check");
    return axle_scope_push();
}

static int tear_down(void **state)
{
    axle_scope_pop();
    unsetenv("AXLE_HOOK");
    unsetenv("AXLE_HOOK_DELAY");
    return plugins_teardown(state);
}

#define HOOK(sentence, function)                                                                   \
    {                                                                                              \
        sentence, function, set_up, tear_down, NULL                                                \
    }

static axle_tensor *filled(axle_tensor *tensor, double first, double step)
{
    for (int64_t k = 0; k < tensor->count; k++) {
        void *data;
        assert_int_equal(axle_tensor_data(tensor, &data), AXLE_OK);
        unsigned char *at =
            (unsigned char *)data + (size_t)k * axle_dtype_size((int)tensor->view.dtype);
        put(&tensor->view, at, first + step * (double)k);
    }
    return tensor;
}

static axle_tensor *ramp(int64_t rows, int64_t columns)
{
    return filled(axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(rows, columns)), -1.0, 0.25);
}

/* ------------------------------------------------------------------ calls */

static int run_product(bool accumulate)
{
    axle_matmul_attrs attrs = {sizeof(attrs), 0, accumulate, 0, 1.0};
    axle_tensor *a = ramp(2, 3), *b = ramp(3, 4), *y = ramp(2, 4);
    axle__call call = AXLE__CALL(AXLE_OP_MATMUL, attrs);
    axle__call_in(&call, a);
    axle__call_in(&call, b);
    axle__call_in(&call, NULL);
    axle__call_out(&call, y);
    return axle__dispatch(&spoiler, &call);
}

static int run_in_place(uint32_t kind)
{
    axle_unary_attrs attrs = {sizeof(attrs), kind, 2.0, 0.5};
    axle_tensor *x = ramp(1, 6);
    axle__call call = AXLE__CALL(AXLE_OP_UNARY, attrs);
    axle__call_in(&call, x);
    axle__call_out(&call, x);
    return axle__dispatch(&spoiler, &call);
}

static int run_adam(void)
{
    axle_adam_attrs attrs = {.struct_size = sizeof(attrs)};
    axle_adam_scalars scalars = {.struct_size = sizeof(scalars),
                                 .lr = 1e-3,
                                 .beta1 = 0.9,
                                 .beta2 = 0.999,
                                 .eps = 1e-8,
                                 .bias1 = 0.1,
                                 .bias2 = 1e-3,
                                 .grad_scale = 1.0};
    axle_view view[4];
    axle__call call = AXLE__CALL(AXLE_OP_ADAM, attrs);
    for (int k = 0; k < 4; k++)
        view[k] = axle__vector_view(k == 3 ? filled(ramp(1, 5), 0.1, 0.1) : ramp(1, 5));
    axle__call_view_in(&call, &view[0]);
    for (int k = 1; k < 4; k++)
        axle__call_view_out(&call, &view[k]);
    axle__call_view_out(&call, NULL);
    call.scalars = &scalars;
    return axle__dispatch(&spoiler, &call);
}

static int run_random(void)
{
    axle_random_attrs attrs = {.struct_size = sizeof(attrs), .low = 1.0, .high = 2.0};
    axle_view y = axle__vector_view(ramp(1, 7));
    axle__call call = AXLE__CALL(AXLE_OP_RANDOM, attrs);
    axle__call_view_out(&call, &y);
    call.rng_seed = 5;
    return axle__dispatch(&spoiler, &call);
}

static int run_dropout(void)
{
    axle_dropout_attrs attrs = {.struct_size = sizeof(attrs), .p = 0.5};
    axle_view x = axle__vector_view(filled(ramp(1, 64), 1.0, 0.0));
    axle_view y = axle__vector_view(ramp(1, 64));
    axle__call call = AXLE__CALL(AXLE_OP_DROPOUT, attrs);
    axle__call_view_in(&call, &x);
    axle__call_view_out(&call, &y);
    return axle__dispatch(&spoiler, &call);
}

static int run_batch_norm(void)
{
    axle_batch_norm_attrs attrs = {sizeof(attrs), 1, 1e-5, 0.1};
    axle_tensor *x = ramp(4, 3), *y = ramp(4, 3);
    axle_view mean = axle__vector_view(ramp(1, 3)), var = axle__vector_view(ramp(1, 3));
    axle_view saved = axle__vector_view(ramp(1, 3)), rstd = axle__vector_view(ramp(1, 3));
    axle__call call = AXLE__CALL(AXLE_OP_BATCH_NORM, attrs);
    axle__call_in(&call, x);
    axle__call_in(&call, NULL);
    axle__call_in(&call, NULL);
    axle__call_view_in(&call, &mean);
    axle__call_view_in(&call, &var);
    axle__call_out(&call, y);
    axle__call_view_out(&call, &saved);
    axle__call_view_out(&call, &rstd);
    axle__call_view_out(&call, &mean);
    axle__call_view_out(&call, &var);
    return axle__dispatch(&spoiler, &call);
}

static int run_sum(void)
{
    axle_reduce_attrs attrs = {.struct_size = sizeof(attrs), .kind = AXLE_REDUCE_SUM, .axes = 2};
    axle_tensor *x = ramp(1, 9), *y = ramp(1, 1); /* -1 to 1: it sums to 0 */
    axle__call call = AXLE__CALL(AXLE_OP_REDUCE, attrs);
    axle__call_in(&call, x);
    axle__call_out(&call, y);
    return axle__dispatch(&spoiler, &call);
}

static int run_copy(int dtype, double value)
{
    axle_tensor *x = filled(ramp(1, 2), value, 0.0);
    axle_tensor *y = axle_zeros(dtype, AXLE_DIMS(1, 2));
    axle__call call = {.op = AXLE_OP_COPY};
    axle__call_in(&call, x);
    axle__call_out(&call, y);
    return axle__dispatch(&spoiler, &call);
}

/* ------------------------------------------------------------------ check */

static void nothing_is_on_by_default(void **state)
{
    (void)state;
    start("");
    assert_false(axle__hooks_active());
    fault.add = 1.0;
    assert_int_equal(run_in_place(AXLE_UNARY_EXP), AXLE_OK);
}

static void unknown_hook_is_named(void **state)
{
    (void)state;
    axle_finalize();
    setenv("AXLE_HOOK", "check, chek", 1);
    axle__settings_reset();
    axle_device *device;
    assert_int_equal(axle_device_open("reference", &device), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no hook 'chek'; there are check, trace and delay");
}

static void right_results_pass(void **state)
{
    (void)state;
    assert_int_equal(run_product(false), AXLE_OK);
    assert_int_equal(run_product(true), AXLE_OK);
    assert_int_equal(run_in_place(AXLE_UNARY_AFFINE), AXLE_OK);
    assert_int_equal(run_adam(), AXLE_OK);
    assert_int_equal(run_random(), AXLE_OK);
    assert_int_equal(run_dropout(), AXLE_OK);
    assert_int_equal(run_batch_norm(), AXLE_OK);
    assert_int_equal(run_sum(), AXLE_OK);
    assert_int_equal(fault.runs, 8);
}

static void wrong_element_is_described(void **state)
{
    (void)state;
    fault.element = 6;
    fault.add = 0.5;
    assert_int_equal(run_product(false), AXLE_ERR_DEVICE);
    const char *message = axle_error_message();
    /* Row 1 of a is (-0.25, 0, 0.25), column 2 of b (-0.5, 0.5, 1.5): 0.5. */
    assert_non_null(strstr(message, "reference: check: matmul"));
    assert_non_null(strstr(message, "expected 0.5, got 1 in output 0 at (1, 2)"));
    assert_non_null(strstr(message, "1 of 8 elements"));
    assert_non_null(strstr(message, "(2, 3) f32, (3, 4) f32, - -> (2, 4) f32"));
    axle_error_clear();
}

static void phase_is_named(void **state)
{
    axle__hook_point outer, inner;
    (void)state;
    fault.add = 0.5;
    axle__phase_begin(&outer, "backward");
    axle__phase_begin(&inner, "inner");
    assert_string_equal(axle__phase_current(), "inner");
    axle__phase_end(&inner);
    assert_int_equal(run_product(true), AXLE_ERR_DEVICE);
    axle__phase_end(&outer);
    assert_null(axle__phase_current());
    unit_expect_error(AXLE_ERR_DEVICE, "(backward)");
}

typedef struct wrong {
    int (*run)(void);
    uint32_t out;
    double add;
} wrong;

static int run_affine(void)
{
    return run_in_place(AXLE_UNARY_AFFINE);
}

static int run_relu(void)
{
    return run_in_place(AXLE_UNARY_RELU);
}

static int run_accumulate(void)
{
    return run_product(true);
}

static void wrong_results_are_caught(void **state)
{
    static const wrong cases[] = {
        {run_affine, 0, 1e-4},     {run_relu, 0, 1e-30},      {run_accumulate, 0, 1e-3},
        {run_adam, 0, 1e-4},       {run_adam, 1, 1e-3},       {run_adam, 2, 1e-3},
        {run_random, 0, 0x1p-23},  {run_batch_norm, 0, 1e-2}, {run_batch_norm, 1, 1e-2},
        {run_batch_norm, 3, 1e-2}, {run_batch_norm, 4, 1e-2}, {run_sum, 0, 1e-3},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        fault.out = cases[k].out;
        fault.add = cases[k].add;
        if (cases[k].run() != AXLE_ERR_DEVICE)
            fail_msg("case %zu passed", k);
        unit_expect_error(AXLE_ERR_DEVICE, "check");
    }
}

static void roundings_pass(void **state)
{
    (void)state;
    fault.add = 1e-7;
    assert_int_equal(run_in_place(AXLE_UNARY_EXP), AXLE_OK);
    assert_int_equal(run_product(false), AXLE_OK);
    assert_int_equal(run_sum(), AXLE_OK); /* although the sum is 0: its terms are not */
    assert_int_equal(run_batch_norm(), AXLE_OK);
}

/* An element that dropout keeps, or removes, is told by its zero. */
static void masks_are_compared(void **state)
{
    (void)state;
    int caught = 0;
    for (int64_t k = 0; k < 64; k++) {
        fault.element = k;
        fault.add = 1e-12; /* lost in a 2, but not in a 0 */
        caught += run_dropout() == AXLE_ERR_DEVICE;
        axle_error_clear();
    }
    assert_in_range(caught, 10, 54);
}

static void undefined_values_are_not_compared(void **state)
{
    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t count = 1;
        int64_t expected = 7, got = 8;
        double source = pass ? 300.0 : 7.9;
        axle__difference found;
        axle__call call = {.op = AXLE_OP_COPY};
        axle__comparison c = {.call = &call,
                              .dtype = AXLE_DTYPE_U8,
                              .count = count,
                              .expected = &expected,
                              .got = &got,
                              .source = &source};
        axle__compare(&c, &found);
        assert_int_equal(found.wrong, pass ? 0 : 1);
    }
    assert_int_equal(run_copy(AXLE_DTYPE_I32, 1e20), AXLE_OK);
    assert_int_equal(run_copy(AXLE_DTYPE_F64, NAN), AXLE_OK);
}

static axle_status refuse(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                          axle_error *error)
{
    (void)queue, (void)op, (void)args;
    snprintf(error->message, error->message_capacity, "no coal");
    return AXLE_ERR_BUSY;
}

static void errors_of_the_device_stay(void **state)
{
    (void)state;
    spoiler_api.op_run = refuse;
    assert_int_equal(run_product(false), AXLE_ERR_BUSY);
    unit_expect_error(AXLE_ERR_BUSY, "matmul: no coal");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_int_equal(run_product(false), AXLE_OK); /* the cache of prepared operators is warm */
    int status = AXLE_ERR_NOMEM;
    for (long n = 1; n < 100 && status; n++) {
        axle_tensor *a = ramp(2, 3), *b = ramp(3, 4), *y = ramp(2, 4);
        axle_matmul_attrs attrs = {sizeof(attrs), 0, 0, 0, 1.0};
        axle__call call = AXLE__CALL(AXLE_OP_MATMUL, attrs);
        axle__call_in(&call, a);
        axle__call_in(&call, b);
        axle__call_in(&call, NULL);
        axle__call_out(&call, y);
        axle__alloc_fail_at(n);
        status = axle__dispatch(&spoiler, &call);
        bool failed = axle__alloc_failed();
        axle__alloc_fail_at(0);
        assert_int_equal(status, failed ? AXLE_ERR_NOMEM : AXLE_OK);
        axle_error_clear();
    }
    assert_int_equal(status, AXLE_OK);
}

/* ------------------------------------------------------------------ delay */

static void delays_change_no_result(void **state)
{
    (void)state;
    setenv("AXLE_HOOK_DELAY", "max_us=300,seed=4", 1);
    start("delay,check");
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int k = 0; k < 40; k++)
        assert_int_equal(run_in_place(AXLE_UNARY_EXP), AXLE_OK);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double us =
        1e6 * (double)(to.tv_sec - from.tv_sec) + 1e-3 * (double)(to.tv_nsec - from.tv_nsec);
    /* About half of 80 waits of 150 us on average. */
    assert_true(us > 1500.0);
}

static void wrong_delays_are_refused(void **state)
{
    static const char *const wrong[] = {"fast", "1,2,3", "max_us=", "-1", "seed=x", "10,maxus=3"};
    static const char *const right[] = {"10", "10,3", "seed=3", "seed=3,max_us=10", "0"};
    axle_device *device;
    (void)state;
    setenv("AXLE_HOOK", "delay", 1);
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        axle_finalize();
        setenv("AXLE_HOOK_DELAY", wrong[k], 1);
        axle__settings_reset();
        assert_int_equal(axle_device_open("reference", &device), AXLE_ERR_INVALID);
        unit_expect_error(AXLE_ERR_INVALID, wrong[k]);
    }
    for (size_t k = 0; k < sizeof(right) / sizeof(right[0]); k++) {
        axle_finalize();
        setenv("AXLE_HOOK_DELAY", right[k], 1);
        axle__settings_reset();
        assert_int_equal(axle_device_open("reference", &device), AXLE_OK);
    }
}

static const struct CMUnitTest tests[] = {
    HOOK("no hook is on by default", nothing_is_on_by_default),
    HOOK("an unknown hook is named", unknown_hook_is_named),
    HOOK("check passes right results, in place and of operands that change", right_results_pass),
    HOOK("check tells operator, shapes, the worst element, expected and got",
         wrong_element_is_described),
    HOOK("check tells the phase of training", phase_is_named),
    HOOK("check catches wrong results of every kind", wrong_results_are_caught),
    HOOK("check lets roundings pass", roundings_pass),
    HOOK("check compares the masks of dropout", masks_are_compared),
    HOOK("check leaves undefined values alone", undefined_values_are_not_compared),
    HOOK("check keeps the errors of the device", errors_of_the_device_stay),
    HOOK("check survives the failure of any allocation", every_allocation_may_fail),
    HOOK("delay changes no result and takes time", delays_change_no_result),
    HOOK("delay refuses wrong settings by name", wrong_delays_are_refused),
};

UNIT_MAIN(tests)
