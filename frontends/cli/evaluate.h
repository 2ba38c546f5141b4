/* SPDX-License-Identifier: Apache-2.0 */
/* Loss and metrics of a model on a data set, over all processes. */
#ifndef AXLE_CLI_EVALUATE_H
#define AXLE_CLI_EVALUATE_H

#include <jansson.h>
#include <stdio.h>

#include "axle/accelerator.h"
#include "axle/metrics.h"

enum { EVALUATION_MOST = 8 };

typedef struct evaluation {
    double loss;
    int64_t rows;
    int count; /* of metrics */
    const char *name[EVALUATION_MOST];
    double value[EVALUATION_MOST];
    int shown; /* how many of them people are told */
} evaluation;

/* What is evaluated. All is prepared. */
typedef struct evaluation_of {
    axle_accelerator *accelerator;
    axle_model *model;
    axle_loader *loader;
    const char *field; /* of the labels */
    int kind;          /* AXLE_METRICS_... */
    int64_t labels;
} evaluation_of;

/* All processes call it. AXLE_ERR_INTERRUPTED after a signal. */
int evaluate(const evaluation_of *subject, evaluation *out);
/* NAN where there is no such metric. */
double evaluation_value(const evaluation *evaluation, const char *name);
/* "loss 0.1234, accuracy 0.9000". */
void evaluation_print(const evaluation *evaluation, FILE *to);
/* The metrics as an object; NULL if memory runs out. */
json_t *evaluation_describe(const evaluation *evaluation);

#endif
