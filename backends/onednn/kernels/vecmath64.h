/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementary functions evaluated in f64 for results in f32: polynomials good to about 1e-11, so
 * that the one rounding at the end is all the error there is. They serve the functions that lose
 * digits when computed in f32 and are rarely on the critical path.
 */
#ifndef AXLE_ONEDNN_VECMATH64_H
#define AXLE_ONEDNN_VECMATH64_H

#include "isa.h"

#define VD_MAGIC 6755399441055744.0
#define VD_LN2 0.69314718055994530942
#define VD_PI 3.14159265358979323846
/* Arguments of sine and cosine up to this are reduced without loss. */
#define VD_TRIGONOMETRIC_LIMIT 1e6f

INLINE double vd_abs(double x)
{
    return f64_from(f64_bits(x) & UINT64_C(0x7fffffffffffffff));
}

INLINE double vd_copysign(double magnitude, double sign)
{
    return f64_from((f64_bits(magnitude) & UINT64_C(0x7fffffffffffffff)) |
                    (f64_bits(sign) & UINT64_C(0x8000000000000000)));
}

/* Exact near 0: what is subtracted there is 1 - 1. */
INLINE double vd_expm1(double x)
{
    const double shifted = x * 1.44269504088896340736 + VD_MAGIC;
    const double n = shifted - VD_MAGIC;
    const double r = (x - n * 0x1.62e42fefap-1) - n * 0x1.cf79abc9e3b3ap-40;
    double p = 0x1.9e887f2bffbd3p-16;
    p = p * r + 0x1.a18606ed92acep-13;
    p = p * r + 0x1.6c18d51749628p-10;
    p = p * r + 0x1.1110a1f9bab28p-7;
    p = p * r + 0x1.5555541ca36e2p-5;
    p = p * r + 0x1.5555557e0af0fp-3;
    p = p * r + 0x1.000000005e9bbp-1;
    p = r + r * r * p;
    const double scale = f64_from((f64_bits(shifted) - f64_bits(VD_MAGIC) + 1023) << 52);
    const double y = scale * p + (scale - 1.0);
    const double bounded = x < -700.0 ? -1.0 : y;
    return x > 700.0 ? INFINITY : bounded;
}

INLINE double vd_exp(double x)
{
    const double shifted = x * 1.44269504088896340736 + VD_MAGIC;
    const double n = shifted - VD_MAGIC;
    const double r = (x - n * 0x1.62e42fefap-1) - n * 0x1.cf79abc9e3b3ap-40;
    double p = 0x1.9e887f2bffbd3p-16;
    p = p * r + 0x1.a18606ed92acep-13;
    p = p * r + 0x1.6c18d51749628p-10;
    p = p * r + 0x1.1110a1f9bab28p-7;
    p = p * r + 0x1.5555541ca36e2p-5;
    p = p * r + 0x1.5555557e0af0fp-3;
    p = p * r + 0x1.000000005e9bbp-1;
    p = 1.0 + (r + r * r * p);
    const double y = p * f64_from((f64_bits(shifted) - f64_bits(VD_MAGIC) + 1023) << 52);
    const double bounded = x < -700.0 ? 0.0 : y;
    return x > 700.0 ? INFINITY : bounded;
}

/* For x > 0, finite and not subnormal; see vd_log for the rest. The exponent is turned into a
 * number through the mantissa of a large one: few machines convert vectors of 64-bit integers. */
INLINE double vd_log_positive(double x)
{
    const uint64_t bits = f64_bits(x) - UINT64_C(0x3fe6a09e667f3bcd);
    const uint64_t biased = (bits + (UINT64_C(2048) << 52)) >> 52;
    const double k = f64_from(biased | UINT64_C(0x4330000000000000)) - (0x1p52 + 2048.0);
    const double m = f64_from((bits & UINT64_C(0xfffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double p = 0x1.8c94e8a3e7d26p-3;
    p = p * z + 0x1.c67a55d8a1414p-3;
    p = p * z + 0x1.249325198906ap-2;
    p = p * z + 0x1.999998c92ea6dp-2;
    p = p * z + 0x1.55555555651f4p-1;
    return (2.0 * s + s * z * p) + k * VD_LN2;
}

INLINE double vd_log(double x)
{
    double y = vd_log_positive(x);
    y = x == 0.0 ? -INFINITY : y;
    y = x < 0.0 ? NAN : y;
    return x < INFINITY ? y : x;
}

/* What 1 + x loses by rounding comes back as a first-order term. */
INLINE double vd_log1p(double x)
{
    const double u = 1.0 + x;
    const double y = vd_log(u);
    return u > 0.0 && u < INFINITY ? y + (x - (u - 1.0)) / u : y;
}

INLINE double vd_atan(double x)
{
    const double a = vd_abs(x);
    const int far = a > 2.41421356237309504880;
    const int middle = a > 0.41421356237309504880;
    const double top = far ? -1.0 : middle ? a - 1.0 : a;
    const double bottom = far ? a : middle ? a + 1.0 : 1.0;
    const double base = far ? VD_PI / 2 : middle ? VD_PI / 4 : 0.0;
    const double u = top / bottom;
    const double z = u * u;
    double p = -0x1.4c0b20fe49c73p-5;
    p = p * z + 0x1.247993e462022p-4;
    p = p * z - 0x1.71de3fb09d348p-4;
    p = p * z + 0x1.c6f776ca437f4p-4;
    p = p * z - 0x1.2491c5600833fp-3;
    p = p * z + 0x1.99999837d8d2dp-3;
    p = p * z - 0x1.5555555507b30p-2;
    return vd_copysign(base + (u + u * (z * p)), x);
}

/* sin(x + quarter * pi / 2). */
INLINE double vd_sin_quarter(double x, uint64_t quarter)
{
    const double shifted = x * 0.63661977236758134308 + VD_MAGIC;
    const double n = shifted - VD_MAGIC;
    const double r = ((x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2ep-69;
    const uint64_t q = f64_bits(shifted) + quarter;
    const double z = r * r;
    double s = -0x1.aa2657b1467d0p-26;
    s = s * z + 0x1.71d9a5ae85d2ap-19;
    s = s * z - 0x1.a019fd95a5226p-13;
    s = s * z + 0x1.1111110fd1967p-7;
    s = s * z - 0x1.5555555555163p-3;
    s = r + r * (z * s);
    double c = 0x1.1c809b9216e89p-29;
    c = c * z - 0x1.27e25cd2d5311p-22;
    c = c * z + 0x1.a019ff506c58dp-16;
    c = c * z - 0x1.6c16c16b60021p-10;
    c = c * z + 0x1.5555555555434p-5;
    c = (1.0 - 0.5 * z) + z * z * c;
    const double y = (q & 1) ? c : s;
    return (q & 2) ? -y : y;
}

INLINE double vd_sin(double x)
{
    return vd_sin_quarter(x, 0);
}

INLINE double vd_cos(double x)
{
    return vd_sin_quarter(x, 1);
}

/* The standard normal distribution function; polynomial in (t - 3) / (t + 3) times exp(-t^2/2). */
INLINE double vd_normal(double x)
{
    const double a = vd_abs(x);
    const double t = a > 15.0 ? 15.0 : a;
    const double w = 1.0 / (t + 3.0);
    const double u = (t - 3.0) * w;
    double p = 0x1.c8df513a1d9cbp-15;
    p = p * u + 0x1.134c768fe0985p-13;
    p = p * u - 0x1.00a32f55f696ep-12;
    p = p * u - 0x1.0eac543c61927p-10;
    p = p * u + 0x1.0ca398e356fe6p-10;
    p = p * u + 0x1.c8bd869640ccfp-8;
    p = p * u - 0x1.56d5f77727643p-7;
    p = p * u - 0x1.832d0a3e02a12p-5;
    p = p * u + 0x1.d7138512045c0p-3;
    p = p * u - 0x1.04c729abcf6dep-1;
    p = p * u + 0x1.754a751c627cfp-1;
    const double upper = p * w * vd_exp(-0.5 * (a * a));
    return x < 0.0 ? upper : 1.0 - upper;
}

/* The logistic function. */
INLINE double vd_sigmoid(double x)
{
    const double e = vd_exp(-vd_abs(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

#endif
