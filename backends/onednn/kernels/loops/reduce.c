/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of dense rows, and of rows into columns. Floats are summed in f64, which costs nothing
 * where memory is the limit and leaves no error to speak of.
 */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"
#include "../rowsum.h"

/* Partial results that a row's maximum is kept in, so that they fill vectors. */
enum { LANES = 64 };

#define PRAGMA(text) _Pragma(#text)
#define IS_NAN(v) ((v) != (v))
#define NEVER(v) 0
#define LARGER(v, best, nan) ((v) > (best) || nan(v))
#define SMALLER(v, best, nan) ((v) < (best) || nan(v))
#define MAGNITUDE(v) ((v) < 0 ? -(v) : (v))

/* A term is written in v, the element as the accumulator's type, and m, the mean. */
#define DEFINE_SUM_ROW(domain, type, wide, NAME, term)                                             \
    static void domain##_row_##NAME(const void *in, int64_t n, const void *mean, void *acc)        \
    {                                                                                              \
        const type *x = in;                                                                        \
        const wide m = mean ? *(const wide *)mean : 0;                                             \
        wide sum = 0;                                                                              \
        (void)m;                                                                                   \
        _Pragma("omp simd reduction(+ : sum)") for (int64_t i = 0; i < n; i++)                     \
        {                                                                                          \
            const wide v = (wide)x[i];                                                             \
            sum += term;                                                                           \
        }                                                                                          \
        *(wide *)acc += sum;                                                                       \
    }

#define DEFINE_SUM_COLS(domain, type, wide, NAME, term)                                            \
    static void domain##_cols_##NAME(const void *in, int64_t ld, int64_t rows, int64_t cols,       \
                                     const void *mean, void *acc)                                  \
    {                                                                                              \
        const wide *center = mean;                                                                 \
        wide *sum = acc;                                                                           \
        for (int64_t r = 0; r < rows; r++) {                                                       \
            const type *x = (const type *)in + r * ld;                                             \
            SIMD for (int64_t i = 0; i < cols; i++)                                                \
            {                                                                                      \
                const wide v = (wide)x[i], m = center ? center[i] : 0;                             \
                (void)m;                                                                           \
                sum[i] += term;                                                                    \
            }                                                                                      \
        }                                                                                          \
    }

#define DEFINE_PROD(domain, type, wide)                                                            \
    static void domain##_row_PROD(const void *in, int64_t n, const void *mean, void *acc)          \
    {                                                                                              \
        const type *x = in;                                                                        \
        wide product = 1;                                                                          \
        (void)mean;                                                                                \
        _Pragma("omp simd reduction(* : product)") for (int64_t i = 0; i < n; i++) product *=      \
            (wide)x[i];                                                                            \
        *(wide *)acc *= product;                                                                   \
    }                                                                                              \
    static void domain##_cols_PROD(const void *in, int64_t ld, int64_t rows, int64_t cols,         \
                                   const void *mean, void *acc)                                    \
    {                                                                                              \
        wide *product = acc;                                                                       \
        (void)mean;                                                                                \
        for (int64_t r = 0; r < rows; r++) {                                                       \
            const type *x = (const type *)in + r * ld;                                             \
            SIMD for (int64_t i = 0; i < cols; i++) product[i] *= (wide)x[i];                      \
        }                                                                                          \
    }

#define DEFINE_EXTREME(domain, type, wide, nan, NAME, BETTER)                                      \
    static void domain##_row_##NAME(const void *in, int64_t n, const void *mean, void *acc)        \
    {                                                                                              \
        const type *x = in;                                                                        \
        wide *best = acc;                                                                          \
        type lane[LANES];                                                                          \
        int64_t i = 0;                                                                             \
        (void)mean;                                                                                \
        if (n >= LANES) {                                                                          \
            memcpy(lane, x, sizeof(lane));                                                         \
            for (i = LANES; i + LANES <= n; i += LANES) {                                          \
                SIMD for (int64_t k = 0; k < LANES; k++) lane[k] =                                 \
                    BETTER(x[i + k], lane[k], nan) ? x[i + k] : lane[k];                           \
            }                                                                                      \
            for (int64_t k = 0; k < LANES; k++)                                                    \
                *best = BETTER(lane[k], *best, nan) ? lane[k] : *best;                             \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            *best = BETTER(x[i], *best, nan) ? x[i] : *best;                                       \
    }                                                                                              \
    static void domain##_cols_##NAME(const void *in, int64_t ld, int64_t rows, int64_t cols,       \
                                     const void *mean, void *acc)                                  \
    {                                                                                              \
        wide *best = acc;                                                                          \
        (void)mean;                                                                                \
        for (int64_t r = 0; r < rows; r++) {                                                       \
            const type *x = (const type *)in + r * ld;                                             \
            SIMD for (int64_t i = 0; i < cols; i++)                                                \
            {                                                                                      \
                const wide v = (wide)x[i];                                                         \
                best[i] = BETTER(v, best[i], nan) ? v : best[i];                                   \
            }                                                                                      \
        }                                                                                          \
    }

/* Whether any, or all, are not 0; the accumulator holds 0 or 1. */
#define DEFINE_TRUTH(domain, type, wide, NAME, start, combine)                                     \
    static void domain##_row_##NAME(const void *in, int64_t n, const void *mean, void *acc)        \
    {                                                                                              \
        const type *x = in;                                                                        \
        int32_t truth = start;                                                                     \
        (void)mean;                                                                                \
        PRAGMA(omp simd reduction(combine : truth))                                                \
        for (int64_t i = 0; i < n; i++)                                                            \
            truth combine## = x[i] != 0;                                                           \
        *(wide *)acc = (wide)((int32_t)(*(wide *)acc)combine truth);                               \
    }                                                                                              \
    static void domain##_cols_##NAME(const void *in, int64_t ld, int64_t rows, int64_t cols,       \
                                     const void *mean, void *acc)                                  \
    {                                                                                              \
        wide *truth = acc;                                                                         \
        (void)mean;                                                                                \
        for (int64_t r = 0; r < rows; r++) {                                                       \
            const type *x = (const type *)in + r * ld;                                             \
            for (int64_t i = 0; i < cols; i++)                                                     \
                truth[i] = (wide)((int32_t)truth[i] combine(x[i] != 0));                           \
        }                                                                                          \
    }

/* The first extreme element: better ones replace it, equal ones do not, and a NaN stays. */
#define DEFINE_ARG(domain, type, nan, NAME, BETTER)                                                \
    static void domain##_arg_row_##NAME(const void *in, int64_t n, int64_t first, void *best,      \
                                        int64_t *index)                                            \
    {                                                                                              \
        const type *x = in;                                                                        \
        type *held = best;                                                                         \
        for (int64_t i = 0; i < n && !nan(*held); i++) {                                           \
            if (BETTER(x[i], *held, nan)) {                                                        \
                *held = x[i];                                                                      \
                *index = first + i;                                                                \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void domain##_arg_cols_##NAME(const void *in, int64_t n, int64_t number, void *best,    \
                                         int64_t *index)                                           \
    {                                                                                              \
        const type *x = in;                                                                        \
        type *held = best;                                                                         \
        SIMD for (int64_t i = 0; i < n; i++)                                                       \
        {                                                                                          \
            const int take = BETTER(x[i], held[i], nan) && !nan(held[i]);                          \
            index[i] = take ? number : index[i];                                                   \
            held[i] = take ? x[i] : held[i];                                                       \
        }                                                                                          \
    }

#define DEFINE_DOMAIN(domain, type, wide, nan)                                                     \
    DEFINE_SUM_COLS(domain, type, wide, SUM, v)                                                    \
    DEFINE_SUM_COLS(domain, type, wide, NORM1, MAGNITUDE(v))                                       \
    DEFINE_SUM_COLS(domain, type, wide, SUM_SQUARES, v *v)                                         \
    DEFINE_SUM_COLS(domain, type, wide, SPREAD, (v - m) * (v - m))                                 \
    DEFINE_PROD(domain, type, wide)                                                                \
    DEFINE_EXTREME(domain, type, wide, nan, MAX, LARGER)                                           \
    DEFINE_EXTREME(domain, type, wide, nan, MIN, SMALLER)                                          \
    DEFINE_TRUTH(domain, type, wide, ANY, 0, |)                                                    \
    DEFINE_TRUTH(domain, type, wide, ALL, 1, &)                                                    \
    DEFINE_ARG(domain, type, nan, MAX, LARGER)                                                     \
    DEFINE_ARG(domain, type, nan, MIN, SMALLER)
DEFINE_DOMAIN(f32, float, double, IS_NAN)

/* Rows of f32 have a way of their own; v is a vector or an element. */
#define SQUARE(v) ((v) * (v))
#define DEFINE_F32_ROW(NAME, wide, single)                                                         \
    static void f32_row_##NAME(const void *in, int64_t n, const void *mean, void *acc)             \
    {                                                                                              \
        const float *x = in;                                                                       \
        const double m = mean ? *(const double *)mean : 0;                                         \
        (void)m;                                                                                   \
        ROW_SUM_WIDE(*(double *)acc, n, wide, single);                                             \
    }
DEFINE_F32_ROW(SUM, row_widen(x + j), (double)x[j])
DEFINE_F32_ROW(NORM1, row_magnitude(row_widen(x + j)), MAGNITUDE((double)x[j]))
DEFINE_F32_ROW(SUM_SQUARES, SQUARE(row_widen(x + j)), SQUARE((double)x[j]))
DEFINE_F32_ROW(SPREAD, SQUARE(row_widen(x + j) - m), SQUARE((double)x[j] - m))

DEFINE_SUM_ROW(f64, double, double, SUM, v)
DEFINE_SUM_ROW(f64, double, double, NORM1, MAGNITUDE(v))
DEFINE_SUM_ROW(f64, double, double, SUM_SQUARES, v *v)
DEFINE_SUM_ROW(f64, double, double, SPREAD, (v - m) * (v - m))
DEFINE_DOMAIN(f64, double, double, IS_NAN)

/* Integers wrap; their sums and products are taken without sign, their order with it. */
DEFINE_SUM_ROW(i64, int64_t, uint64_t, SUM, v)
DEFINE_SUM_COLS(i64, int64_t, uint64_t, SUM, v)
DEFINE_PROD(i64, int64_t, uint64_t)
DEFINE_EXTREME(i64, int64_t, int64_t, NEVER, MAX, LARGER)
DEFINE_EXTREME(i64, int64_t, int64_t, NEVER, MIN, SMALLER)
DEFINE_TRUTH(i64, int64_t, int64_t, ANY, 0, |)
DEFINE_TRUTH(i64, int64_t, int64_t, ALL, 1, &)
DEFINE_ARG(i64, int64_t, NEVER, MAX, LARGER)
DEFINE_ARG(i64, int64_t, NEVER, MIN, SMALLER)

static void pair_row(const float *x, const float *dy, int64_t n, double mean, double *acc)
{
    ROW_SUM_WIDE(acc[0], n, row_widen(dy + j), (double)dy[j]);
    ROW_SUM_WIDE(acc[1], n, row_widen(dy + j) * (row_widen(x + j) - mean),
                 (double)dy[j] * ((double)x[j] - mean));
}

static void pair_cols(const float *x, int64_t ldx, const float *dy, int64_t ldy, int64_t rows,
                      int64_t cols, const double *mean, double *acc)
{
    double *sum = acc, *product = acc + cols;
    for (int64_t r = 0; r < rows; r++) {
        const float *xr = x + r * ldx, *dr = dy + r * ldy;
        SIMD for (int64_t i = 0; i < cols; i++)
        {
            sum[i] += (double)dr[i];
            product[i] += (double)dr[i] * ((double)xr[i] - mean[i]);
        }
    }
}

#define FLOAT_ENTRIES(domain, form)                                                                \
    {                                                                                              \
        [AXLE_REDUCE_SUM] = domain##_##form##_SUM, [AXLE_REDUCE_MEAN] = domain##_##form##_SUM,     \
        [AXLE_REDUCE_PROD] = domain##_##form##_PROD, [AXLE_REDUCE_MAX] = domain##_##form##_MAX,    \
        [AXLE_REDUCE_MIN] = domain##_##form##_MIN, [AXLE_REDUCE_VAR] = domain##_##form##_SUM,      \
        [AXLE_REDUCE_NORM1] = domain##_##form##_NORM1,                                             \
        [AXLE_REDUCE_NORM2] = domain##_##form##_SUM_SQUARES,                                       \
        [AXLE_REDUCE_SUM_SQUARES] = domain##_##form##_SUM_SQUARES,                                 \
        [AXLE_REDUCE_ANY] = domain##_##form##_ANY, [AXLE_REDUCE_ALL] = domain##_##form##_ALL,      \
        [REDUCE_SPREAD] = domain##_##form##_SPREAD                                                 \
    }
#define INTEGER_ENTRIES(form)                                                                      \
    {                                                                                              \
        [AXLE_REDUCE_SUM] = i64_##form##_SUM, [AXLE_REDUCE_PROD] = i64_##form##_PROD,              \
        [AXLE_REDUCE_MAX] = i64_##form##_MAX, [AXLE_REDUCE_MIN] = i64_##form##_MIN,                \
        [AXLE_REDUCE_ANY] = i64_##form##_ANY, [AXLE_REDUCE_ALL] = i64_##form##_ALL                 \
    }

const struct reduce_loops LOOP(cpu_reduce_loops) = {
    .row = {FLOAT_ENTRIES(f32, row), FLOAT_ENTRIES(f64, row), INTEGER_ENTRIES(row)},
    .cols = {FLOAT_ENTRIES(f32, cols), FLOAT_ENTRIES(f64, cols), INTEGER_ENTRIES(cols)},
    .arg_row = {{f32_arg_row_MAX, f32_arg_row_MIN},
                {f64_arg_row_MAX, f64_arg_row_MIN},
                {i64_arg_row_MAX, i64_arg_row_MIN}},
    .arg_cols = {{f32_arg_cols_MAX, f32_arg_cols_MIN},
                 {f64_arg_cols_MAX, f64_arg_cols_MIN},
                 {i64_arg_cols_MAX, i64_arg_cols_MIN}},
    .pair_row = pair_row,
    .pair_cols = pair_cols,
};
#endif
LOOP_END;
