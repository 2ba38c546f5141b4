/* SPDX-License-Identifier: Apache-2.0 */
#include "plot_scale.h"

#include <math.h>

/* ------------------------------------------------------------------ ranges */

typedef struct range {
    double low, high;
} range;

static void widen(range *range, double value)
{
    if (!isfinite(value))
        return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* Of what a logarithmic axis cannot show, nothing is left. */
static double shown(double value, int logarithmic)
{
    return !logarithmic ? value : value > 0.0 ? log10(value) : NAN;
}

/* Something to draw where there is nothing, or one number. */
static range open_up(range range)
{
    if (range.low > range.high)
        range.low = range.high = 0.0;
    if (range.low == range.high) {
        double half = range.low == 0.0 ? 1.0 : fabs(range.low) * 0.5;
        range.low -= half;
        range.high += half;
    }
    return range;
}

/* ------------------------------------------------------------------ ticks */

static void add_tick(plot_scale *scale, double value)
{
    if (scale->tick_count < SCALE_MOST_TICKS)
        scale->ticks[scale->tick_count++] = value;
}

/* 1, 2 or 5 times a power of ten, so that about `wanted` fit. */
static double nice_step(double span, int wanted)
{
    double raw = span / wanted, power = pow(10.0, floor(log10(raw))), share = raw / power;
    return power * (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0);
}

static void tick_linear(plot_scale *scale, int wanted, double least_step)
{
    double step = fmax(nice_step(scale->high - scale->low, wanted), least_step);
    double slack = (scale->high - scale->low) * 1e-9;
    for (double k = ceil((scale->low - slack) / step); k * step <= scale->high + slack; k++) {
        add_tick(scale, k == 0.0 ? 0.0 : k * step);
        if (scale->tick_count == SCALE_MOST_TICKS)
            return;
    }
}

/* Decades; 1, 2 and 5 in each where there are few. */
static void tick_decades(plot_scale *scale, int wanted)
{
    static const double parts[] = {1.0, 2.0, 5.0};
    int few = scale->high - scale->low < 2.0;
    double stride = fmax(1.0, ceil((scale->high - scale->low) / wanted));
    for (double k = floor(scale->low); k <= scale->high; k += stride)
        for (int p = 0; p < (few ? 3 : 1); p++) {
            double at = k + log10(parts[p]);
            if (at >= scale->low - 1e-9 && at <= scale->high + 1e-9)
                add_tick(scale, pow(10.0, k) * parts[p]);
        }
}

/* ------------------------------------------------------------------ axes */

void plot_scale_x(const plot_panel *panel, int wanted, plot_scale *out)
{
    range range = {INFINITY, -INFINITY};
    for (int k = 0; k < panel->count; k++)
        for (int p = 0; p < panel->series[k]->count; p++)
            widen(&range, panel->series[k]->points[p].x);
    if (range.low == range.high) {
        range.low -= 1.0;
        range.high += 1.0;
    }
    range = open_up(range);
    *out = (plot_scale){.low = range.low, .high = range.high};
    tick_linear(out, wanted, 1.0);
}

void plot_scale_y(const plot_panel *panel, int logarithmic, int wanted, plot_scale *out)
{
    range range = {INFINITY, -INFINITY};
    for (int k = 0; k < panel->count; k++)
        for (int p = 0; p < panel->series[k]->count; p++)
            widen(&range, shown(panel->series[k]->points[p].y, logarithmic));
    int begins_at_zero = range.low == 0.0 && !logarithmic;
    range = open_up(range);
    double margin = (range.high - range.low) * 0.05;
    *out = (plot_scale){.low = range.low - (begins_at_zero ? 0.0 : margin),
                        .high = range.high + margin,
                        .logarithmic = logarithmic};
    if (logarithmic)
        tick_decades(out, wanted);
    else
        tick_linear(out, wanted, 0.0);
}

double plot_scale_place(const plot_scale *scale, double value)
{
    double at = shown(value, scale->logarithmic);
    return isfinite(at) ? (at - scale->low) / (scale->high - scale->low) : NAN;
}

const char *plot_scale_label(const plot_scale *scale, int tick, char text[SCALE_LABEL])
{
    double value = scale->ticks[tick];
    snprintf(text, SCALE_LABEL, fabs(value) >= 1e5 && fabs(value) < 1e9 ? "%.0f" : "%.6g", value);
    return text;
}
