/* SPDX-License-Identifier: Apache-2.0 */
/* Half-precision numbers and f64, rounding to the nearest, ties to even. */
#ifndef AXLE_GROUP_HALF_H
#define AXLE_GROUP_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline double axle__bf16_widen(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof(value));
    return (double)value;
}

static inline double axle__f16_widen(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023, value;
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(fraction + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

/* A format with a sign, exponents from `least` (of the smallest normal number) and `digits`
 * fraction bits. Rounding in f64 is exact, so the number is rounded once. */
static inline uint16_t axle__narrow(double value, int digits, int least, int exponent_limit)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    uint16_t infinite = (uint16_t)(exponent_limit << digits);
    if (isnan(value))
        return (uint16_t)(infinite | 1u << (digits - 1));
    value = fabs(value);
    if (value == 0.0)
        return sign;
    if (isinf(value))
        return (uint16_t)(sign | infinite);
    int exponent = ilogb(value);
    if (exponent < least)
        exponent = least;
    /* Units of the last place; the carry of rounding up moves on to the exponent by itself. */
    double units = nearbyint(ldexp(value, digits - exponent));
    double bits = units + ldexp((double)(exponent - least), digits);
    return bits >= infinite ? (uint16_t)(sign | infinite) : (uint16_t)(sign | (uint16_t)bits);
}

static inline uint16_t axle__bf16_narrow(double value)
{
    return axle__narrow(value, 7, -126, 255);
}

static inline uint16_t axle__f16_narrow(double value)
{
    return axle__narrow(value, 10, -14, 31);
}

#endif
