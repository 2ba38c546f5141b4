/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics themselves. */
#include <math.h>
#include <stdlib.h>

#include "axle/status.h"
#include "metrics.h"

static double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : 0.0;
}

/* ---- from counts */

typedef struct counts {
    double hits, predicted, actual;
} counts;

static counts counts_of(const axle_metrics *m, int64_t label)
{
    return (counts){(double)m->hits[label], (double)m->predicted[label], (double)m->actual[label]};
}

static counts all_counts(const axle_metrics *m)
{
    counts sum = {0.0, 0.0, 0.0};
    for (int64_t k = 0; k < m->labels; k++) {
        counts c = counts_of(m, k);
        sum = (counts){sum.hits + c.hits, sum.predicted + c.predicted, sum.actual + c.actual};
    }
    return sum;
}

static double precision_of(counts c)
{
    return ratio(c.hits, c.predicted);
}

static double recall_of(counts c)
{
    return ratio(c.hits, c.actual);
}

static double f1_of(counts c)
{
    return ratio(2.0 * c.hits, c.predicted + c.actual);
}

/* Mean over labels: in a choice of classes, over those that occur on either side. */
static double macro(const axle_metrics *m, double (*of)(counts))
{
    double sum = 0.0, n = 0.0;
    for (int64_t k = 0; k < m->labels; k++) {
        counts c = counts_of(m, k);
        if (m->kind == AXLE_METRICS_CLASSES && c.predicted + c.actual == 0.0)
            continue;
        sum += of(c);
        n += 1.0;
    }
    return ratio(sum, n);
}

/* Of label sets over all labels together; of two classes that of the second; else macro. */
static double usual(const axle_metrics *m, double (*of)(counts))
{
    if (m->kind == AXLE_METRICS_LABEL_SETS)
        return of(all_counts(m));
    return m->labels == 2 ? of(counts_of(m, 1)) : macro(m, of);
}

static int accuracy(const axle_metrics *m, double *out)
{
    *out = ratio((double)m->correct, (double)m->rows);
    return AXLE_OK;
}

static int f1(const axle_metrics *m, double *out)
{
    *out = usual(m, f1_of);
    return AXLE_OK;
}

static int f1_macro(const axle_metrics *m, double *out)
{
    *out = macro(m, f1_of);
    return AXLE_OK;
}

static int precision(const axle_metrics *m, double *out)
{
    *out = usual(m, precision_of);
    return AXLE_OK;
}

static int recall(const axle_metrics *m, double *out)
{
    *out = usual(m, recall_of);
    return AXLE_OK;
}

/* The correlation of two partitions (Gorodkin, 2004); of two classes that of Matthews (1975). */
static int matthews(const axle_metrics *m, double *out)
{
    double rows = (double)m->rows, products = 0.0, predicted = 0.0, actual = 0.0;
    for (int64_t k = 0; k < m->labels; k++) {
        counts c = counts_of(m, k);
        products += c.predicted * c.actual;
        predicted += c.predicted * c.predicted;
        actual += c.actual * c.actual;
    }
    double spread = sqrt((rows * rows - predicted) * (rows * rows - actual));
    *out = spread > 0.0 ? ((double)m->correct * rows - products) / spread : 0.0;
    return AXLE_OK;
}

/* ---- from numbers */

static double mean_of(const double *x, int64_t n)
{
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++)
        sum += x[k];
    return sum / (double)n;
}

static double correlation(const double *x, const double *y, int64_t n)
{
    double mx = mean_of(x, n), my = mean_of(y, n), xx = 0.0, yy = 0.0, xy = 0.0;
    for (int64_t k = 0; k < n; k++) {
        xx += (x[k] - mx) * (x[k] - mx);
        yy += (y[k] - my) * (y[k] - my);
        xy += (x[k] - mx) * (y[k] - my);
    }
    return xx > 0.0 && yy > 0.0 ? xy / sqrt(xx) / sqrt(yy) : 0.0;
}

static int pearson(const axle_metrics *m, double *out)
{
    *out = correlation(m->outputs, m->targets, m->rows);
    return AXLE_OK;
}

typedef struct place {
    double value;
    int64_t row;
} place;

static int by_value(const void *a, const void *b)
{
    double x = ((const place *)a)->value, y = ((const place *)b)->value;
    return (x > y) - (x < y);
}

/* Ranks from 0; equal values share the mean of theirs. */
static int rank(const double *x, int64_t n, double *out)
{
    place *places = malloc((size_t)n * sizeof(*places));
    if (!places)
        return axle_error_set(AXLE_ERR_NOMEM, "metrics: no memory for %lld ranks", (long long)n);
    for (int64_t k = 0; k < n; k++)
        places[k] = (place){x[k], k};
    qsort(places, (size_t)n, sizeof(*places), by_value);
    for (int64_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && places[end].value == places[first].value;)
            end++;
        for (int64_t k = first; k < end; k++)
            out[places[k].row] = (double)(first + end - 1) / 2.0;
    }
    free(places);
    return AXLE_OK;
}

static int spearman(const axle_metrics *m, double *out)
{
    double *x = malloc((size_t)m->rows * sizeof(*x)), *y = malloc((size_t)m->rows * sizeof(*y));
    int code = x && y ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "metrics: out of memory");
    if (!code)
        code = rank(m->outputs, m->rows, x);
    if (!code)
        code = rank(m->targets, m->rows, y);
    if (!code)
        *out = correlation(x, y, m->rows);
    free(x);
    free(y);
    return code;
}

static int mse(const axle_metrics *m, double *out)
{
    double sum = 0.0;
    for (int64_t k = 0; k < m->rows; k++)
        sum += (m->outputs[k] - m->targets[k]) * (m->outputs[k] - m->targets[k]);
    *out = ratio(sum, (double)m->rows);
    return AXLE_OK;
}

static int mae(const axle_metrics *m, double *out)
{
    double sum = 0.0;
    for (int64_t k = 0; k < m->rows; k++)
        sum += fabs(m->outputs[k] - m->targets[k]);
    *out = ratio(sum, (double)m->rows);
    return AXLE_OK;
}

/* ---- by kind */

#define OF_CLASSES(X) X(accuracy) X(f1) X(f1_macro) X(precision) X(recall) X(matthews)
#define OF_LABEL_SETS(X) X(accuracy) X(f1) X(f1_macro) X(precision) X(recall)
#define OF_NUMBERS(X) X(pearson) X(spearman) X(mse) X(mae)

#define NAME(metric) #metric,
#define FUNCTION(metric) metric,
static const char *const class_names[] = {OF_CLASSES(NAME) NULL};
static const char *const label_set_names[] = {OF_LABEL_SETS(NAME) NULL};
static const char *const number_names[] = {OF_NUMBERS(NAME) NULL};
static const axle__metric_fn class_functions[] = {OF_CLASSES(FUNCTION)};
static const axle__metric_fn label_set_functions[] = {OF_LABEL_SETS(FUNCTION)};
static const axle__metric_fn number_functions[] = {OF_NUMBERS(FUNCTION)};

static const char *const *const names[] = {class_names, label_set_names, number_names};
static const axle__metric_fn *const functions[] = {class_functions, label_set_functions,
                                                   number_functions};

const char *const *axle__metric_names(int kind)
{
    return names[kind];
}

axle__metric_fn axle__metric_function(int kind, int number)
{
    return functions[kind][number];
}
