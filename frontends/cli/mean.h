/* SPDX-License-Identifier: Apache-2.0 */
/* A mean of losses that are means over rows themselves. */
#ifndef AXLE_CLI_MEAN_H
#define AXLE_CLI_MEAN_H

#include "axle/accelerator.h"

/* Starts as {0}. */
typedef struct mean {
    double sum, only; /* `only` is the value while there is but one, free of rounding */
    int64_t rows;
    int batches;
} mean;

static inline void mean_add(mean *mean, double value, int64_t rows)
{
    mean->sum += value * (double)rows;
    mean->only = value;
    mean->rows += rows;
    mean->batches++;
}

static inline double mean_value(const mean *mean)
{
    return mean->batches == 1 ? mean->only : mean->sum / (double)mean->rows;
}

/* A mean over the rows of all processes. */
static inline int mean_of_all(axle_accelerator *accelerator, const mean *mean, double *out)
{
    double own = mean->rows > 0 ? mean_value(mean) : 0.0;
    return axle_weighted_mean(accelerator, own, (double)mean->rows, out);
}

#endif
