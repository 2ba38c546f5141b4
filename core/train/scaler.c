/* SPDX-License-Identifier: Apache-2.0 */
#include "train/scaler.h"

#include <math.h>

#include "base/log.h"
#include "base/options_copy.h"
#include "optim/optimizer.h"
#include "train/accelerator.h"

/* Beyond this a scale gains nothing, and the seed of backward must stay an f32. */
static const double most = 0x1p64;

static int check_options(const axle_scaler_options *o)
{
    if (o->scale > 0.0 && o->scale <= most && o->growth >= 1.0 && isfinite(o->growth) &&
        o->backoff > 0.0 && o->backoff <= 1.0 && o->interval >= 1 && o->least > 0.0 &&
        o->least <= o->scale && o->warn_after >= 1)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID,
                          "axle_accelerator_create: loss scale %g, growth %g after %d updates, "
                          "backoff %g, least scale %g, warning after %d",
                          o->scale, o->growth, o->interval, o->backoff, o->least, o->warn_after);
}

int axle__scaler_init(axle__scaler *scaler, bool on, const axle_scaler_options *options)
{
    *scaler = (axle__scaler){.on = on, .options = AXLE_SCALER_OPTIONS_INIT, .share = 1.0};
    int status = axle__options_copy("axle_accelerator_create", options, &scaler->options,
                                    sizeof(scaler->options));
    scaler->scale = scaler->options.scale;
    scaler->settled = true;
    return status ? status : check_options(&scaler->options);
}

double axle_loss_scale(const axle_accelerator *accelerator)
{
    return accelerator->scaler.on ? accelerator->scaler.scale : 1.0;
}

int axle_step_was_skipped(const axle_accelerator *accelerator)
{
    int at = 0, skipped = 0;
    for (axle_optimizer *o; (o = axle__next_optimizer((axle_accelerator *)accelerator, &at));)
        skipped |= o->overflowed;
    return skipped;
}

/* ------------------------------------------------------------------ the scale */

static void back_off(axle__scaler *s)
{
    s->overflowed = true;
    s->good = 0;
    s->scale = fmax(s->scale * s->options.backoff, s->options.least);
    s->skipped++;
    if (s->skipped % s->options.warn_after == 0)
        axle__warn("train",
                   "%lld updates in a row were skipped, for their gradients are not finite; the "
                   "loss scale is %g",
                   (long long)s->skipped, s->scale);
}

/* All updates of the window are done. */
static void settle(axle__scaler *s)
{
    s->settled = true;
    if (s->overflowed || !s->stepped)
        return;
    s->skipped = 0;
    if (++s->good < s->options.interval)
        return;
    s->good = 0;
    s->scale = fmin(s->scale * s->options.growth, most);
}

static bool all_have_stepped(const axle_accelerator *accelerator)
{
    for (int k = 0; k < accelerator->count; k++)
        if (accelerator->prepared[k].object->type == AXLE__OBJECT_OPTIMIZER &&
            !accelerator->prepared[k].stepped)
            return false;
    return true;
}

/* ------------------------------------------------------------------ windows */

void axle__scaler_open_window(axle_accelerator *accelerator, double rows)
{
    axle__scaler *s = &accelerator->scaler;
    if (!s->settled)
        settle(s);
    s->stepped = s->overflowed = s->settled = false;
    s->share = rows > 1.0 ? exp2(-floor(log2(rows))) : 1.0;
    for (int k = 0; k < accelerator->count; k++) {
        accelerator->prepared[k].stepped = false;
        accelerator->prepared[k].verdict = AXLE__GRADIENTS_UNKNOWN;
    }
}

double axle__scaler_share(const axle_accelerator *accelerator)
{
    const axle__scaler *s = &accelerator->scaler;
    return s->on && !s->unscaled ? s->share : 1.0;
}

/* One process alone divides its sums itself; with several, the mean of what they bring is still a
 * share. */
static double in_arena(const axle_accelerator *accelerator)
{
    const axle__scaler *s = &accelerator->scaler;
    bool means = accelerator->window.averages && axle__is_alone(accelerator);
    return means ? s->scale : s->scale * s->share;
}

double axle__scaler_factor(const axle_accelerator *accelerator)
{
    return accelerator->scaler.on ? in_arena(accelerator) : 1.0;
}

static int multiply(axle_accelerator *accelerator, double factor)
{
    int at = 0, status = AXLE_OK;
    for (axle_optimizer *o; !status && (o = axle__next_optimizer(accelerator, &at));)
        status = axle__optimizer_scale_grads(o, factor);
    return status;
}

int axle__scaler_before_pass(axle_accelerator *accelerator)
{
    axle__scaler *s = &accelerator->scaler;
    if (!s->on || !s->unscaled)
        return AXLE_OK;
    s->unscaled = false;
    return multiply(accelerator, in_arena(accelerator));
}

int axle__scaler_after_pass(axle_accelerator *accelerator)
{
    axle__scaler *s = &accelerator->scaler;
    if (!s->on || !accelerator->window.averages)
        return AXLE_OK;
    s->unscaled = true;
    for (int k = 0; k < accelerator->count; k++)
        accelerator->prepared[k].verdict = AXLE__GRADIENTS_UNKNOWN;
    return multiply(accelerator, 1.0 / in_arena(accelerator));
}

/* ------------------------------------------------------------------ steps */

/* Gradients that were summed are alike everywhere, but of a shared-out optimizer a process knows
 * its pieces alone, gradients can be set by hand, and with local SGD each process has its own,
 * while all count the same updates: so all are asked. */
static int judge(axle_accelerator *accelerator, axle_optimizer *optimizer, axle__verdict *verdict)
{
    bool finite = true;
    int status = axle__optimizer_check_finite(optimizer, &finite);
    double found = finite ? 0.0 : 1.0;
    if (!status && axle_process_count(accelerator) > 1 && !accelerator->trial)
        status = axle__reduce_numbers(accelerator, AXLE_DTYPE_F64, &found, 1, AXLE_REDUCE_MAX);
    if (!status)
        *verdict = found > 0.0 ? AXLE__GRADIENTS_OVERFLOWED : AXLE__GRADIENTS_FINITE;
    return status;
}

int axle__scaler_judge(axle_accelerator *accelerator, axle_optimizer *optimizer, bool *overflowed)
{
    axle__prepared *prepared = axle__prepared_of(accelerator, optimizer);
    int status = AXLE_OK;
    *overflowed = false;
    if (!accelerator->scaler.on || !prepared)
        return AXLE_OK;
    if (prepared->verdict == AXLE__GRADIENTS_UNKNOWN)
        status = judge(accelerator, optimizer, &prepared->verdict);
    *overflowed = prepared->verdict == AXLE__GRADIENTS_OVERFLOWED;
    return status;
}

int axle__scaler_before_step(axle_accelerator *accelerator, axle_optimizer *optimizer, bool *skip)
{
    axle__scaler *s = &accelerator->scaler;
    axle__prepared *prepared = axle__prepared_of(accelerator, optimizer);
    int status = axle__scaler_judge(accelerator, optimizer, skip);
    if (status || !s->on || !prepared)
        return status;
    prepared->stepped = true;
    s->stepped = true;
    if (*skip && !s->overflowed)
        back_off(s);
    if (!s->settled && all_have_stepped(accelerator))
        settle(s);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ for checkpoints */

bool axle__scaler_get(const axle_accelerator *accelerator, axle__scaler_state *out)
{
    axle__scaler s = accelerator->scaler;
    if (!s.settled)
        settle(&s);
    *out = (axle__scaler_state){s.scale, s.good, s.skipped};
    return s.on;
}

bool axle__scaler_is_valid(const axle__scaler_state *state)
{
    return state->scale > 0.0 && state->scale <= most && state->good >= 0 && state->skipped >= 0;
}

int axle__scaler_set(axle_accelerator *accelerator, const axle__scaler_state *state)
{
    axle__scaler *s = &accelerator->scaler;
    if (!axle__scaler_is_valid(state))
        return axle_error_set(AXLE_ERR_INVALID,
                              "loss scale %g after %lld good and %lld skipped updates",
                              state->scale, (long long)state->good, (long long)state->skipped);
    if (!s->on)
        return AXLE_OK;
    s->scale = state->scale;
    s->good = state->good;
    s->skipped = state->skipped;
    s->settled = true;
    return AXLE_OK;
}
