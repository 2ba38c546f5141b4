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

/* Exponent and fraction move to their places in an f32; what was a subnormal number is put right by
 * subtracting the one that its exponent stands for. */
static inline double axle__f16_widen(uint16_t bits)
{
    uint32_t magnitude = (uint32_t)(bits & 0x7fff) << 13, sign = (uint32_t)(bits & 0x8000) << 16;
    const float least = 0x1p-14f;
    float value;
    if (magnitude < 0x400u << 13)
        magnitude += 113u << 23;
    else
        magnitude += magnitude < 0x7c00u << 13 ? 112u << 23 : 224u << 23;
    memcpy(&value, &magnitude, sizeof(value));
    if ((bits & 0x7c00) == 0)
        value -= least;
    memcpy(&magnitude, &value, sizeof(magnitude));
    magnitude |= sign;
    memcpy(&value, &magnitude, sizeof(value));
    return (double)value;
}

/* A format with a sign, exponents from `least` (of the smallest normal number) and `digits`
 * fraction bits; `infinite` has the exponent of infinity. The number is rounded once. */
static inline uint16_t axle__narrow(double value, int digits, int least, uint16_t infinite)
{
    uint64_t wide, bits;
    memcpy(&wide, &value, sizeof(wide));
    uint16_t sign = (uint16_t)(wide >> 48 & 0x8000);
    wide &= UINT64_MAX >> 1;
    if (wide > UINT64_C(0x7ff) << 52)
        return (uint16_t)(infinite | 1u << (digits - 1));
    int field = (int)(wide >> 52) - 1023 - least;
    if (field >= 0) {
        /* The carry of rounding up moves on to the exponent by itself. */
        int dropped = 52 - digits;
        bits = (uint64_t)(field + 1) << 52 | (wide & (UINT64_MAX >> 12));
        bits += (UINT64_C(1) << (dropped - 1)) - 1 + (bits >> dropped & 1);
        bits >>= dropped;
    } else {
        /* Units of the last place, far below 2^52, where adding that number rounds. */
        double units = fabs(value) * (double)(UINT64_C(1) << digits) * ldexp(1.0, -least) + 0x1p52;
        memcpy(&bits, &units, sizeof(bits));
        bits &= UINT64_MAX >> 12;
    }
    return bits >= infinite ? (uint16_t)(sign | infinite) : (uint16_t)(sign | bits);
}

static inline uint16_t axle__bf16_narrow(double value)
{
    return axle__narrow(value, 7, -126, 0x7f80);
}

static inline uint16_t axle__f16_narrow(double value)
{
    return axle__narrow(value, 10, -14, 0x7c00);
}

#endif
