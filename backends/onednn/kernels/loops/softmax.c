/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of softmax and of the cross-entropy built on it. Sums are taken in f64. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"
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
    float max = -INFINITY;
#pragma omp simd reduction(max : max)
    for (int64_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return max;
}

static double row_sum_exp(const float *x, float max, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (double)vm_exp(x[i] - max);
    return sum;
}

static double row_exp(const float *x, float max, float *y, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        const float e = vm_exp(x[i] - max);
        y[i] = e;
        sum += (double)e;
    }
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

/* Elements where y is 0 were removed: what dy holds there does not count. */
static double row_dot(const float *dy, const float *y, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += y[i] != 0.0f ? (double)dy[i] * (double)y[i] : 0.0;
    return sum;
}

static double row_sum_kept(const float *dy, const float *y, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += y[i] != -INFINITY ? (double)dy[i] : 0.0;
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
