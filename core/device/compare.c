/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing one output, element by element. */
#include "device/check.h"

#include <math.h>

double axle__largest(const double *value, uint64_t count)
{
    double largest = 0.0;
    for (uint64_t k = 0; k < count; k++)
        if (isfinite(value[k]) && fabs(value[k]) > largest)
            largest = fabs(value[k]);
    return largest;
}

/* Range of an integer type's values, as far as copying floats into it is defined. */
static void range_of(uint32_t dtype, double *low, double *high)
{
    static const struct {
        double low, high;
    } ranges[] = {
        [AXLE_DTYPE_U8] = {-1.0, 256.0},
        [AXLE_DTYPE_I32] = {-2147483649.0, 2147483648.0},
        [AXLE_DTYPE_I64] = {-9223372036854775808.0, 9223372036854775808.0},
    };
    *low = ranges[dtype].low;
    *high = ranges[dtype].high;
}

/* What a copy makes of a float outside an integer type's range is not defined. */
static bool is_undefined(const axle__comparison *c, uint64_t k)
{
    double low, high;
    if (!c->source || c->dtype == AXLE_DTYPE_BOOL)
        return false;
    range_of(c->dtype, &low, &high);
    return !(c->source[k] > low && c->source[k] < high);
}

static void compare_integers(const axle__comparison *c, axle__difference *out)
{
    const int64_t *expected = c->expected, *got = c->got;
    for (uint64_t k = 0; k < c->count; k++)
        if (expected[k] != got[k] && !is_undefined(c, k) && out->wrong++ == 0)
            out->worst = k;
}

static double allowed_for(const axle__comparison *c, axle__closeness closeness, uint64_t k,
                          double expected)
{
    const axle__tolerance *t = axle__dtype_tolerance(c->dtype);
    double size = fabs(expected);
    switch (closeness) {
    case AXLE__CLOSE_EQUAL:
        return 0.0;
    case AXLE__CLOSE_ROUNDED:
        return t->rounded * size + t->smallest;
    case AXLE__CLOSE_NATURAL:
        return t->rounded * size + t->natural;
    case AXLE__CLOSE_SUMMED:
        return t->summed * fmax(size, c->magnitude ? c->magnitude[k] : 0.0) + t->smallest;
    default:
        return t->whole * fmax(size, c->scale) + t->smallest;
    }
}

/* Elements that dropout removes are exactly 0, and no others are. */
static bool removes_alike(const axle__comparison *c, double expected, double got)
{
    return c->call->op != AXLE_OP_DROPOUT || (expected == 0.0) == (got == 0.0);
}

/* How far off an element is, in units of what is allowed: up to 1 is right. */
static double excess(const axle__comparison *c, double expected, double got, double allowed)
{
    if (expected == got || (isnan(expected) && isnan(got)))
        return 0.0;
    if (!removes_alike(c, expected, got) || !isfinite(expected) || !isfinite(got))
        return INFINITY;
    double off = fabs(expected - got);
    return allowed > 0.0 ? off / allowed : INFINITY;
}

static void compare_floats(const axle__comparison *c, axle__difference *out)
{
    const double *expected = c->expected, *got = c->got;
    axle__closeness closeness = axle__call_closeness(c->call);
    double worst = 0.0;
    for (uint64_t k = 0; k < c->count; k++) {
        double allowed = allowed_for(c, closeness, k, expected[k]);
        double by = excess(c, expected[k], got[k], allowed);
        if (by <= 1.0)
            continue;
        out->wrong++;
        if (by > worst) {
            worst = by;
            out->worst = k;
            out->allowed = allowed;
        }
    }
}

void axle__compare(const axle__comparison *c, axle__difference *out)
{
    *out = (axle__difference){0};
    if (axle__dtype_tolerance(c->dtype))
        compare_floats(c, out);
    else
        compare_integers(c, out);
}
