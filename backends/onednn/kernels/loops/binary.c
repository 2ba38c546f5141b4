/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BINARY on dense operands. An operator is one line: its kind and an expression in a and b, the
 * elements, and t, the attribute alpha.
 */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"
#include "../vecmath.h"
#include "../vecmath64.h"

#define D(v) ((double)(v))

/* A comparison with NaN is false, so asking for the other operand passes NaN on from both sides. */
#define LARGER(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))

INLINE float bce32(float a, float b)
{
    const double e = vd_log1p(vd_exp(-vd_abs(D(a))));
    return (float)((a > 0.0f ? D(a) : 0.0) - D(a) * D(b) + e);
}

/* Python's: the result has the sign of the divisor. */
INLINE double modulo(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}

#define COMPARISONS(X)                                                                             \
    X(EQ, a == b)                                                                                  \
    X(NE, a != b)                                                                                  \
    X(LT, a < b)                                                                                   \
    X(LE, a <= b)                                                                                  \
    X(GT, a > b)                                                                                   \
    X(GE, a >= b)                                                                                  \
    X(LOGICAL_AND, (a != 0) & (b != 0))                                                            \
    X(LOGICAL_OR, (a != 0) | (b != 0))                                                             \
    X(LOGICAL_XOR, (a != 0) ^ (b != 0))

#define F32_BINARY(X)                                                                              \
    X(ADD, a + t * b)                                                                              \
    X(SUB, a - b)                                                                                  \
    X(MUL, a *b)                                                                                   \
    X(DIV, a / b)                                                                                  \
    X(MAXIMUM, LARGER(a, b))                                                                       \
    X(MINIMUM, SMALLER(a, b))                                                                      \
    X(REMAINDER, (float)modulo(D(a), D(b)))                                                        \
    X(FMOD, fmodf(a, b))                                                                           \
    X(BCE_WITH_LOGITS, bce32(a, b))

#define F64_BINARY(X)                                                                              \
    X(ADD, a + t * b)                                                                              \
    X(SUB, a - b)                                                                                  \
    X(MUL, a *b)                                                                                   \
    X(DIV, a / b)                                                                                  \
    X(POW, pow(a, b))                                                                              \
    X(MAXIMUM, LARGER(a, b))                                                                       \
    X(MINIMUM, SMALLER(a, b))                                                                      \
    X(ATAN2, atan2(a, b))                                                                          \
    X(REMAINDER, modulo(a, b))                                                                     \
    X(FMOD, fmod(a, b))                                                                            \
    X(BCE_WITH_LOGITS, (a > 0.0 ? a : 0.0) - a * b + log1p(exp(-fabs(a))))

/* Integers wrap, as unsigned arithmetic does; the least integer divided by -1 does, too. */
#define WRAP(expression) ((int64_t)(expression))
#define U(v) ((uint64_t)(v))

INLINE int64_t divide_floor(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return WRAP(0 - U(a));
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

INLINE int64_t integer_fmod(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

INLINE int64_t integer_modulo(int64_t a, int64_t b)
{
    const int64_t r = integer_fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

INLINE int64_t integer_pow(int64_t a, int64_t b)
{
    uint64_t result = b < 0 ? 0 : 1, power = U(a);
    for (; b > 0; b >>= 1, power *= power)
        result *= b & 1 ? power : 1;
    return WRAP(result);
}

#define I64_BINARY(X)                                                                              \
    X(ADD, WRAP(U(a) + U(t) * U(b)))                                                               \
    X(SUB, WRAP(U(a) - U(b)))                                                                      \
    X(MUL, WRAP(U(a) * U(b)))                                                                      \
    X(DIV, divide_floor(a, b))                                                                     \
    X(POW, integer_pow(a, b))                                                                      \
    X(MAXIMUM, a > b ? a : b)                                                                      \
    X(MINIMUM, a < b ? a : b)                                                                      \
    X(REMAINDER, integer_modulo(a, b))                                                             \
    X(FMOD, integer_fmod(a, b))

#define DEFINE_LOOP(domain, type, out_type, T, NAME, expression)                                   \
    static void domain##_##NAME(const void *const *in, void *out, int64_t n, const elem_params *p) \
    {                                                                                              \
        const type *left = in[0], *right = in[1];                                                  \
        out_type *y = out;                                                                         \
        const type t = (type)T;                                                                    \
        (void)t;                                                                                   \
        SIMD for (int64_t i = 0; i < n; i++)                                                       \
        {                                                                                          \
            const type a = left[i], b = right[i];                                                  \
            y[i] = (out_type)(expression);                                                         \
        }                                                                                          \
    }
#define DEFINE_F32(NAME, e) DEFINE_LOOP(f32, float, float, p->alpha, NAME, e)
#define DEFINE_F64(NAME, e) DEFINE_LOOP(f64, double, double, p->alpha, NAME, e)
#define DEFINE_I64(NAME, e) DEFINE_LOOP(i64, int64_t, int64_t, p->ialpha, NAME, e)
#define DEFINE_F32_TEST(NAME, e) DEFINE_LOOP(f32, float, uint8_t, p->alpha, NAME, e)
#define DEFINE_F64_TEST(NAME, e) DEFINE_LOOP(f64, double, uint8_t, p->alpha, NAME, e)
#define DEFINE_I64_TEST(NAME, e) DEFINE_LOOP(i64, int64_t, uint8_t, p->ialpha, NAME, e)
F32_BINARY(DEFINE_F32)
F64_BINARY(DEFINE_F64)
I64_BINARY(DEFINE_I64)
COMPARISONS(DEFINE_F32_TEST)
COMPARISONS(DEFINE_F64_TEST)
COMPARISONS(DEFINE_I64_TEST)

/*
 * Power and angle have more special cases than arithmetic. Blocks are computed for ordinary
 * operands first; elements that are zero, infinite, NaN or out of the domain are then redone by the
 * C library.
 */
enum { BLOCK = 256 };

static void f32_POW(const void *const *in, void *out, int64_t n, const elem_params *p)
{
    (void)p;
    for (int64_t start = 0; start < n; start += BLOCK) {
        const float *a = (const float *)in[0] + start, *b = (const float *)in[1] + start;
        const int64_t count = n - start < BLOCK ? n - start : BLOCK;
        float y[BLOCK];
        SIMD for (int64_t i = 0; i < count; i++) y[i] =
            (float)vd_exp(D(b[i]) * vd_log_positive(D(a[i])));
        for (int64_t i = 0; i < count; i++)
            if (!(a[i] > 0.0f) || !(a[i] < INFINITY) || !(vm_abs(b[i]) < INFINITY))
                y[i] = (float)pow(D(a[i]), D(b[i]));
        memcpy((float *)out + start, y, (size_t)count * sizeof(float));
    }
}

static void f32_ATAN2(const void *const *in, void *out, int64_t n, const elem_params *p)
{
    (void)p;
    for (int64_t start = 0; start < n; start += BLOCK) {
        const float *a = (const float *)in[0] + start, *b = (const float *)in[1] + start;
        const int64_t count = n - start < BLOCK ? n - start : BLOCK;
        float y[BLOCK];
        SIMD for (int64_t i = 0; i < count; i++)
        {
            const double angle = vd_atan(D(a[i]) / D(b[i]));
            const double turn = b[i] < 0.0f ? vd_copysign(VD_PI, D(a[i])) : 0.0;
            y[i] = (float)(angle + turn);
        }
        for (int64_t i = 0; i < count; i++)
            if (a[i] == 0.0f || b[i] == 0.0f || !(vm_abs(a[i]) + vm_abs(b[i]) < INFINITY))
                y[i] = atan2f(a[i], b[i]);
        memcpy((float *)out + start, y, (size_t)count * sizeof(float));
    }
}

#define F32_ENTRY(NAME, e) [AXLE_BINARY_##NAME] = f32_##NAME,
#define F64_ENTRY(NAME, e) [AXLE_BINARY_##NAME] = f64_##NAME,
#define I64_ENTRY(NAME, e) [AXLE_BINARY_##NAME] = i64_##NAME,

const struct binary_loops LOOP(cpu_binary_loops) = {
    .forward =
        {
            [DOMAIN_F32] = {F32_BINARY(F32_ENTRY) COMPARISONS(F32_ENTRY) F32_ENTRY(POW, )
                                F32_ENTRY(ATAN2, )},
            [DOMAIN_F64] = {F64_BINARY(F64_ENTRY) COMPARISONS(F64_ENTRY)},
            [DOMAIN_I64] = {I64_BINARY(I64_ENTRY) COMPARISONS(I64_ENTRY)},
        },
};
#endif
LOOP_END;
