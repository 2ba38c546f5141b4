/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one f64 that several kernels need, each written so that no digit cancels. */
#ifndef AXLE_REFERENCE_ACTIVATION_H
#define AXLE_REFERENCE_ACTIVATION_H

#include <math.h>
#include <stdint.h>

/* sqrt(1/2), 1/sqrt(2 pi), 2/sqrt(pi), sqrt(2/pi), log 2, log 10; C11 has no constants for them. */
#define REF_SQRT1_2 0.70710678118654752440
#define REF_1_SQRT2PI 0.39894228040143267794
#define REF_2_SQRTPI 1.12837916709551257390
#define REF_SQRT2_PI 0.79788456080286535588
#define REF_LN2 0.69314718055994530942
#define REF_LN10 2.30258509299404568402

/* min(max(x, low), high); NaN stays NaN. Processors have this way of asking as one instruction. */
static inline float ref_clip_f32(float x, float low, float high)
{
    const float raised = low > x ? low : x;
    return high < raised ? high : raised;
}
static inline double ref_clip_f64(double x, double low, double high)
{
    const double raised = low > x ? low : x;
    return high < raised ? high : raised;
}
#define ref_clip(x, low, high)                                                                     \
    _Generic((x), float : ref_clip_f32, double : ref_clip_f64)(x, low, high)

/* x or 0, by a mask: a choice would be a jump, which random signs mispredict half of the time. */
static inline float ref_keep_f32(float x, int keep)
{
    union {
        float f;
        uint32_t bits;
    } v = {x};
    v.bits &= -(uint32_t)(keep != 0);
    return v.f;
}
static inline double ref_keep_f64(double x, int keep)
{
    union {
        double f;
        uint64_t bits;
    } v = {x};
    v.bits &= -(uint64_t)(keep != 0);
    return v.f;
}
#define ref_keep(x, keep) _Generic((x), float : ref_keep_f32, double : ref_keep_f64)(x, keep)

static inline int64_t ref_clip_integer(int64_t x, int64_t low, int64_t high)
{
    const int64_t raised = x < low ? low : x;
    return raised > high ? high : raised;
}

/* Where exp overflows, the result is 0, as it should be but for subnormal numbers. */
static inline double ref_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* log(1 + exp(x)) */
static inline double ref_log1p_exp(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static inline double ref_silu(double x)
{
    return x * ref_sigmoid(x);
}

/* x times the normal distribution function. */
static inline double ref_gelu(double x)
{
    return 0.5 * x * erfc(-x * REF_SQRT1_2);
}

/* 0.5 * (1 + tanh(u)) is sigmoid(2u); this is 2u. */
static inline double ref_gelu_tanh_argument(double x)
{
    return 2 * REF_SQRT2_PI * (x + 0.044715 * x * x * x);
}

static inline double ref_gelu_tanh(double x)
{
    return x * ref_sigmoid(ref_gelu_tanh_argument(x));
}

#endif
