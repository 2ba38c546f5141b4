/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of softmax and of the cross-entropy built on it. Sums are taken in f64. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"
#include "../rowsum.h"
#include "../vecmath.h"

/* Removed elements become -inf by choice, whatever they held. */
static void prepare(const float *x, const float *mask, const uint8_t *keep, float scale,
                    int64_t limit, float *v, int64_t n)
{
    const int64_t kept = limit < n ? limit : n;
    if (mask) {
        SIMD for (int64_t i = 0; i < kept; i++) v[i] =
            mask[i] == -INFINITY ? -INFINITY : scale * x[i] + mask[i];
    } else if (keep) {
        SIMD for (int64_t i = 0; i < kept; i++) v[i] = keep[i] ? scale * x[i] : -INFINITY;
    } else {
        SIMD for (int64_t i = 0; i < kept; i++) v[i] = scale * x[i];
    }
    for (int64_t i = kept; i < n; i++)
        v[i] = -INFINITY;
}

static float row_max(const float *x, int64_t n)
{
    return row_largest(x, n);
}

static double row_exp(const float *x, float max, float *y, int64_t n)
{
    double sum = 0;
    SIMD for (int64_t i = 0; i < n; i++) y[i] = vm_exp(x[i] - max);
    ROW_SUM(sum, n, row_load(y + j), y[j]);
    return sum;
}

static double row_sum_exp(const float *x, float max, int64_t n)
{
    enum { BLOCK = 256 };
    float e[BLOCK];
    double sum = 0;
    for (int64_t i = 0; i < n; i += BLOCK)
        sum += row_exp(x + i, max, e, n - i < BLOCK ? n - i : BLOCK);
    return sum;
}

static void row_scale(const float *x, float factor, float *y, int64_t n)
{
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] * factor;
}

static void row_log(const float *x, float max, float log_sum, float *y, int64_t n)
{
    SIMD for (int64_t i = 0; i < n; i++) y[i] = (x[i] - max) - log_sum;
}

/* What dy holds where the mask is not set does not count. */
INLINE row_vector row_kept(row_mask mask, const float *dy)
{
    return (row_vector)(mask & (row_mask)row_load(dy));
}

/* Elements where y is 0 were removed. */
static double row_dot(const float *dy, const float *y, int64_t n)
{
    double sum = 0;
    ROW_SUM(sum, n, row_kept(row_load(y + j) != 0.0f, dy + j) * row_load(y + j),
            y[j] != 0.0f ? dy[j] * y[j] : 0.0f);
    return sum;
}

/* Elements where y is -inf were removed. */
static double row_sum_kept(const float *dy, const float *y, int64_t n)
{
    double sum = 0;
    ROW_SUM(sum, n, row_kept(row_load(y + j) != -INFINITY, dy + j),
            y[j] != -INFINITY ? dy[j] : 0.0f);
    return sum;
}

static void row_backward(const float *dy, const float *y, float dot, float scale, float *dx,
                         int64_t n)
{
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = y[i] != 0.0f ? scale * y[i] * (dy[i] - dot) : 0.0f;
}

static void row_log_backward(const float *dy, const float *y, float sum, float scale, float *dx,
                             int64_t n)
{
    SIMD for (int64_t i = 0; i < n; i++) dx[i] =
        y[i] != -INFINITY ? scale * (dy[i] - vm_exp(y[i]) * sum) : 0.0f;
}

/* In place: probabilities up to a factor become gradients. */
static void row_cross_backward(float factor, float smooth, const float *weight, float *dx,
                               int64_t n)
{
    if (weight) {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] = factor * dx[i] - smooth * weight[i];
    } else {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] = factor * dx[i] - smooth;
    }
}

const struct softmax_loops LOOP(cpu_softmax_loops) = {
    .prepare = prepare,
    .max = row_max,
    .sum_exp = row_sum_exp,
    .exp = row_exp,
    .scale = row_scale,
    .log = row_log,
    .dot = row_dot,
    .sum_kept = row_sum_kept,
    .backward = row_backward,
    .log_backward = row_log_backward,
    .cross_backward = row_cross_backward,
};
#endif
LOOP_END;
