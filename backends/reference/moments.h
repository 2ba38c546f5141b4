/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the normalising operators share: the moments of a set of numbers, and the gradient of
 * (x - mean) / sqrt(var + eps) where both depend on x. The operators differ in what forms a set: a
 * row, a channel, or some channels of a sample.
 */
#ifndef AXLE_REFERENCE_MOMENTS_H
#define AXLE_REFERENCE_MOMENTS_H

#include "reference.h"

typedef struct ref_moments {
    double mean, rstd;
} ref_moments;

/* Mean and biased variance, in two passes. NaN where there is no number. */
void ref_mean_variance(const double *x, int64_t n, double *mean, double *variance);

/* Mean 0 and 1/sqrt(mean(x^2) + eps). */
ref_moments ref_moments_rms(const double *x, int64_t n, double eps);
/* Mean and 1/sqrt(variance + eps). */
ref_moments ref_moments_layer(const double *x, int64_t n, double eps);

/* x = (x - mean) * rstd */
void ref_normalize(const ref_moments *m, double *x, int64_t n);

/*
 * g = rstd * (g - mean(g) - xhat * mean(g * xhat)), where g is the gradient with respect to the
 * normalised numbers xhat. Without `centred` the mean did not depend on x and mean(g) is left out.
 */
void ref_normalize_backward(double rstd, int centred, const double *xhat, double *g, int64_t n);

#endif
