/* SPDX-License-Identifier: Apache-2.0 */
#include "moments.h"

#include <math.h>

void ref_mean_variance(const double *x, int64_t n, double *mean, double *variance)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - *mean) * (x[i] - *mean);
    *variance = squares / (double)n;
}

ref_moments ref_moments_rms(const double *x, int64_t n, double eps)
{
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += x[i] * x[i];
    return (ref_moments){0, 1 / sqrt(squares / (double)n + eps)};
}

ref_moments ref_moments_layer(const double *x, int64_t n, double eps)
{
    double mean, variance;
    ref_mean_variance(x, n, &mean, &variance);
    return (ref_moments){mean, 1 / sqrt(variance + eps)};
}

void ref_normalize(const ref_moments *m, double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (x[i] - m->mean) * m->rstd;
}

void ref_normalize_backward(double rstd, int centred, const double *xhat, double *g, int64_t n)
{
    double sum = 0, products = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += g[i];
        products += g[i] * xhat[i];
    }
    double shift = centred ? sum / (double)n : 0, slope = products / (double)n;
    for (int64_t i = 0; i < n; i++)
        g[i] = rstd * (g[i] - shift - xhat[i] * slope);
}
