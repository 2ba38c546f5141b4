/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between f32, f64 and the two half types; rounding is to nearest, ties to even. */
#include "reference.h"

#include <math.h>

typedef union float_bits {
    float f;
    uint32_t u;
} float_bits;

uint32_t ref_dtype_size(uint32_t dtype)
{
    static const uint8_t size[] = {
#define SIZE(name, number, bytes, text) [number] = bytes,
        AXLE_DTYPE_LIST(SIZE)
#undef SIZE
    };
    return dtype < sizeof(size) ? size[dtype] : 0;
}

float ref_f16_to_f32(uint16_t bits)
{
    const uint32_t magnitude = bits & 0x7fffu;
    float_bits v = {.u = magnitude << 13};
    if (magnitude >= 0x7c00u)
        v.u |= 0x7f800000u; /* infinity or NaN */
    else
        v.f *= 0x1p112f; /* from the bias 15 to the bias 127; normalises subnormals, too */
    v.u |= (uint32_t)(bits & 0x8000u) << 16;
    return v.f;
}

uint16_t ref_f32_to_f16(float value)
{
    float_bits v = {.f = value};
    const uint32_t sign = v.u >> 16 & 0x8000u;
    v.u &= 0x7fffffffu;
    if (v.u > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (v.u >> 13 & 0x1ffu));
    if (v.u >= 0x477ff000u) /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7c00u);
    if (v.u < 0x38800000u) { /* Below 2^-14 the sum's last bit is worth 2^-24: the adder rounds. */
        v.f += 0.5f;
        return (uint16_t)(sign | (v.u - 0x3f000000u));
    }
    v.u += 0xfffu + (v.u >> 13 & 1u);
    return (uint16_t)(sign | (v.u - 0x38000000u) >> 13);
}

uint16_t ref_f32_to_bf16(float value)
{
    float_bits v = {.f = value};
    if ((v.u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(v.u >> 16 | 0x40u);
    return (uint16_t)((v.u + 0x7fffu + (v.u >> 16 & 1u)) >> 16);
}

/* Round to odd: truncate, and set the last bit where something was lost. A later rounding to fewer
 * bits then gives what rounding once would have given. */
static float narrow_to_odd(double value)
{
    float_bits v = {.f = (float)value};
    const double back = v.f;
    if (back == value || value != value)
        return v.f;
    if (fabs(back) > fabs(value))
        v.u--;
    v.u |= 1u;
    return v.f;
}

uint16_t ref_f64_to_f16(double value)
{
    return ref_f32_to_f16(narrow_to_odd(value));
}

uint16_t ref_f64_to_bf16(double value)
{
    return ref_f32_to_bf16(narrow_to_odd(value));
}
