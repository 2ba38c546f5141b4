/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizers over fifty updates and schedules over sixty, on the current device (AXLE_BACKEND),
 * agree with PyTorch's. One TAP line a case. Arguments, as choice.h says, are the optimizers and
 * schedules to run and a part of the cases of each.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axle/autograd.h"
#include "axle/optim.h"
#include "axle/status.h"
#include "conformance/choice.h"
#include "support/golden.h"
#include "support/tap.h"

/* ------------------------------------------------------------------ optimizers */

static int create_sgd(const json_t *one, axle_optimizer **out)
{
    axle_sgd_options options = AXLE_SGD_OPTIONS_INIT;
    options.lr = golden_number(one, "lr", 0.0);
    options.momentum = golden_number(one, "momentum", 0.0);
    options.dampening = golden_number(one, "dampening", 0.0);
    options.weight_decay = golden_number(one, "weight_decay", 0.0);
    options.nesterov = golden_flag(one, "nesterov");
    options.maximize = golden_flag(one, "maximize");
    return axle_sgd_create(NULL, &options, out);
}

static int create_adam(const json_t *one, axle_optimizer **out)
{
    axle_adam_options options = AXLE_ADAM_OPTIONS_INIT;
    const json_t *betas = json_object_get(json_object_get(one, "attrs"), "betas");
    options.lr = golden_number(one, "lr", 0.0);
    options.beta1 = json_number_value(json_array_get(betas, 0));
    options.beta2 = json_number_value(json_array_get(betas, 1));
    options.eps = golden_number(one, "eps", 0.0);
    options.weight_decay = golden_number(one, "weight_decay", 0.0);
    options.amsgrad = golden_flag(one, "amsgrad");
    options.maximize = golden_flag(one, "maximize");
    return strcmp(golden_op(one), "adamw") == 0 ? axle_adamw_create(NULL, &options, out)
                                                : axle_adam_create(NULL, &options, out);
}

static int create_rmsprop(const json_t *one, axle_optimizer **out)
{
    axle_rmsprop_options options = AXLE_RMSPROP_OPTIONS_INIT;
    options.lr = golden_number(one, "lr", 0.0);
    options.alpha = golden_number(one, "alpha", 0.0);
    options.eps = golden_number(one, "eps", 0.0);
    options.weight_decay = golden_number(one, "weight_decay", 0.0);
    options.momentum = golden_number(one, "momentum", 0.0);
    options.centered = golden_flag(one, "centered");
    options.maximize = golden_flag(one, "maximize");
    return axle_rmsprop_create(NULL, &options, out);
}

static const struct {
    const char *op;
    int (*create)(const json_t *one, axle_optimizer **out);
} optimizers[] = {{"sgd", create_sgd},
                  {"adam", create_adam},
                  {"adamw", create_adam},
                  {"rmsprop", create_rmsprop}};

static int create_optimizer(const json_t *one, axle_optimizer **out)
{
    for (size_t k = 0; k < sizeof(optimizers) / sizeof(optimizers[0]); k++)
        if (strcmp(optimizers[k].op, golden_op(one)) == 0)
            return optimizers[k].create(one, out);
    return axle_error_set(AXLE_ERR_NOT_FOUND, "no optimizer %s in the table", golden_op(one));
}

/* The gradient of element i (from 0) at update t (from 1). */
static axle_tensor *gradient_at(const axle_tensor *parameter, int t)
{
    int64_t n = axle_tensor_count(parameter);
    double *value = calloc((size_t)n, sizeof(*value));
    for (int64_t i = 0; value && i < n; i++)
        value[i] = sin(0.1 * t * (double)(i + 1));
    axle_tensor *wide = value ? axle_from_data(AXLE_DTYPE_F64, 1, &n, value) : NULL;
    free(value);
    return axle_cast(wide, axle_tensor_dtype(parameter));
}

static int update(axle_optimizer *optimizer, axle_tensor *parameter, int t)
{
    if (axle_scope_push())
        return axle_error_code();
    int status = axle_tensor_set_grad(parameter, gradient_at(parameter, t));
    if (!status)
        status = axle_optimizer_step(optimizer);
    axle_scope_pop();
    return status;
}

/* Run the updates up to the last that is recorded, and compare at each. */
static bool follow(const json_t *one, axle_optimizer *optimizer, axle_tensor *parameter,
                   char *message, size_t size)
{
    int64_t record[16];
    int n = golden_list(one, "record", record, 16), next = 0;
    golden_tolerance tolerance = golden_dtype() == AXLE_DTYPE_F64
                                     ? (golden_tolerance){1e-10, 1e-12}
                                     : golden_tolerance_for(golden_dtype());
    for (int t = 1; next < n; t++) {
        if (update(optimizer, parameter, t)) {
            snprintf(message, size, "update %d: %s", t, axle_error_message());
            return false;
        }
        if (t == record[next] &&
            !golden_agrees_within(tolerance, golden_output(one, (size_t)next++), parameter, message,
                                  size))
            return false;
    }
    return true;
}

static void check_optimizer(const json_t *one)
{
    char message[256] = "";
    axle_optimizer *optimizer = NULL;
    axle_tensor *parameter = golden_tensor(golden_input(one, 0));
    bool good = parameter && axle_tensor_set_requires_grad(parameter, 1) == AXLE_OK &&
                create_optimizer(one, &optimizer) == AXLE_OK &&
                axle_optimizer_add_group(optimizer, &parameter, 1, NULL) == AXLE_OK;
    if (!good)
        snprintf(message, sizeof(message), "%s", axle_error_message());
    good = good && follow(one, optimizer, parameter, message, sizeof(message));
    if (!good)
        tap_note("%s", message);
    tap_result(good, "%s, %s, follows PyTorch's", golden_op(one), golden_name(one));
    axle_optimizer_release(optimizer);
}

/* ------------------------------------------------------------------ schedules */

static double number(const json_t *one, const char *key)
{
    return golden_number(one, key, 0.0);
}

static int create_constant(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    return axle_constant_schedule_create(optimizer, golden_integer(one, "warmup", 0), out);
}

static int create_linear(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    return axle_linear_schedule_create(optimizer, golden_integer(one, "warmup", 0),
                                       golden_integer(one, "total", 0), out);
}

static int create_cosine(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    return axle_cosine_schedule_create(optimizer, golden_integer(one, "warmup", 0),
                                       golden_integer(one, "total", 0), number(one, "cycles"), out);
}

static int create_restarts(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    return axle_cosine_restarts_schedule_create(optimizer, golden_integer(one, "warmup", 0),
                                                golden_integer(one, "total", 0),
                                                golden_integer(one, "cycles", 1), out);
}

static int create_polynomial(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    return axle_polynomial_schedule_create(optimizer, golden_integer(one, "warmup", 0),
                                           golden_integer(one, "total", 0), number(one, "power"),
                                           number(one, "lr_end") / number(one, "lr"), out);
}

static int create_step(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    return axle_step_schedule_create(optimizer, golden_integer(one, "step_size", 1),
                                     number(one, "gamma"), out);
}

static int create_exponential(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    return axle_exponential_schedule_create(optimizer, number(one, "gamma"), out);
}

static int create_multi_step(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    const json_t *list = json_object_get(json_object_get(one, "attrs"), "milestones");
    int64_t milestones[8];
    int n = (int)json_array_size(list);
    if (n > 8)
        return axle_error_set(AXLE_ERR_NOT_FOUND, "more than 8 milestones");
    for (int k = 0; k < n; k++)
        milestones[k] = json_integer_value(json_array_get(list, (size_t)k));
    return axle_multi_step_schedule_create(optimizer, milestones, n, number(one, "gamma"), out);
}

static int anneal_of(const json_t *one)
{
    const char *anneal = golden_text(one, "anneal");
    return anneal && strcmp(anneal, "linear") == 0 ? AXLE_ANNEAL_LINEAR : AXLE_ANNEAL_COSINE;
}

static int create_anneal(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    axle_anneal_options options = AXLE_ANNEAL_OPTIONS_INIT;
    options.total = golden_integer(one, "total", 1);
    options.from = golden_number(one, "start_factor", 1.0);
    options.to = golden_number(one, "end_factor", number(one, "swa_lr") / number(one, "lr"));
    options.anneal = anneal_of(one);
    return axle_anneal_schedule_create(optimizer, &options, out);
}

static int create_one_cycle(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    axle_one_cycle_options options = AXLE_ONE_CYCLE_OPTIONS_INIT;
    options.total = golden_integer(one, "total", 0);
    options.rise = number(one, "pct_start");
    options.divide = number(one, "div_factor");
    options.final_divide = number(one, "final_div_factor");
    options.anneal = anneal_of(one);
    options.three_phase = golden_flag(one, "three_phase");
    return axle_one_cycle_schedule_create(optimizer, &options, out);
}

static double harmonic(int64_t tick, void *user)
{
    (void)user;
    return 1.0 / (1.0 + 0.1 * (double)tick);
}

static int create_lambda(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    if (strcmp(golden_text(one, "formula"), "1/(1+0.1*k)") != 0)
        return axle_error_set(AXLE_ERR_NOT_FOUND, "an unknown formula");
    return axle_lambda_schedule_create(optimizer, harmonic, NULL, out);
}

static const struct {
    const char *op;
    int (*create)(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out);
} schedules[] = {
    {"constant", create_constant},       {"linear", create_linear},
    {"cosine", create_cosine},           {"cosine_with_restarts", create_restarts},
    {"polynomial", create_polynomial},   {"step", create_step},
    {"exponential", create_exponential}, {"one_cycle", create_one_cycle},
    {"lambda", create_lambda},           {"multi_step", create_multi_step},
    {"linear_anneal", create_anneal},    {"swa", create_anneal},
};

static int create_schedule(const json_t *one, axle_optimizer *optimizer, axle_scheduler **out)
{
    for (size_t k = 0; k < sizeof(schedules) / sizeof(schedules[0]); k++)
        if (strcmp(schedules[k].op, golden_op(one)) == 0)
            return schedules[k].create(one, optimizer, out);
    return axle_error_set(AXLE_ERR_NOT_FOUND, "no schedule %s in the table", golden_op(one));
}

/* An optimizer over one parameter, at the rate that the schedule multiplies. */
static int create_base(const json_t *one, axle_optimizer **out)
{
    axle_sgd_options options = AXLE_SGD_OPTIONS_INIT;
    axle_tensor *parameter = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(1));
    options.lr = golden_number(one, "max_lr", number(one, "lr"));
    if (!parameter || axle_tensor_set_requires_grad(parameter, 1) ||
        axle_sgd_create(NULL, &options, out))
        return axle_error_code();
    return axle_optimizer_add_group(*out, &parameter, 1, NULL);
}

static bool follow_rates(const json_t *one, axle_optimizer *optimizer, axle_scheduler *scheduler,
                         char *message, size_t size)
{
    const json_t *rates = golden_output(one, 0);
    size_t n = json_array_size(json_object_get(rates, "data"));
    for (size_t k = 0; k < n; k++) {
        double expected = golden_value(rates, k), got = axle_optimizer_lr(optimizer, 0);
        if (!(fabs(expected - got) <= 1e-12 + 1e-10 * fabs(expected))) {
            snprintf(message, size, "tick %zu: expected %.17g, got %.17g", k, expected, got);
            return false;
        }
        if (k + 1 < n && axle_scheduler_step(scheduler)) {
            snprintf(message, size, "tick %zu: %s", k, axle_error_message());
            return false;
        }
    }
    return true;
}

static void check_schedule(const json_t *one)
{
    char message[256] = "", *attrs = json_dumps(json_object_get(one, "attrs"), JSON_COMPACT);
    axle_optimizer *optimizer = NULL;
    axle_scheduler *scheduler = NULL;
    bool good = create_base(one, &optimizer) == AXLE_OK &&
                create_schedule(one, optimizer, &scheduler) == AXLE_OK;
    if (!good)
        snprintf(message, sizeof(message), "%s", axle_error_message());
    good = good && follow_rates(one, optimizer, scheduler, message, sizeof(message));
    if (!good)
        tap_note("%s", message);
    tap_result(good, "%s %s gives PyTorch's rates", golden_op(one), attrs ? attrs : "");
    axle_scheduler_release(scheduler);
    axle_optimizer_release(optimizer);
    free(attrs);
}

/* ------------------------------------------------------------------ both */

/* How many cases of its own operator come before case `k`. */
static size_t cases_before(const json_t *file, size_t k)
{
    const char *op = golden_op(json_array_get(file, k));
    size_t n = 0;
    for (size_t earlier = 0; earlier < k; earlier++)
        n += strcmp(golden_op(json_array_get(file, earlier)), op) == 0;
    return n;
}

static bool run_family(const char *family, void (*check)(const json_t *one))
{
    json_t *file = golden_load(family);
    if (!file)
        return false;
    for (size_t k = 0; k < json_array_size(file); k++) {
        const json_t *one = json_array_get(file, k);
        if (!choice_has(golden_op(one)) || !choice_has_case(cases_before(file, k)))
            continue;
        axle_error_clear();
        axle_scope_push();
        check(one);
        axle_scope_pop();
    }
    json_decref(file);
    return true;
}

int main(int argc, char **argv)
{
    if (!choice_read(argc, argv))
        return tap_bail_out("a part is K/N with K from 1 to N");
    axle_device *device = axle_device_current();
    if (!device)
        return tap_bail_out(axle_error_message());
    tap_note("on %s, in %s", axle_device_backend(device), axle_dtype_name(golden_dtype()));
    if (!run_family("optimizer", check_optimizer) || !run_family("scheduler", check_schedule))
        return tap_bail_out("the golden vectors cannot be read");
    return tap_finish();
}
