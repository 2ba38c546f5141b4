/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions of the 16-bit float types, free of branches so that loops over them vectorise.
 * Rounding is to nearest even, overflow gives infinity, NaN stays NaN.
 */
#ifndef AXLE_ONEDNN_HALF_H
#define AXLE_ONEDNN_HALF_H

#include "isa.h"

INLINE float bf16_to_f32(uint16_t bits)
{
    return f32_from((uint32_t)bits << 16);
}

INLINE uint16_t f32_to_bf16(float value)
{
    const uint32_t bits = f32_bits(value);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t quiet = (bits >> 16) | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/* The exponent is corrected by a multiplication, which normalises subnormal halves on the way. */
INLINE float f16_to_f32(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;
    const uint32_t finite = f32_bits(f32_from(magnitude) * 0x1p112f);
    const uint32_t special = magnitude | 0x7f800000u;
    return f32_from(sign | (magnitude >= 0x0f800000u ? special : finite));
}

/* Below the smallest normal half, adding 0.5 lets the adder round at the weight of a subnormal. */
INLINE uint16_t f32_to_f16(float value)
{
    const uint32_t bits = f32_bits(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    const uint32_t subnormal = f32_bits(f32_from(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t huge = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
    return (uint16_t)(sign | (magnitude >= 0x47800000u ? huge : finite));
}

/* An f32 that rounds to a half as the f64 itself would: round to odd keeps the sticky bit. */
INLINE float f64_to_odd_f32(double value)
{
    const float near = (float)value;
    const double back = (double)near;
    const uint32_t bits = f32_bits(near);
    const double a = back < 0 ? -back : back;
    const double b = value < 0 ? -value : value;
    const uint32_t toward_zero = a > b ? bits - 1u : bits;
    const int exact = a == b || value != value;
    return f32_from(exact ? bits : toward_zero | 1u);
}

#endif
