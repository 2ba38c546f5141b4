/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one real number, each written so that no digit cancels. */
#define ONE_SQRT2PI R(0.39894228040143267794)
#define TWO_SQRTPI R(1.12837916709551257390)
#define SQRT2_PI R(0.79788456080286535588)
#define LN2 R(0.69314718055994530942)
#define LN10 R(2.30258509299404568402)

/*
 * f32 functions that loops over elements vectorise, for they have neither branches nor calls:
 * arguments are reduced as every textbook does, the polynomials are minimax fits, errors stay below
 * 2 ulp.
 */
#define ROUNDER 12582912.0f /* adding and taking it away again rounds to an integer */

/* y * 2^n in two steps, so that results may be subnormal or overflow. */
static float times_power(float y, int n)
{
    const int part = n >> 1;
    return y * as_float((uint)(part + 127) << 23) * as_float((uint)(n - part + 127) << 23);
}

/* exp(high + low) for a small correction. */
static float exp_sum(float high, float low)
{
    const float shifted = (high + low) * 1.44269504f + ROUNDER;
    const float n = shifted - ROUNDER;
    const float r = ((high - n * 0x1.62e4p-1f) - n * 0x1.7f7d1dp-20f) + low;
    float p = 0x1.6a1f62p-10f;
    p = p * r + 0x1.123ccap-7f;
    p = p * r + 0x1.555904p-5f;
    p = p * r + 0x1.55548ep-3f;
    p = p * r + 0x1.fffffcp-2f;
    p = r + r * r * p;
    const float y = times_power(1.0f + p, (int)(as_uint(shifted) - as_uint(ROUNDER)));
    const float bounded = high < -104.0f ? 0.0f : y;
    return high > 89.0f ? INFINITY : bounded;
}

/* erfc(t / sqrt(2)) / 2 * exp(t^2 / 2) for 0 <= t <= 14.6, a polynomial in (t - 3) / (t + 3). */
static float normal_tail(float t)
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

/* exp(-x^2 / 2). The square is taken in two parts: its rounding error would be magnified. */
static float bell_f32(float x)
{
    const float a = fabs(x), t = a > 14.6f ? 14.6f : a;
    const float head = as_float(as_uint(t) & 0xfffff000u);
    return exp_sum(-0.5f * (head * head), -0.5f * ((t - head) * (t + head)));
}

/* The part of a normal distribution that lies below x. */
static float below_f32(float x)
{
    const float a = fabs(x);
    const float upper = normal_tail(a > 14.6f ? 14.6f : a) * bell_f32(x);
    return x < 0.0f ? upper : 1.0f - upper;
}

static float exp_f32(float x)
{
    return exp_sum(x, 0.0f);
}

#ifdef HAVE_F64
static double bell_f64(double x)
{
    return exp(-0.5 * x * x);
}
static double below_f64(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}
static double exp_f64(double x)
{
    return exp(x);
}
#endif
#define BELL(x) SELECT(bell_, REAL)(x)
#define BELOW(x) SELECT(below_, REAL)(x)
#define EXP(x) SELECT(exp_, REAL)(x)

static real f_clip(real x, real low, real high)
{
    const real raised = low > x ? low : x;
    return high < raised ? high : raised;
}
static real f_sigmoid(real x)
{
    return R(1.0) / (R(1.0) + EXP(-x));
}
static real f_log1p_exp(real x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}
static real f_silu(real x)
{
    return x * f_sigmoid(x);
}
static real f_gelu(real x)
{
    return x * BELOW(x);
}
static real f_gelu_tanh_argument(real x)
{
    return R(2.0) * SQRT2_PI * (x + R(0.044715) * x * x * x);
}
static real f_gelu_tanh(real x)
{
    return x * f_sigmoid(f_gelu_tanh_argument(x));
}

/* What may follow a product: ACTIVATE(v) where a build defines ACTIVATION. */
#define ACTIVATION_NONE(x) (x)
#define ACTIVATION_RELU(x) ((x) < 0 ? 0 : (x))
#define ACTIVATION_GELU(x) f_gelu(x)
#define ACTIVATION_GELU_TANH(x) f_gelu_tanh(x)
#define ACTIVATION_SIGMOID(x) f_sigmoid(x)
#define ACTIVATION_TANH(x) tanh(x)
#define ACTIVATION_SILU(x) f_silu(x)
#define ACTIVATE(x) JOIN(ACTIVATION_, ACTIVATION)(x)
