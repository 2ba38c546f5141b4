/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNARY_BACKWARD on dense operands: g is the gradient of the output, v the saved operand, which is
 * the input or the output as AXLE_UNARY_LIST says.
 */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"
#include "../vecmath.h"
#include "../vecmath64.h"

#define D(v) ((double)(v))
#define DF(v) (float)(v)

INLINE float gelu_tanh_slope(float v)
{
    const float u = 0.797884561f * (v + 0.044715f * v * v * v);
    const float t = vm_tanh(u);
    const float du = 0.797884561f * (1.0f + 0.134145f * v * v);
    const float bend = 0.5f * v * (1.0f - t * t) * du;
    return 0.5f * (1.0f + t) + (vm_abs(v) < 100.0f ? bend : v - v);
}

INLINE float silu_slope(float v)
{
    const float s = vm_sigmoid(v);
    return s * (1.0f + v * (1.0f - s));
}

/* With w = exp(x): tanh(log(1 + w)) = t, its slope (1 - t^2) * w / (1 + w). */
INLINE float mish_slope(float v)
{
    const double w = vd_exp(v > 40.0f ? 40.0 : D(v));
    const double t = w * (w + 2.0) / (w * (w + 2.0) + 2.0);
    return (float)(t + D(v) * (1.0 - t * t) * (w / (1.0 + w)));
}

INLINE float softplus_slope(float v, float a, float b)
{
    return a * v > b ? 1.0f : vm_sigmoid(a * v);
}

#define F32_SLOPES(X)                                                                              \
    X(NEG, -g)                                                                                     \
    X(ABS, v > 0.0f ? g : v < 0.0f ? -g : 0.0f * g)                                                \
    X(SQUARE, 2.0f * v * g)                                                                        \
    X(SQRT, g / (2.0f * v))                                                                        \
    X(RSQRT, -0.5f * g * (v * v * v))                                                              \
    X(RECIPROCAL, -g *(v * v))                                                                     \
    X(EXP, g *v)                                                                                   \
    X(EXPM1, g *(v + 1.0f))                                                                        \
    X(LOG, g / v)                                                                                  \
    X(LOG1P, g / (1.0f + v))                                                                       \
    X(LOG2, g / (v * 0.693147181f))                                                                \
    X(LOG10, g / (v * 2.30258509f))                                                                \
    X(TAN, g *(1.0f + v * v))                                                                      \
    X(ASIN, g / sqrtf((1.0f - v) * (1.0f + v)))                                                    \
    X(ACOS, -g / sqrtf((1.0f - v) * (1.0f + v)))                                                   \
    X(ATAN, g / (1.0f + v * v))                                                                    \
    X(SINH, DF(D(g) * (0.5 * (vd_exp(vd_abs(D(v))) + vd_exp(-vd_abs(D(v)))))))                     \
    X(COSH, DF(D(g) * (0.5 * (vd_expm1(D(v)) - vd_expm1(-D(v))))))                                 \
    X(TANH, g *(1.0f - v * v))                                                                     \
    X(ERF, g * 1.12837917f * vm_bell(v * 1.41421356f))                                             \
    X(SIGMOID, g *(v * (1.0f - v)))                                                                \
    X(LOG_SIGMOID, g *vm_sigmoid(-v))                                                              \
    X(RELU, v > 0.0f ? g : 0.0f)                                                                   \
    X(LEAKY_RELU, v > 0.0f ? g : a * g)                                                            \
    X(ELU, v > 0.0f ? g : g * (a * vm_exp(v)))                                                     \
    X(GELU, g *vm_gelu_slope(v))                                                                   \
    X(GELU_TANH, g *gelu_tanh_slope(v))                                                            \
    X(SILU, g *silu_slope(v))                                                                      \
    X(MISH, g *mish_slope(v))                                                                      \
    X(SOFTPLUS, g *softplus_slope(v, a, b))                                                        \
    X(HARD_SIGMOID, v > -3.0f && v < 3.0f ? g / 6.0f : 0.0f)                                       \
    X(HARD_SWISH, v <= -3.0f ? 0.0f : v < 3.0f ? g * (v / 3.0f + 0.5f) : g)                        \
    X(CLIP, v >= a && v <= b ? g : 0.0f)                                                           \
    X(AFFINE, a *g)

#define F64_SLOPES(X)                                                                              \
    X(NEG, -g)                                                                                     \
    X(ABS, v > 0.0 ? g : v < 0.0 ? -g : 0.0 * g)                                                   \
    X(SQUARE, 2.0 * v * g)                                                                         \
    X(SQRT, g / (2.0 * v))                                                                         \
    X(RSQRT, -0.5 * g * (v * v * v))                                                               \
    X(RECIPROCAL, -g *(v * v))                                                                     \
    X(EXP, g *v)                                                                                   \
    X(EXPM1, g *(v + 1.0))                                                                         \
    X(LOG, g / v)                                                                                  \
    X(LOG1P, g / (1.0 + v))                                                                        \
    X(LOG2, g / (v * 0.69314718055994530942))                                                      \
    X(LOG10, g / (v * 2.30258509299404568402))                                                     \
    X(SIN, g *cos(v))                                                                              \
    X(COS, -g *sin(v))                                                                             \
    X(TAN, g *(1.0 + v * v))                                                                       \
    X(ASIN, g / sqrt((1.0 - v) * (1.0 + v)))                                                       \
    X(ACOS, -g / sqrt((1.0 - v) * (1.0 + v)))                                                      \
    X(ATAN, g / (1.0 + v * v))                                                                     \
    X(SINH, g *cosh(v))                                                                            \
    X(COSH, g *sinh(v))                                                                            \
    X(TANH, g *(1.0 - v * v))                                                                      \
    X(ERF, g * 1.12837916709551257390 * exp(-v * v))                                               \
    X(SIGMOID, g *(v * (1.0 - v)))                                                                 \
    X(LOG_SIGMOID, g / (1.0 + exp(v)))                                                             \
    X(RELU, v > 0.0 ? g : 0.0)                                                                     \
    X(LEAKY_RELU, v > 0.0 ? g : a * g)                                                             \
    X(ELU, v > 0.0 ? g : g * (a * exp(v)))                                                         \
    X(GELU, g *(0.5 * erfc(v * -0.70710678118654752440) +                                          \
                v * 0.39894228040143267794 * exp(-0.5 * v * v)))                                   \
    X(GELU_TANH, g *gelu_tanh_slope64(v))                                                          \
    X(SILU, g *silu_slope64(v))                                                                    \
    X(MISH, g *mish_slope64(v))                                                                    \
    X(SOFTPLUS, a *v > b ? g : g / (1.0 + exp(-a * v)))                                            \
    X(HARD_SIGMOID, v > -3.0 && v < 3.0 ? g / 6.0 : 0.0)                                           \
    X(HARD_SWISH, v <= -3.0 ? 0.0 : v < 3.0 ? g * (v / 3.0 + 0.5) : g)                             \
    X(CLIP, v >= a && v <= b ? g : 0.0)                                                            \
    X(AFFINE, a *g)                                                                                \
    X(POW_SCALAR, a == 0.0 ? 0.0 : g * a * pow(v, a - 1.0))

INLINE double gelu_tanh_slope64(double v)
{
    const double t = tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v));
    const double du = 0.79788456080286535588 * (1.0 + 0.134145 * v * v);
    return 0.5 * (1.0 + t) + 0.5 * v * (1.0 - t * t) * du;
}

INLINE double silu_slope64(double v)
{
    const double s = 1.0 / (1.0 + exp(-v));
    return s * (1.0 + v * (1.0 - s));
}

INLINE double mish_slope64(double v)
{
    const double t = tanh(v > 0.0 ? v + log1p(exp(-v)) : log1p(exp(v)));
    return t + v * (1.0 - t * t) / (1.0 + exp(-v));
}

#define DEFINE_SLOPE(domain, type, NAME, expression)                                               \
    static void domain##_##NAME(const void *const *in, void *out, int64_t n, const elem_params *p) \
    {                                                                                              \
        const type *dy = in[0], *saved = in[1] ? in[1] : in[0];                                    \
        type *dx = out;                                                                            \
        const type a = (type)p->alpha, b = (type)p->beta;                                          \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        SIMD for (int64_t i = 0; i < n; i++)                                                       \
        {                                                                                          \
            const type g = dy[i], v = saved[i];                                                    \
            (void)v;                                                                               \
            dx[i] = (type)(expression);                                                            \
        }                                                                                          \
    }
#define DEFINE_F32(NAME, e) DEFINE_SLOPE(f32, float, NAME, e)
#define DEFINE_F64(NAME, e) DEFINE_SLOPE(f64, double, NAME, e)
F32_SLOPES(DEFINE_F32)
F64_SLOPES(DEFINE_F64)

/* The C library takes over where its reduction of large arguments is needed. */
#define DEFINE_TRIGONOMETRIC(NAME, fast, slow)                                                     \
    static void f32_##NAME(const void *const *in, void *out, int64_t n, const elem_params *p)      \
    {                                                                                              \
        const float *dy = in[0], *x = in[1];                                                       \
        float *dx = out;                                                                           \
        (void)p;                                                                                   \
        if (vm_largest_bits(x, n, 0) > f32_bits(VD_TRIGONOMETRIC_LIMIT)) {                         \
            for (int64_t i = 0; i < n; i++)                                                        \
                dx[i] = dy[i] * (slow);                                                            \
            return;                                                                                \
        }                                                                                          \
        SIMD for (int64_t i = 0; i < n; i++) dx[i] = dy[i] * (float)(fast);                        \
    }
DEFINE_TRIGONOMETRIC(SIN, vd_cos(D(x[i])), cosf(x[i]))
DEFINE_TRIGONOMETRIC(COS, -vd_sin(D(x[i])), -sinf(x[i]))

/* a * x^(a - 1); whole exponents that occur in practice need no call. */
static void f32_POW_SCALAR(const void *const *in, void *out, int64_t n, const elem_params *p)
{
    const float *dy = in[0], *x = in[1];
    float *dx = out;
    const double a = p->alpha;
    const float fa = (float)a;
    if (a == 2.0) {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] = dy[i] * (2.0f * x[i]);
    } else if (a == 3.0) {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] = dy[i] * (3.0f * x[i] * x[i]);
    } else if (a == 0.5) {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] =
            dy[i] * (x[i] == -INFINITY ? 0.0f : 0.5f / sqrtf(x[i]));
    } else {
        for (int64_t i = 0; i < n; i++)
            dx[i] = a == 0.0 ? 0.0f : dy[i] * (fa * (float)pow(D(x[i]), a - 1.0));
    }
}

#define F32_ENTRY(NAME, e) [AXLE_UNARY_##NAME] = f32_##NAME,
#define F64_ENTRY(NAME, e) [AXLE_UNARY_##NAME] = f64_##NAME,

const struct backward_loops LOOP(cpu_backward_loops) = {
    .unary =
        {
            [DOMAIN_F32] = {F32_SLOPES(F32_ENTRY) F32_ENTRY(SIN, ) F32_ENTRY(COS, )
                                F32_ENTRY(POW_SCALAR, )},
            [DOMAIN_F64] = {F64_SLOPES(F64_ENTRY)},
        },
};
#endif
LOOP_END;
