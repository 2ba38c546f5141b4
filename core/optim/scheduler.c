/* SPDX-License-Identifier: Apache-2.0 */
#include "optim/scheduler.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/options_copy.h"

static void apply(axle_scheduler *scheduler)
{
    double factor = scheduler->schedule.factor(&scheduler->schedule, scheduler->ticks);
    for (int k = 0; k < scheduler->optimizer->group_count; k++) {
        axle__group *group = &scheduler->optimizer->groups[k];
        group->lr = group->initial_lr * factor;
    }
}

static int create(axle_optimizer *optimizer, axle__schedule schedule, axle_scheduler **out)
{
    axle_scheduler *scheduler = axle__alloc(1, sizeof(*scheduler));
    if (!scheduler)
        return axle_error_code();
    axle__object_init(&scheduler->object, AXLE__OBJECT_SCHEDULER);
    scheduler->optimizer = axle_optimizer_retain(optimizer);
    scheduler->schedule = schedule;
    apply(scheduler);
    *out = scheduler;
    return AXLE_OK;
}

axle_scheduler *axle_scheduler_retain(axle_scheduler *scheduler)
{
    if (scheduler)
        axle__object_retain(&scheduler->object);
    return scheduler;
}

void axle_scheduler_release(axle_scheduler *scheduler)
{
    if (!scheduler || !axle__object_release(&scheduler->object))
        return;
    axle_optimizer_release(scheduler->optimizer);
    scheduler->object.type = 0;
    axle__free(scheduler->schedule.milestones);
    axle__free(scheduler);
}

int axle_scheduler_step(axle_scheduler *scheduler)
{
    if (scheduler->optimizer->suspended || scheduler->optimizer->skipped)
        return AXLE_OK;
    return axle_scheduler_set_ticks(scheduler, scheduler->ticks + 1);
}

int64_t axle_scheduler_ticks(const axle_scheduler *scheduler)
{
    return scheduler->ticks;
}

int axle_scheduler_set_ticks(axle_scheduler *scheduler, int64_t ticks)
{
    if (ticks < 0)
        return axle_error_set(AXLE_ERR_INVALID, "axle_scheduler_set_ticks: %lld", (long long)ticks);
    scheduler->ticks = ticks;
    apply(scheduler);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ the schedules
 *
 * The ones with warm-up follow the definitions of the transformers library. */

static double after_warmup(const axle__schedule *s, int64_t tick)
{
    int64_t rest = s->total - s->warmup;
    return (double)(tick - s->warmup) / (double)(rest > 1 ? rest : 1);
}

static double warming(const axle__schedule *s, int64_t tick)
{
    return (double)tick / (double)(s->warmup > 1 ? s->warmup : 1);
}

static double constant_factor(const axle__schedule *s, int64_t tick)
{
    return tick < s->warmup ? warming(s, tick) : 1.0;
}

static double step_factor(const axle__schedule *s, int64_t tick)
{
    return pow(s->gamma, (double)(tick / s->period));
}

static double multi_step_factor(const axle__schedule *s, int64_t tick)
{
    int passed = 0;
    while (passed < s->milestone_count && s->milestones[passed] <= tick)
        passed++;
    return pow(s->gamma, (double)passed);
}

static double exponential_factor(const axle__schedule *s, int64_t tick)
{
    return pow(s->gamma, (double)tick);
}

static double linear_factor(const axle__schedule *s, int64_t tick)
{
    if (tick < s->warmup)
        return warming(s, tick);
    return fmax(0.0, 1.0 - after_warmup(s, tick));
}

static const double pi = 3.14159265358979323846;

static double cosine_factor(const axle__schedule *s, int64_t tick)
{
    if (tick < s->warmup)
        return warming(s, tick);
    return fmax(0.0, 0.5 * (1.0 + cos(pi * s->cycles * 2.0 * after_warmup(s, tick))));
}

static double restarts_factor(const axle__schedule *s, int64_t tick)
{
    if (tick < s->warmup)
        return warming(s, tick);
    double progress = after_warmup(s, tick);
    if (progress >= 1.0)
        return 0.0;
    return fmax(0.0, 0.5 * (1.0 + cos(pi * fmod(s->cycles * progress, 1.0))));
}

static double polynomial_factor(const axle__schedule *s, int64_t tick)
{
    if (tick < s->warmup)
        return warming(s, tick);
    if (tick > s->total)
        return s->end;
    return (1.0 - s->end) * pow(1.0 - after_warmup(s, tick), s->power) + s->end;
}

/* From one value to another, of which a share was gone. */
static double annealed(const axle__schedule *s, double from, double to, double share)
{
    if (s->anneal == AXLE_ANNEAL_LINEAR)
        return from + (to - from) * share;
    return to + (from - to) / 2.0 * (1.0 + cos(pi * share));
}

static double anneal_factor(const axle__schedule *s, int64_t tick)
{
    return tick < s->total ? annealed(s, s->start, s->end, (double)tick / (double)s->total)
                           : s->end;
}

/* Between two ticks, of which the second may come before the first where there are few. */
static double phase(const axle__schedule *s, double at, double begin, double end, double from,
                    double to)
{
    return annealed(s, from, to, end > begin ? (at - begin) / (end - begin) : 1.0);
}

static double one_cycle_factor(const axle__schedule *s, int64_t tick)
{
    double top = s->rise * (double)s->total - 1.0, last = (double)s->total - 1.0;
    double at = fmin((double)tick, last), back = 2.0 * top;
    if (at <= top)
        return phase(s, at, 0.0, top, s->start, 1.0);
    if (!s->three_phase)
        return phase(s, at, top, last, 1.0, s->end);
    return at <= back ? phase(s, at, top, back, 1.0, s->start)
                      : phase(s, at, back, last, s->start, s->end);
}

static double lambda_factor(const axle__schedule *s, int64_t tick)
{
    return s->fn(tick, s->user);
}

static int check_span(const char *who, int64_t warmup, int64_t total)
{
    if (warmup >= 0 && total >= 0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "%s: warm-up of %lld ticks, %lld in all", who,
                          (long long)warmup, (long long)total);
}

int axle_lambda_schedule_create(axle_optimizer *optimizer, axle_schedule_fn fn, void *user,
                                axle_scheduler **out)
{
    axle__schedule s = {.factor = lambda_factor, .fn = fn, .user = user};
    return create(optimizer, s, out);
}

int axle_constant_schedule_create(axle_optimizer *optimizer, int64_t warmup, axle_scheduler **out)
{
    axle__schedule s = {.factor = constant_factor, .warmup = warmup};
    int status = check_span("constant schedule", warmup, 0);
    return status ? status : create(optimizer, s, out);
}

int axle_step_schedule_create(axle_optimizer *optimizer, int64_t step_size, double gamma,
                              axle_scheduler **out)
{
    axle__schedule s = {.factor = step_factor, .period = step_size, .gamma = gamma};
    if (step_size < 1)
        return axle_error_set(AXLE_ERR_INVALID, "step schedule: steps of %lld ticks",
                              (long long)step_size);
    return create(optimizer, s, out);
}

static int check_milestones(const int64_t *milestones, int n)
{
    if (n < 0 || (n > 0 && !milestones))
        return axle_error_set(AXLE_ERR_INVALID, "multi-step schedule: %d milestones", n);
    for (int k = 0; k < n; k++)
        if (milestones[k] < (k ? milestones[k - 1] : 0))
            return axle_error_set(AXLE_ERR_INVALID,
                                  "multi-step schedule: milestone %d is tick %lld, after %lld", k,
                                  (long long)milestones[k], k ? (long long)milestones[k - 1] : 0LL);
    return AXLE_OK;
}

int axle_multi_step_schedule_create(axle_optimizer *optimizer, const int64_t *milestones, int n,
                                    double gamma, axle_scheduler **out)
{
    axle__schedule s = {.factor = multi_step_factor, .gamma = gamma, .milestone_count = n};
    int status = check_milestones(milestones, n);
    if (status)
        return status;
    s.milestones = axle__alloc((size_t)n + 1, sizeof(*s.milestones));
    if (!s.milestones)
        return axle_error_code();
    if (n > 0)
        memcpy(s.milestones, milestones, (size_t)n * sizeof(*milestones));
    status = create(optimizer, s, out);
    if (status)
        axle__free(s.milestones);
    return status;
}

int axle_exponential_schedule_create(axle_optimizer *optimizer, double gamma, axle_scheduler **out)
{
    axle__schedule s = {.factor = exponential_factor, .gamma = gamma};
    return create(optimizer, s, out);
}

int axle_linear_schedule_create(axle_optimizer *optimizer, int64_t warmup, int64_t total,
                                axle_scheduler **out)
{
    axle__schedule s = {.factor = linear_factor, .warmup = warmup, .total = total};
    int status = check_span("linear schedule", warmup, total);
    return status ? status : create(optimizer, s, out);
}

int axle_cosine_schedule_create(axle_optimizer *optimizer, int64_t warmup, int64_t total,
                                double cycles, axle_scheduler **out)
{
    axle__schedule s = {
        .factor = cosine_factor, .warmup = warmup, .total = total, .cycles = cycles};
    int status = check_span("cosine schedule", warmup, total);
    return status ? status : create(optimizer, s, out);
}

int axle_cosine_restarts_schedule_create(axle_optimizer *optimizer, int64_t warmup, int64_t total,
                                         int cycles, axle_scheduler **out)
{
    axle__schedule s = {
        .factor = restarts_factor, .warmup = warmup, .total = total, .cycles = (double)cycles};
    int status = check_span("cosine schedule", warmup, total);
    return status ? status : create(optimizer, s, out);
}

int axle_polynomial_schedule_create(axle_optimizer *optimizer, int64_t warmup, int64_t total,
                                    double power, double end_factor, axle_scheduler **out)
{
    axle__schedule s = {.factor = polynomial_factor,
                        .warmup = warmup,
                        .total = total,
                        .power = power,
                        .end = end_factor};
    int status = check_span("polynomial schedule", warmup, total);
    return status ? status : create(optimizer, s, out);
}

static bool is_anneal(int anneal)
{
    return anneal == AXLE_ANNEAL_COSINE || anneal == AXLE_ANNEAL_LINEAR;
}

int axle_anneal_schedule_create(axle_optimizer *optimizer, const axle_anneal_options *options,
                                axle_scheduler **out)
{
    axle_anneal_options o = AXLE_ANNEAL_OPTIONS_INIT;
    int status = axle__options_copy("anneal schedule", options, &o, sizeof(o));
    if (status)
        return status;
    if (o.total < 1 || !isfinite(o.from) || !isfinite(o.to) || !is_anneal(o.anneal))
        return axle_error_set(AXLE_ERR_INVALID,
                              "anneal schedule: %lld ticks from %g to %g, anneal %d",
                              (long long)o.total, o.from, o.to, o.anneal);
    axle__schedule s = {.factor = anneal_factor,
                        .total = o.total,
                        .start = o.from,
                        .end = o.to,
                        .anneal = o.anneal};
    return create(optimizer, s, out);
}

int axle_one_cycle_schedule_create(axle_optimizer *optimizer, const axle_one_cycle_options *options,
                                   axle_scheduler **out)
{
    axle_one_cycle_options o = AXLE_ONE_CYCLE_OPTIONS_INIT;
    int status = axle__options_copy("one-cycle schedule", options, &o, sizeof(o));
    if (status)
        return status;
    if (!is_anneal(o.anneal) || (o.three_phase && o.rise > 0.5))
        return axle_error_set(AXLE_ERR_INVALID,
                              "one-cycle schedule: anneal %d, rise %g of %s phases", o.anneal,
                              o.rise, o.three_phase ? "three" : "two");
    if (o.total < 1 || !(o.rise >= 0.0 && o.rise <= 1.0) || !(o.divide > 0.0) ||
        !(o.final_divide > 0.0))
        return axle_error_set(AXLE_ERR_INVALID,
                              "one-cycle schedule: %lld ticks, rise %g, divide by %g and %g",
                              (long long)o.total, o.rise, o.divide, o.final_divide);
    axle__schedule s = {.factor = one_cycle_factor,
                        .total = o.total,
                        .rise = o.rise,
                        .start = 1.0 / o.divide,
                        .end = 1.0 / o.divide / o.final_divide,
                        .anneal = o.anneal,
                        .three_phase = o.three_phase != 0};
    return create(optimizer, s, out);
}
