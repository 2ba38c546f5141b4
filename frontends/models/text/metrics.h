/* SPDX-License-Identifier: Apache-2.0 */
/* What metrics are computed from. */
#ifndef AXLE_MODELS_TEXT_METRICS_H
#define AXLE_MODELS_TEXT_METRICS_H

#include "axle/metrics.h"

struct axle_metrics {
    int kind;
    int64_t labels, rows;
    /* Of classes and label sets: rows that are right as a whole, and for each label how often it
     * was predicted rightly, predicted at all, and there. */
    int64_t correct;
    int64_t *hits, *predicted, *actual;
    /* Of numbers: (rows). */
    double *outputs, *targets;
    int64_t room;
};

/* AXLE_OK or AXLE_ERR_NOMEM. */
typedef int (*axle__metric_fn)(const axle_metrics *metrics, double *out);

/* Names of the metrics of a kind, NULL-terminated, and the function of each by its position. */
const char *const *axle__metric_names(int kind);
axle__metric_fn axle__metric_function(int kind, int number);

#endif
