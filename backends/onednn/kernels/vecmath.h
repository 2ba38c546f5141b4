/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementary functions of f32, free of branches and tables so that loops over them vectorise.
 * Arguments are reduced as every textbook does; the polynomials are minimax fits. Errors against
 * the correctly rounded result stay below 2 ulp. None needs a fused multiply-add.
 */
#ifndef AXLE_ONEDNN_VECMATH_H
#define AXLE_ONEDNN_VECMATH_H

#include "isa.h"

/* Adding and subtracting it rounds to the nearest integer, whose value then is in the low bits. */
#define VM_MAGIC 12582912.0f
#define VM_LN2_HIGH 0x1.62e4p-1f
#define VM_LN2_LOW 0x1.7f7d1dp-20f

INLINE float vm_abs(float x)
{
    return f32_from(f32_bits(x) & 0x7fffffffu);
}

INLINE float vm_copysign(float magnitude, float sign)
{
    return f32_from((f32_bits(magnitude) & 0x7fffffffu) | (f32_bits(sign) & 0x80000000u));
}

/* y * 2^n in two steps, so that results may be subnormal or overflow. */
INLINE float vm_scale(float y, int32_t n)
{
    const int32_t half = n >> 1;
    const float first = f32_from((uint32_t)(half + 127) << 23);
    const float second = f32_from((uint32_t)(n - half + 127) << 23);
    return y * first * second;
}

/*
 * exp(high + low) for a small correction `low`; -inf gives exactly 0. Arguments out of range are
 * dealt with at the end: bounding them at the start invites compilers to work the bounds out beside
 * every element, and the result at the lower one is subnormal, which is slow.
 */
INLINE float vm_exp_sum(float high, float low)
{
    const float shifted = (high + low) * 1.44269504f + VM_MAGIC;
    const float n = shifted - VM_MAGIC;
    const float r = ((high - n * VM_LN2_HIGH) - n * VM_LN2_LOW) + low;
    float p = 0x1.6a1f62p-10f;
    p = p * r + 0x1.123ccap-7f;
    p = p * r + 0x1.555904p-5f;
    p = p * r + 0x1.55548ep-3f;
    p = p * r + 0x1.fffffcp-2f;
    p = r + r * r * p;
    const float y = vm_scale(1.0f + p, (int32_t)(f32_bits(shifted) - f32_bits(VM_MAGIC)));
    const float bounded = high < -104.0f ? 0.0f : y;
    return high > 89.0f ? INFINITY : bounded;
}

INLINE float vm_exp(float x)
{
    return vm_exp_sum(x, 0.0f);
}

/* log(m * 2^k) = k * log(2) + log(1 + f) with m in [sqrt(1/2), sqrt(2)). */
INLINE float vm_log(float x)
{
    const int tiny = x < 0x1p-126f;
    const uint32_t bits = f32_bits(tiny ? x * 0x1p23f : x) - 0x3f3504f3u;
    const float k = (float)((int32_t)bits >> 23) - (tiny ? 23.0f : 0.0f);
    const float f = f32_from((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float p = -0x1.41ee12p-4f;
    p = p * f + 0x1.07d0f2p-3f;
    p = p * f - 0x1.0ce07ap-3f;
    p = p * f + 0x1.226e4ap-3f;
    p = p * f - 0x1.54788ap-3f;
    p = p * f + 0x1.99a596p-3f;
    p = p * f - 0x1.000220p-2f;
    p = p * f + 0x1.55554ap-2f;
    const float square = f * f;
    float y = f * square * p + k * VM_LN2_LOW;
    y = (y - 0.5f * square) + f;
    y = y + k * VM_LN2_HIGH;
    y = x == 0.0f ? -INFINITY : y;
    y = x < 0.0f ? NAN : y;
    return x < INFINITY ? y : x;
}

/* exp(-|x|) serves both signs without overflow. What rounding takes from 1 + e is put back. */
INLINE float vm_sigmoid(float x)
{
    const float e = vm_exp(-vm_abs(x));
    const float below = 1.0f + e;
    const float lost = e - (below - 1.0f);
    const float y = (x < 0.0f ? e : 1.0f) / below;
    return y - y * (lost * (x < 0.0f ? 1.0f - y : y));
}

INLINE float vm_tanh(float x)
{
    const float a = vm_abs(x);
    const float z = x * x;
    float p = -0x1.76ac1ap-8f;
    p = p * z + 0x1.5256d8p-6f;
    p = p * z - 0x1.b84448p-5f;
    p = p * z + 0x1.110768p-3f;
    p = p * z - 0x1.555534p-2f;
    const float small = x + x * (z * p);
    const float large = 1.0f - 2.0f / (vm_exp(2.0f * a) + 1.0f);
    return a < 0.625f ? small : vm_copysign(large, x);
}

/* erfc(t / sqrt(2)) / 2 * exp(t^2 / 2) for 0 <= t <= 14.6, a polynomial in (t - 3) / (t + 3). */
INLINE float vm_normal_tail(float t)
{
    const float w = 1.0f / (t + 3.0f);
    const float u = (t - 3.0f) * w;
    float p = 0x1.c8df52p-15f;
    p = p * u + 0x1.134c76p-13f;
    p = p * u - 0x1.00a330p-12f;
    p = p * u - 0x1.0eac54p-10f;
    p = p * u + 0x1.0ca398p-10f;
    p = p * u + 0x1.c8bd86p-8f;
    p = p * u - 0x1.56d5f8p-7f;
    p = p * u - 0x1.832d0ap-5f;
    p = p * u + 0x1.d71386p-3f;
    p = p * u - 0x1.04c72ap-1f;
    p = p * u + 0x1.754a76p-1f;
    return p * w;
}

INLINE float vm_erf(float x)
{
    const float a = vm_abs(x);
    const float z = x * x;
    float p = 0x1.626642p-14f;
    p = p * z - 0x1.ac0000p-11f;
    p = p * z + 0x1.54fd70p-8f;
    p = p * z - 0x1.b8148cp-6f;
    p = p * z + 0x1.ce2e5ap-4f;
    p = p * z - 0x1.812744p-2f;
    const float small = x + x * (0x1.06eba8p-3f + z * p);
    const float t = a > 10.0f ? 10.0f : a;
    const float large = 1.0f - 2.0f * vm_exp(-(t * t)) * vm_normal_tail(t * 1.41421356f);
    return a < 0.92f ? small : vm_copysign(a != a ? a : large, x);
}

/* exp(-x^2 / 2). The square is taken in two parts: its rounding error would be magnified. */
INLINE float vm_bell(float x)
{
    const float a = vm_abs(x);
    const float t = a > 14.6f ? 14.6f : a;
    const float head = f32_from(f32_bits(t) & 0xfffff000u);
    return vm_exp_sum(-0.5f * (head * head), -0.5f * ((t - head) * (t + head)));
}

INLINE float vm_gelu_slope(float x)
{
    const float a = vm_abs(x);
    const float bell = vm_bell(x);
    const float upper = vm_normal_tail(a > 14.6f ? 14.6f : a) * bell;
    return (x < 0.0f ? upper : 1.0f - upper) + x * bell * 0.398942280f;
}

/* The largest magnitude of a row, as its bits less `minus`: magnitudes order like their bits, and
 * NaN is above all of them. */
INLINE uint32_t vm_largest_bits(const float *x, int64_t n, uint32_t minus)
{
    uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = (f32_bits(x[i]) & 0x7fffffffu) - minus;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

#endif
