/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums and maxima over rows of f32. Compilers reduce vectors lane by lane, which for short rows
 * costs more than the row; here vectors of partial results are halved until one element is left.
 *
 * ROW_SUM is for rows in the cache: four vectors add up in f32, for so few steps that the sum is as
 * good as a pairwise one, and their total goes on in f64. ROW_SUM_WIDE adds in f64 throughout,
 * which costs nothing where memory is the limit.
 */
#ifndef AXLE_ONEDNN_ROWSUM_H
#define AXLE_ONEDNN_ROWSUM_H

#include "isa.h"

enum { ROW_LANES = LOOP_VECTOR, ROW_WIDE_LANES = LOOP_VECTOR / 2 };
/* Elements that are summed in f32 before their total is taken. */
enum { ROW_RUN = 64 * ROW_LANES };

typedef float row_vector __attribute__((vector_size(4 * LOOP_VECTOR)));
typedef int32_t row_mask __attribute__((vector_size(4 * LOOP_VECTOR)));
typedef double row_wide __attribute__((vector_size(8 * LOOP_VECTOR / 2)));
typedef float row_narrow __attribute__((vector_size(4 * LOOP_VECTOR / 2)));
typedef float row_quad __attribute__((vector_size(16)));
typedef double row_pair __attribute__((vector_size(16)));
#if LOOP_VECTOR >= 8
typedef float row_eight __attribute__((vector_size(32)));
typedef double row_four __attribute__((vector_size(32)));
#endif

INLINE row_vector row_load(const float *x)
{
    row_vector v;
    memcpy(&v, x, sizeof(v));
    return v;
}

INLINE void row_store(float *x, row_vector v)
{
    memcpy(x, &v, sizeof(v));
}

/* The lanes of a where the mask is set, of b elsewhere. */
INLINE row_vector row_choose(row_mask mask, row_vector a, row_vector b)
{
    return (row_vector)((mask & (row_mask)a) | (~mask & (row_mask)b));
}

/* ROW_WIDE_LANES elements as f64. */
INLINE row_wide row_widen(const float *x)
{
    row_narrow v;
    memcpy(&v, x, sizeof(v));
    return __builtin_convertvector(v, row_wide);
}

INLINE row_wide row_magnitude(row_wide v)
{
    typedef int64_t bits __attribute__((vector_size(8 * LOOP_VECTOR / 2)));
    return (row_wide)((bits)v & INT64_MAX);
}

/* The two halves of a vector. */
#define ROW_HALVES(type, v, low, high)                                                             \
    type low, high;                                                                                \
    memcpy(&low, &(v), sizeof(low));                                                               \
    memcpy(&high, (const char *)&(v) + sizeof(low), sizeof(high))

INLINE double row_total(row_vector v)
{
#if LOOP_VECTOR == 16
    ROW_HALVES(row_eight, v, eight, eight_more);
    eight += eight_more;
    ROW_HALVES(row_quad, eight, quad, quad_more);
    quad += quad_more;
#elif LOOP_VECTOR == 8
    ROW_HALVES(row_quad, v, quad, quad_more);
    quad += quad_more;
#else
    const row_quad quad = v;
#endif
    return ((double)quad[0] + (double)quad[1]) + ((double)quad[2] + (double)quad[3]);
}

INLINE double row_total_wide(row_wide v)
{
#if LOOP_VECTOR == 16
    ROW_HALVES(row_four, v, four, four_more);
    four += four_more;
    ROW_HALVES(row_pair, four, pair, pair_more);
    pair += pair_more;
#elif LOOP_VECTOR == 8
    ROW_HALVES(row_pair, v, pair, pair_more);
    pair += pair_more;
#else
    const row_pair pair = v;
#endif
    return pair[0] + pair[1];
}

/*
 * Add to `result` the sum over [0, n) of a term: `vector` is that of the ROW_LANES elements from j
 * on, `single` that of element j, in f32 both.
 */
#define ROW_SUM(result, n, vector, single)                                                         \
    do {                                                                                           \
        int64_t j = 0;                                                                             \
        while (j + ROW_LANES <= (n)) {                                                             \
            row_vector row_s0 = {0}, row_s1 = {0}, row_s2 = {0}, row_s3 = {0};                     \
            const int64_t row_end = (n)-j < ROW_RUN ? (n) : j + ROW_RUN;                           \
            for (; j + 4 * ROW_LANES <= row_end; j += ROW_LANES) {                                 \
                row_s0 += (vector);                                                                \
                j += ROW_LANES;                                                                    \
                row_s1 += (vector);                                                                \
                j += ROW_LANES;                                                                    \
                row_s2 += (vector);                                                                \
                j += ROW_LANES;                                                                    \
                row_s3 += (vector);                                                                \
            }                                                                                      \
            for (; j + ROW_LANES <= row_end; j += ROW_LANES)                                       \
                row_s0 += (vector);                                                                \
            (result) += row_total((row_s0 + row_s1) + (row_s2 + row_s3));                          \
        }                                                                                          \
        for (; j < (n); j++)                                                                       \
            (result) += (double)(single);                                                          \
    } while (0)

/* The same with terms in f64, of ROW_WIDE_LANES elements. */
#define ROW_SUM_WIDE(result, n, vector, single)                                                    \
    do {                                                                                           \
        row_wide row_s0 = {0}, row_s1 = {0}, row_s2 = {0}, row_s3 = {0};                           \
        int64_t j = 0;                                                                             \
        for (; j + 4 * ROW_WIDE_LANES <= (n); j += ROW_WIDE_LANES) {                               \
            row_s0 += (vector);                                                                    \
            j += ROW_WIDE_LANES;                                                                   \
            row_s1 += (vector);                                                                    \
            j += ROW_WIDE_LANES;                                                                   \
            row_s2 += (vector);                                                                    \
            j += ROW_WIDE_LANES;                                                                   \
            row_s3 += (vector);                                                                    \
        }                                                                                          \
        for (; j + ROW_WIDE_LANES <= (n); j += ROW_WIDE_LANES)                                     \
            row_s0 += (vector);                                                                    \
        double row_rest = 0;                                                                       \
        for (; j < (n); j++)                                                                       \
            row_rest += (single);                                                                  \
        (result) += row_total_wide((row_s0 + row_s1) + (row_s2 + row_s3)) + row_rest;              \
    } while (0)

INLINE float row_larger(float a, float b)
{
    return a > b ? a : b;
}

/* The largest of the elements that are numbers; -inf where there is none. */
INLINE float row_largest(const float *x, int64_t n)
{
    const row_vector least = (row_vector){0} - INFINITY;
    row_vector best = least;
    int64_t j = 0;
    for (; j + ROW_LANES <= n; j += ROW_LANES) {
        const row_vector v = row_load(x + j);
        best = row_choose(v > best, v, best);
    }
    float rest = -INFINITY;
    for (; j < n; j++)
        rest = row_larger(x[j], rest);
    float lane[ROW_LANES];
    row_store(lane, best);
    for (int k = 0; k < ROW_LANES; k += 4)
        rest = row_larger(
            row_larger(row_larger(lane[k], lane[k + 1]), row_larger(lane[k + 2], lane[k + 3])),
            rest);
    return rest;
}

#endif
