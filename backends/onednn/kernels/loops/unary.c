/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNARY on dense operands. An operator is one line: its kind and an expression in v, the element,
 * and a, b, the attributes. Formulas that look longer than needed pass NaN on.
 */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"
#include "../vecmath.h"
#include "../vecmath64.h"

#define D(v) ((double)(v))

INLINE float relu32(float v)
{
    return v <= 0.0f ? 0.0f : v;
}

INLINE float clip32(float v, float a, float b)
{
    const float low = v < a ? a : v;
    return low > b ? b : low;
}

/* log(1 + exp(v)), from the side where exp stays small. */
INLINE double log_one_plus_exp(double v)
{
    return (v > 0 ? v : 0) + vd_log1p(vd_exp(-vd_abs(v)));
}

INLINE float softplus32(float v, double a, float b)
{
    const double t = a * D(v);
    return t > D(b) ? v : (float)(log_one_plus_exp(v != v ? D(v) : t) / a);
}

/* x * tanh(log(1 + w)) with w = exp(x) is a ratio of polynomials in w. */
INLINE float mish32(float v)
{
    const double w = vd_exp(v > 40.0f ? 40.0 : D(v));
    const double top = w * (w + 2.0);
    return (float)(D(v) * (top / (top + 2.0)));
}

/* x * sigmoid(2u) is 0.5 * x * (1 + tanh(u)) without its cancellation. */
INLINE float gelu_tanh32(float v)
{
    const double x = D(v);
    return (float)(x * vd_sigmoid(1.59576912160573071176 * (x + 0.044715 * x * x * x)));
}

INLINE float sinh32(float v)
{
    const double a = vd_abs(D(v));
    const double e = vd_expm1(a > 200.0 ? 200.0 : a);
    return (float)vd_copysign(0.5 * (e + e / (e + 1.0)), D(v));
}

INLINE float cosh32(float v)
{
    const double e = vd_exp(vd_abs(D(v)));
    return (float)(0.5 * (e + 1.0 / e));
}

INLINE float log_sigmoid32(float v)
{
    return (float)((v < 0.0f ? D(v) : v != v ? D(v) : 0.0) - vd_log1p(vd_exp(-vd_abs(D(v)))));
}

#define F32_UNARY(X)                                                                               \
    X(NEG, -v)                                                                                     \
    X(ABS, vm_abs(v))                                                                              \
    X(SIGN, (float)((v > 0.0f) - (v < 0.0f)))                                                      \
    X(SQUARE, v *v)                                                                                \
    X(SQRT, sqrtf(v))                                                                              \
    X(RSQRT, 1.0f / sqrtf(v))                                                                      \
    X(RECIPROCAL, 1.0f / v)                                                                        \
    X(EXP, vm_exp(v))                                                                              \
    X(EXPM1, (float)vd_expm1(D(v)))                                                                \
    X(LOG, vm_log(v))                                                                              \
    X(LOG1P, (float)vd_log1p(D(v)))                                                                \
    X(LOG2, (float)(vd_log(D(v)) * 1.44269504088896340736))                                        \
    X(LOG10, (float)(vd_log(D(v)) * 0.43429448190325182765))                                       \
    X(ASIN, (float)vd_atan(D(v) / sqrt((1.0 - D(v)) * (1.0 + D(v)))))                              \
    X(ACOS, (float)(2.0 * vd_atan(sqrt((1.0 - D(v)) / (1.0 + D(v))))))                             \
    X(ATAN, (float)vd_atan(D(v)))                                                                  \
    X(SINH, sinh32(v))                                                                             \
    X(COSH, cosh32(v))                                                                             \
    X(TANH, vm_tanh(v))                                                                            \
    X(ERF, vm_erf(v))                                                                              \
    X(SIGMOID, vm_sigmoid(v))                                                                      \
    X(LOG_SIGMOID, log_sigmoid32(v))                                                               \
    X(RELU, relu32(v))                                                                             \
    X(LEAKY_RELU, v > 0.0f ? v : a * v)                                                            \
    X(ELU, v > 0.0f ? v : (float)(p->alpha * vd_expm1(D(v))))                                      \
    X(GELU, (float)(D(v) * vd_normal(D(v))))                                                       \
    X(GELU_TANH, gelu_tanh32(v))                                                                   \
    X(SILU, (float)(D(v) * vd_sigmoid(D(v))))                                                      \
    X(MISH, mish32(v))                                                                             \
    X(SOFTPLUS, softplus32(v, p->alpha, b))                                                        \
    X(HARD_SIGMOID, clip32(v + 3.0f, 0.0f, 6.0f) / 6.0f)                                           \
    X(HARD_SWISH, v *clip32(v + 3.0f, 0.0f, 6.0f) / 6.0f)                                          \
    X(CLIP, clip32(v, a, b))                                                                       \
    X(AFFINE, a *v + b)                                                                            \
    X(FLOOR, floorf(v))                                                                            \
    X(CEIL, ceilf(v))                                                                              \
    X(ROUND, rintf(v))                                                                             \
    X(TRUNC, truncf(v))

#define F64_UNARY(X)                                                                               \
    X(NEG, -v)                                                                                     \
    X(ABS, fabs(v))                                                                                \
    X(SIGN, (double)((v > 0.0) - (v < 0.0)))                                                       \
    X(SQUARE, v *v)                                                                                \
    X(SQRT, sqrt(v))                                                                               \
    X(RSQRT, 1.0 / sqrt(v))                                                                        \
    X(RECIPROCAL, 1.0 / v)                                                                         \
    X(EXP, exp(v))                                                                                 \
    X(EXPM1, expm1(v))                                                                             \
    X(LOG, log(v))                                                                                 \
    X(LOG1P, log1p(v))                                                                             \
    X(LOG2, log2(v))                                                                               \
    X(LOG10, log10(v))                                                                             \
    X(SIN, sin(v))                                                                                 \
    X(COS, cos(v))                                                                                 \
    X(TAN, tan(v))                                                                                 \
    X(ASIN, asin(v))                                                                               \
    X(ACOS, acos(v))                                                                               \
    X(ATAN, atan(v))                                                                               \
    X(SINH, sinh(v))                                                                               \
    X(COSH, cosh(v))                                                                               \
    X(TANH, tanh(v))                                                                               \
    X(ERF, erf(v))                                                                                 \
    X(SIGMOID, v < 0.0 ? exp(v) / (1.0 + exp(v)) : 1.0 / (1.0 + exp(-v)))                          \
    X(LOG_SIGMOID, (v < 0.0 ? v : 0.0) - log1p(exp(-fabs(v))))                                     \
    X(RELU, v <= 0.0 ? 0.0 : v)                                                                    \
    X(LEAKY_RELU, v > 0.0 ? v : a * v)                                                             \
    X(ELU, v > 0.0 ? v : a * expm1(v))                                                             \
    X(GELU, v * 0.5 * erfc(v * -0.70710678118654752440))                                           \
    X(GELU_TANH, 0.5 * v * (1.0 + tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v))))      \
    X(SILU, v / (1.0 + exp(-v)))                                                                   \
    X(MISH, v *tanh(v > 0.0 ? v + log1p(exp(-v)) : log1p(exp(v))))                                 \
    X(SOFTPLUS, a *v > b ? v : log1p(exp(a * v)) / a)                                              \
    X(HARD_SIGMOID, (v < -3.0 ? 0.0 : v > 3.0 ? 6.0 : v + 3.0) / 6.0)                              \
    X(HARD_SWISH, v *(v < -3.0 ? 0.0 : v > 3.0 ? 6.0 : v + 3.0) / 6.0)                             \
    X(CLIP, (v < a ? a : v) > b ? b : (v < a ? a : v))                                             \
    X(AFFINE, a *v + b)                                                                            \
    X(POW_SCALAR, pow(v, a))                                                                       \
    X(FLOOR, floor(v))                                                                             \
    X(CEIL, ceil(v))                                                                               \
    X(ROUND, rint(v))                                                                              \
    X(TRUNC, trunc(v))

/* Integers wrap, as unsigned arithmetic does. */
#define WRAP(expression) ((int64_t)(expression))
#define U(v) ((uint64_t)(v))
#define I64_UNARY(X)                                                                               \
    X(NEG, WRAP(0 - U(v)))                                                                         \
    X(ABS, v < 0 ? WRAP(0 - U(v)) : v)                                                             \
    X(SIGN, (v > 0) - (v < 0))                                                                     \
    X(SQUARE, WRAP(U(v) * U(v)))                                                                   \
    X(RELU, v < 0 ? 0 : v)                                                                         \
    X(CLIP, (v < a ? a : v) > b ? b : (v < a ? a : v))                                             \
    X(AFFINE, WRAP(U(a) * U(v) + U(b)))                                                            \
    X(FLOOR, v)                                                                                    \
    X(CEIL, v)                                                                                     \
    X(ROUND, v)                                                                                    \
    X(TRUNC, v)

#define F32_TEST(X)                                                                                \
    X(LOGICAL_NOT, v == 0.0f)                                                                      \
    X(IS_NAN, v != v)                                                                              \
    X(IS_INF, vm_abs(v) == INFINITY)                                                               \
    X(IS_FINITE, vm_abs(v) < INFINITY)

#define F64_TEST(X)                                                                                \
    X(LOGICAL_NOT, v == 0.0)                                                                       \
    X(IS_NAN, v != v)                                                                              \
    X(IS_INF, vd_abs(v) == INFINITY)                                                               \
    X(IS_FINITE, vd_abs(v) < INFINITY)

#define I64_TEST(X)                                                                                \
    X(LOGICAL_NOT, v == 0)                                                                         \
    X(IS_NAN, (v & 0) != 0)                                                                        \
    X(IS_INF, (v & 0) != 0)                                                                        \
    X(IS_FINITE, (v & 0) == 0)

#define DEFINE_LOOP(domain, in_type, out_type, A, B, NAME, expression)                             \
    static void domain##_##NAME(const void *const *in, void *out, int64_t n, const elem_params *p) \
    {                                                                                              \
        const in_type *x = in[0];                                                                  \
        out_type *y = out;                                                                         \
        const in_type a = (in_type)A, b = (in_type)B;                                              \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        SIMD for (int64_t i = 0; i < n; i++)                                                       \
        {                                                                                          \
            const in_type v = x[i];                                                                \
            y[i] = (out_type)(expression);                                                         \
        }                                                                                          \
    }
#define DEFINE_F32(NAME, e) DEFINE_LOOP(f32, float, float, p->alpha, p->beta, NAME, e)
#define DEFINE_F64(NAME, e) DEFINE_LOOP(f64, double, double, p->alpha, p->beta, NAME, e)
#define DEFINE_I64(NAME, e) DEFINE_LOOP(i64, int64_t, int64_t, p->ialpha, p->ibeta, NAME, e)
#define DEFINE_F32_TEST(NAME, e) DEFINE_LOOP(f32, float, uint8_t, p->alpha, p->beta, NAME, e)
#define DEFINE_F64_TEST(NAME, e) DEFINE_LOOP(f64, double, uint8_t, p->alpha, p->beta, NAME, e)
#define DEFINE_I64_TEST(NAME, e) DEFINE_LOOP(i64, int64_t, uint8_t, p->ialpha, p->ibeta, NAME, e)
F32_UNARY(DEFINE_F32)
F64_UNARY(DEFINE_F64)
I64_UNARY(DEFINE_I64)
F32_TEST(DEFINE_F32_TEST)
F64_TEST(DEFINE_F64_TEST)
I64_TEST(DEFINE_I64_TEST)

/*
 * Sine and its kin reduce their argument in f64, which is enough up to a limit; a block that holds
 * a larger one goes through the C library.
 */
enum { BLOCK = 256 };

#define DEFINE_TRIGONOMETRIC(NAME, fast, slow)                                                     \
    static void f32_##NAME(const void *const *in, void *out, int64_t n, const elem_params *p)      \
    {                                                                                              \
        (void)p;                                                                                   \
        for (int64_t start = 0; start < n; start += BLOCK) {                                       \
            const float *x = (const float *)in[0] + start;                                         \
            float *y = (float *)out + start;                                                       \
            const int64_t count = n - start < BLOCK ? n - start : BLOCK;                           \
            if (vm_largest_bits(x, count, 0) > f32_bits(VD_TRIGONOMETRIC_LIMIT)) {                 \
                for (int64_t i = 0; i < count; i++)                                                \
                    y[i] = slow(x[i]);                                                             \
                continue;                                                                          \
            }                                                                                      \
            SIMD for (int64_t i = 0; i < count; i++) y[i] = (float)(fast);                         \
        }                                                                                          \
    }
DEFINE_TRIGONOMETRIC(SIN, vd_sin(D(x[i])), sinf)
DEFINE_TRIGONOMETRIC(COS, vd_cos(D(x[i])), cosf)
DEFINE_TRIGONOMETRIC(TAN, vd_sin(D(x[i])) / vd_cos(D(x[i])), tanf)

/* |x|^a = exp(a * log|x|) in f64; elements that are zero or not finite go through the C library. */
static void f32_POW_SCALAR(const void *const *in, void *out, int64_t n, const elem_params *p)
{
    const double a = p->alpha;
    const int whole = a == rint(a);
    const int odd = whole && fmod(a, 2.0) != 0.0;
    const double negative = odd ? -1.0 : whole ? 1.0 : (double)NAN;
    for (int64_t start = 0; start < n; start += BLOCK) {
        const float *x = (const float *)in[0] + start;
        float *y = (float *)out + start;
        const int64_t count = n - start < BLOCK ? n - start : BLOCK;
        if (!(fabs(a) < 1e30) || vm_largest_bits(x, count, 1) >= f32_bits(INFINITY) - 1) {
            for (int64_t i = 0; i < count; i++)
                y[i] = (float)pow(D(x[i]), a);
            continue;
        }
        SIMD for (int64_t i = 0; i < count; i++)
        {
            const double power = vd_exp(a * vd_log_positive(vd_abs(D(x[i]))));
            y[i] = (float)(x[i] < 0.0f ? power * negative : power);
        }
    }
}

#define F32_ENTRY(NAME, e) [AXLE_UNARY_##NAME] = f32_##NAME,
#define F64_ENTRY(NAME, e) [AXLE_UNARY_##NAME] = f64_##NAME,
#define I64_ENTRY(NAME, e) [AXLE_UNARY_##NAME] = i64_##NAME,

const struct unary_loops LOOP(cpu_unary_loops) = {
    .forward =
        {
            [DOMAIN_F32] = {F32_UNARY(F32_ENTRY) F32_TEST(F32_ENTRY) F32_ENTRY(SIN, )
                                F32_ENTRY(COS, ) F32_ENTRY(TAN, ) F32_ENTRY(POW_SCALAR, )},
            [DOMAIN_F64] = {F64_UNARY(F64_ENTRY) F64_TEST(F64_ENTRY)},
            [DOMAIN_I64] = {I64_UNARY(I64_ENTRY) I64_TEST(I64_ENTRY)},
        },
};
#endif
LOOP_END;
