/* SPDX-License-Identifier: Apache-2.0 */
/* The loops behind fold.h. Floats fold in f64; sums of f64 carry what their additions round off. */
#include "fold.h"
#include "element.h"

#include <math.h>

/* high + low += v, exactly as long as low itself rounds little (Knuth's two-sum). */
static inline void add_exactly(double *high, double *low, double v)
{
    const double sum = *high + v, part = sum - *high;
    *low += (*high - (sum - part)) + (v - part);
    *high = sum;
}

/* Narrow types: f64 has bits to spare, so four plain sums run side by side. */
#define NARROW_SUM(name, f, T, term)                                                               \
    static void name##_##f(ref_state *s, const unsigned char *x, int64_t n, int64_t step,          \
                           double center)                                                          \
    {                                                                                              \
        double sum[4] = {0, 0, 0, 0};                                                              \
        int64_t i = 0;                                                                             \
        (void)center;                                                                              \
        for (; i + 4 <= n; i += 4, x += 4 * step) {                                                \
            const double v0 = ref_get_##f(*(const T *)x);                                          \
            const double v1 = ref_get_##f(*(const T *)(x + step));                                 \
            const double v2 = ref_get_##f(*(const T *)(x + 2 * step));                             \
            const double v3 = ref_get_##f(*(const T *)(x + 3 * step));                             \
            sum[0] += term(v0, center);                                                            \
            sum[1] += term(v1, center);                                                            \
            sum[2] += term(v2, center);                                                            \
            sum[3] += term(v3, center);                                                            \
        }                                                                                          \
        for (; i < n; i++, x += step) {                                                            \
            const double v = ref_get_##f(*(const T *)x);                                           \
            sum[0] += term(v, center);                                                             \
        }                                                                                          \
        s->high += (sum[0] + sum[1]) + (sum[2] + sum[3]);                                          \
    }
#define WIDE_SUM(name, term)                                                                       \
    static void name##_f64(ref_state *s, const unsigned char *x, int64_t n, int64_t step,          \
                           double center)                                                          \
    {                                                                                              \
        double high = s->high, low = s->low;                                                       \
        (void)center;                                                                              \
        for (int64_t i = 0; i < n; i++, x += step) {                                               \
            const double v = *(const double *)x;                                                   \
            add_exactly(&high, &low, term(v, center));                                             \
        }                                                                                          \
        s->high = high;                                                                            \
        s->low = low;                                                                              \
    }
#define SUM_FOLD(name, term)                                                                       \
    NARROW_SUM(name, f32, float, term)                                                             \
    NARROW_SUM(name, f16, uint16_t, term)                                                          \
    NARROW_SUM(name, bf16, uint16_t, term)                                                         \
    WIDE_SUM(name, term)

#define PLAIN(v, center) (v)
#define ABSOLUTE(v, center) fabs(v)
#define SQUARED(v, center) ((v) * (v))
#define DEVIATION(v, center) (((v) - (center)) * ((v) - (center)))
SUM_FOLD(fold_SUM, PLAIN)
SUM_FOLD(fold_ABS, ABSOLUTE)
SUM_FOLD(fold_SQUARE, SQUARED)
SUM_FOLD(fold_DEVIATION, DEVIATION)

/* The other folds replace the state s by an expression of s and the element v. */
#define SIMPLE_FOLD(name, f, T, S, member, value)                                                  \
    static void name##_##f(ref_state *state, const unsigned char *x, int64_t n, int64_t step,      \
                           double center)                                                          \
    {                                                                                              \
        S s = state->member;                                                                       \
        (void)center;                                                                              \
        for (int64_t i = 0; i < n; i++, x += step) {                                               \
            const S v = ref_get_##f(*(const T *)x);                                                \
            s = value;                                                                             \
        }                                                                                          \
        state->member = s;                                                                         \
    }
#define FLOAT_FOLD(F, f, T, C, name, value) SIMPLE_FOLD(name, f, T, double, high, value)
#define INTEGER_FOLD(I, i_, T, C, name, value) SIMPLE_FOLD(name, i_, T, int64_t, integer, value)
REF_FLOATS(FLOAT_FOLD, fold_PROD, (s * v))
REF_FLOATS(FLOAT_FOLD, fold_MAX, v > s || v != v ? v : s)
REF_FLOATS(FLOAT_FOLD, fold_MIN, v < s || v != v ? v : s)
REF_INTEGERS(INTEGER_FOLD, fold_SUM, ref_wrap_add(s, v))
REF_INTEGERS(INTEGER_FOLD, fold_PROD, ref_wrap_mul(s, v))
REF_INTEGERS(INTEGER_FOLD, fold_MAX, v > s ? v : s)
REF_INTEGERS(INTEGER_FOLD, fold_MIN, v < s ? v : s)

#define TRUTH_FOLD(F, f, T, C, name, op)                                                           \
    static void name##_##f(ref_state *s, const unsigned char *x, int64_t n, int64_t step,          \
                           double center)                                                          \
    {                                                                                              \
        (void)center;                                                                              \
        for (int64_t i = 0; i < n; i++, x += step)                                                 \
            s->integer op ref_get_##f(*(const T *)x) != 0;                                         \
    }
REF_TYPES(TRUTH_FOLD, fold_ANY, |=)
REF_TYPES(TRUTH_FOLD, fold_ALL, &=)

#define ENTRY(F, f, T, C, NAME) [REF_FOLD_##NAME][AXLE_DTYPE_##F] = fold_##NAME##_##f,
static const ref_fold folds[REF_FOLD_LIMIT][REF_DTYPE_LIMIT] = {
    REF_NUMBERS(ENTRY, SUM) REF_NUMBERS(ENTRY, PROD) REF_NUMBERS(ENTRY, MAX) REF_NUMBERS(ENTRY, MIN)
        REF_FLOATS(ENTRY, ABS) REF_FLOATS(ENTRY, SQUARE) REF_FLOATS(ENTRY, DEVIATION)
            REF_TYPES(ENTRY, ANY) REF_TYPES(ENTRY, ALL)};

/* Where each fold begins. */
static const ref_state starts[REF_FOLD_LIMIT] = {
    [REF_FOLD_PROD] = {1, 0, 1},
    [REF_FOLD_MAX] = {-INFINITY, 0, 0},
    [REF_FOLD_MIN] = {INFINITY, 0, 0},
    [REF_FOLD_ALL] = {0, 0, 1},
};

ref_fold ref_fold_of(uint32_t what, uint32_t dtype)
{
    return dtype < REF_DTYPE_LIMIT ? folds[what][dtype] : NULL;
}

ref_state ref_fold_start(uint32_t what, uint32_t dtype)
{
    static const int64_t least[REF_DTYPE_LIMIT] = {
        [AXLE_DTYPE_U8] = 0, [AXLE_DTYPE_I32] = INT32_MIN, [AXLE_DTYPE_I64] = INT64_MIN};
    static const int64_t most[REF_DTYPE_LIMIT] = {
        [AXLE_DTYPE_U8] = UINT8_MAX, [AXLE_DTYPE_I32] = INT32_MAX, [AXLE_DTYPE_I64] = INT64_MAX};
    ref_state s = starts[what];
    if (what == REF_FOLD_MAX)
        s.integer = least[dtype];
    if (what == REF_FOLD_MIN)
        s.integer = most[dtype];
    return s;
}

/* The fold that joins pieces: they are themselves elements, f64 or i64, of a shorter fold. */
static uint32_t joining(uint32_t what)
{
    const int sums = what == REF_FOLD_ABS || what == REF_FOLD_SQUARE || what == REF_FOLD_DEVIATION;
    return sums ? (uint32_t)REF_FOLD_SUM : what;
}

ref_state ref_fold_join(uint32_t what, uint32_t dtype, const ref_state *pieces, int64_t n)
{
    const uint32_t join = joining(what);
    const int64_t step = sizeof(ref_state);
    ref_state s = ref_fold_start(what, dtype);
    const ref_fold integers = folds[join][AXLE_DTYPE_I64], floats = folds[join][AXLE_DTYPE_F64];
    if (what >= REF_FOLD_ANY || !(REF_FLOAT_MASK >> dtype & 1)) {
        integers(&s, (const unsigned char *)&pieces->integer, n, step, 0);
        return s;
    }
    floats(&s, (const unsigned char *)&pieces->high, n, step, 0);
    if (join == REF_FOLD_SUM) {
        ref_state lost = {0, 0, 0};
        floats(&lost, (const unsigned char *)&pieces->low, n, step, 0);
        s.low += ref_fold_value(&lost);
    }
    return s;
}

double ref_fold_value(const ref_state *s)
{
    const double value = s->high + s->low;
    return isfinite(s->high) ? value : s->high;
}
