/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of layer norm, and the elementwise parts of the norms over channels. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"
#include "../rowsum.h"

#define SQUARE(v) ((v) * (v))

/* Sums about the rounded mean say how far it is from the exact one; the row is in the cache. */
static void moments(const float *x, int64_t n, double *mean, double *spread)
{
    double sum = 0, rest = 0, squares = 0;
    ROW_SUM(sum, n, row_load(x + j), x[j]);
    const float m = (float)(sum / (double)n);
    ROW_SUM(rest, n, row_load(x + j) - m, x[j] - m);
    ROW_SUM(squares, n, SQUARE(row_load(x + j) - m), SQUARE(x[j] - m));
    const double shift = rest / (double)n, about = squares - rest * shift;
    *mean = (double)m + shift;
    *spread = about < 0 ? 0 : about;
}

static double sum_squares(const float *x, int64_t n)
{
    double sum = 0;
    ROW_SUM(sum, n, SQUARE(row_load(x + j)), SQUARE(x[j]));
    return sum;
}

/* (x - mean) * rstd * gamma + beta; gamma and beta may be absent. The mean comes in two parts:
 * where the deviation is small beside it, its rounding would show. */
static void apply(const float *x, double mean, float rstd, const float *gamma, const float *beta,
                  float *y, int64_t n)
{
    const float high = (float)mean, low = (float)(mean - (double)high);
    if (gamma && beta) {
        SIMD for (int64_t i = 0; i < n; i++) y[i] =
            ((x[i] - high) - low) * rstd * gamma[i] + beta[i];
    } else if (gamma) {
        SIMD for (int64_t i = 0; i < n; i++) y[i] = ((x[i] - high) - low) * rstd * gamma[i];
    } else {
        SIMD for (int64_t i = 0; i < n; i++) y[i] = ((x[i] - high) - low) * rstd;
        for (int64_t i = 0; beta && i < n; i++)
            y[i] += beta[i];
    }
}

static void backward_sums(const float *dy, const float *x, const float *gamma, float mean,
                          float rstd, int64_t n, double *sums)
{
    sums[0] = sums[1] = 0;
    if (gamma) {
        ROW_SUM(sums[0], n, row_load(dy + j) * row_load(gamma + j), dy[j] * gamma[j]);
        ROW_SUM(sums[1], n,
                row_load(dy + j) * row_load(gamma + j) * ((row_load(x + j) - mean) * rstd),
                dy[j] * gamma[j] * ((x[j] - mean) * rstd));
    } else {
        ROW_SUM(sums[0], n, row_load(dy + j), dy[j]);
        ROW_SUM(sums[1], n, row_load(dy + j) * ((row_load(x + j) - mean) * rstd),
                dy[j] * ((x[j] - mean) * rstd));
    }
}

/* rstd * (g - s1 - xhat * s2), where s1 and s2 are the means of g and g * xhat over the row. */
static void backward_dx(const float *dy, const float *x, const float *gamma, float mean, float rstd,
                        float s1, float s2, float *dx, int64_t n)
{
    if (gamma) {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] =
            rstd * ((dy[i] * gamma[i] - s1) - (x[i] - mean) * rstd * s2);
    } else {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] =
            rstd * ((dy[i] - s1) - (x[i] - mean) * rstd * s2);
    }
}

static void backward_params(const float *dy, const float *x, float mean, float rstd, float *dgamma,
                            float *dbeta, int64_t n)
{
    SIMD for (int64_t i = 0; i < n; i++)
    {
        dgamma[i] += dy[i] * ((x[i] - mean) * rstd);
        dbeta[i] += dy[i];
    }
}

static void flush(float *from, double *to, int64_t n)
{
    SIMD for (int64_t i = 0; i < n; i++)
    {
        to[i] += (double)from[i];
        from[i] = 0.0f;
    }
}

static void channel(const void *const *in, void *out, int64_t n, const elem_params *params)
{
    const float *x = in[0], *mean = in[1], *factor = in[2], *shift = in[3];
    float *y = out;
    (void)params;
    SIMD for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean[i]) * factor[i] + shift[i];
}

static void channel_backward(const void *const *in, void *out, int64_t n, const elem_params *params)
{
    const float *dy = in[0], *x = in[1], *mean = in[2], *a = in[3], *b = in[4], *c = in[5];
    float *dx = out;
    (void)params;
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = a[i] * dy[i] + (b[i] * (x[i] - mean[i]) + c[i]);
}

const struct norm_loops LOOP(cpu_norm_loops) = {
    .moments = moments,
    .sum_squares = sum_squares,
    .apply = apply,
    .backward_sums = backward_sums,
    .backward_dx = backward_dx,
    .backward_params = backward_params,
    .flush = flush,
    .channel = channel,
    .channel_backward = channel_backward,
};
#endif
LOOP_END;
