/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizers and schedules by name. A new one is a line in its list and a function. */
#include <math.h>

#include "train.h"

#define OPTIMIZER_LIST(X) X(sgd, "sgd") X(adam, "adam") X(adamw, "adamw") X(rmsprop, "rmsprop")

#define SCHEDULE_LIST(X)                                                                           \
    X(trapezoid, "trapezoid")                                                                      \
    X(constant, "constant")                                                                        \
    X(step, "step")                                                                                \
    X(linear, "linear")                                                                            \
    X(cosine, "cosine")                                                                            \
    X(cosine_restarts, "cosine-restarts")                                                          \
    X(polynomial, "polynomial")                                                                    \
    X(one_cycle, "one-cycle")

/* The step schedule divides the rate by 10 after each third of the updates. */
static const double step_gamma = 0.1;
enum { STEP_PARTS = 3 };
static const double polynomial_power = 2.0;
/* The trapezoid rises in the first tenth, unless told otherwise, and falls in the last quarter. */
static const double trapezoid_rise = 0.1, trapezoid_fall = 0.25;

static double decay_or(const train_settings *settings, double fallback)
{
    return isnan(settings->weight_decay) ? fallback : settings->weight_decay;
}

/* ------------------------------------------------------------------ optimizers */

static int create_sgd(const train_settings *settings, axle_module *module, axle_optimizer **out)
{
    axle_sgd_options options = AXLE_SGD_OPTIONS_INIT;
    options.lr = settings->lr;
    options.momentum = settings->momentum;
    options.weight_decay = decay_or(settings, options.weight_decay);
    return axle_sgd_create(module, &options, out);
}

static int create_adam(const train_settings *settings, axle_module *module, axle_optimizer **out)
{
    axle_adam_options options = AXLE_ADAM_OPTIONS_INIT;
    options.lr = settings->lr;
    options.weight_decay = decay_or(settings, options.weight_decay);
    return axle_adam_create(module, &options, out);
}

static int create_adamw(const train_settings *settings, axle_module *module, axle_optimizer **out)
{
    axle_adamw_options options = AXLE_ADAMW_OPTIONS_INIT;
    options.lr = settings->lr;
    options.weight_decay = decay_or(settings, options.weight_decay);
    return axle_adamw_create(module, &options, out);
}

static int create_rmsprop(const train_settings *settings, axle_module *module, axle_optimizer **out)
{
    axle_rmsprop_options options = AXLE_RMSPROP_OPTIONS_INIT;
    options.lr = settings->lr;
    options.momentum = settings->momentum;
    options.weight_decay = decay_or(settings, options.weight_decay);
    return axle_rmsprop_create(module, &options, out);
}

enum {
#define NUMBER(name, text) OPTIMIZER_##name,
    OPTIMIZER_LIST(NUMBER)
#undef NUMBER
};

static int (*const optimizers[])(const train_settings *, axle_module *, axle_optimizer **) = {
#define FUNCTION(name, text) create_##name,
    OPTIMIZER_LIST(FUNCTION)
#undef FUNCTION
};

const char *const *train_optimizers(void)
{
#define NAME(name, text) text,
    static const char *const names[] = {OPTIMIZER_LIST(NAME) NULL};
#undef NAME
    return names;
}

int train_create_optimizer(training *training)
{
    const train_settings *settings = training->settings;
    return optimizers[settings->optimizer](settings, axle_model_module(training->model),
                                           &training->optimizer);
}

/* ------------------------------------------------------------------ schedules */

typedef train_ticks ticks;

/* Up, level, and down to nearly 0. */
static double trapezoid(int64_t tick, void *user)
{
    const ticks *t = user;
    double rise = t->warmup_ratio > 0.0 ? t->warmup_ratio : trapezoid_rise;
    double total = (double)t->total, done = (double)tick + 1.0, left = total - (double)tick;
    return fmin(1.0, fmin(done / (rise * total), left / (trapezoid_fall * total)));
}

static int schedule_trapezoid(axle_optimizer *optimizer, const ticks *t, axle_scheduler **out)
{
    return axle_lambda_schedule_create(optimizer, trapezoid, (void *)t, out);
}

static int schedule_constant(axle_optimizer *optimizer, const ticks *t, axle_scheduler **out)
{
    return axle_constant_schedule_create(optimizer, t->warmup, out);
}

static int schedule_step(axle_optimizer *optimizer, const ticks *t, axle_scheduler **out)
{
    int64_t size = (t->total + STEP_PARTS - 1) / STEP_PARTS;
    return axle_step_schedule_create(optimizer, size, step_gamma, out);
}

static int schedule_linear(axle_optimizer *optimizer, const ticks *t, axle_scheduler **out)
{
    return axle_linear_schedule_create(optimizer, t->warmup, t->total, out);
}

static int schedule_cosine(axle_optimizer *optimizer, const ticks *t, axle_scheduler **out)
{
    return axle_cosine_schedule_create(optimizer, t->warmup, t->total, 0.5, out);
}

/* Each epoch starts again. */
static int schedule_cosine_restarts(axle_optimizer *optimizer, const ticks *t, axle_scheduler **out)
{
    return axle_cosine_restarts_schedule_create(optimizer, t->warmup, t->total, (int)t->epochs,
                                                out);
}

static int schedule_polynomial(axle_optimizer *optimizer, const ticks *t, axle_scheduler **out)
{
    return axle_polynomial_schedule_create(optimizer, t->warmup, t->total, polynomial_power, 0.0,
                                           out);
}

/* Its rise is the warm-up. */
static int schedule_one_cycle(axle_optimizer *optimizer, const ticks *t, axle_scheduler **out)
{
    axle_one_cycle_options options = AXLE_ONE_CYCLE_OPTIONS_INIT;
    options.total = t->total;
    if (t->warmup_ratio > 0.0)
        options.rise = t->warmup_ratio;
    return axle_one_cycle_schedule_create(optimizer, &options, out);
}

enum {
#define NUMBER(name, text) SCHEDULE_##name,
    SCHEDULE_LIST(NUMBER)
#undef NUMBER
};

static int (*const schedules[])(axle_optimizer *, const ticks *, axle_scheduler **) = {
#define FUNCTION(name, text) schedule_##name,
    SCHEDULE_LIST(FUNCTION)
#undef FUNCTION
};

const char *const *train_schedules(void)
{
#define NAME(name, text) text,
    static const char *const names[] = {SCHEDULE_LIST(NAME) NULL};
#undef NAME
    return names;
}

int train_create_scheduler(training *training)
{
    const train_settings *settings = training->settings;
    training->ticks.warmup = (int64_t)ceil(settings->warmup_ratio * (double)training->ticks.total);
    training->ticks.warmup_ratio = settings->warmup_ratio;
    training->ticks.epochs = settings->epochs;
    return schedules[settings->schedule](training->optimizer, &training->ticks,
                                         &training->scheduler);
}

/* ------------------------------------------------------------------ both */

const char *train_contradiction(const train_settings *settings)
{
    int is_adam = settings->optimizer == OPTIMIZER_adam || settings->optimizer == OPTIMIZER_adamw;
    if (settings->momentum > 0.0 && is_adam)
        return "--momentum is for the optimizers sgd and rmsprop";
    if (settings->local_sgd > 0 && settings->ema > 0.0)
        return "--ema: with --local-sgd the averages of the processes would differ";
    if (settings->warmup_ratio > 0.0 && settings->schedule == SCHEDULE_step)
        return "--warmup-ratio: the schedule step has no warm-up";
    if (settings->track && !settings->track_dir && !settings->output)
        return "--track needs a folder: --track-dir or --output";
    if (settings->track_dir && !settings->track)
        return "--track-dir is for --track, which says what to write there";
    return train_checkpoint_contradiction(settings);
}
