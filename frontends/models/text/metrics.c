/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/autograd.h"
#include "axle/ops.h"
#include "axle/status.h"

/* Beyond that a number of labels is a mistake. */
enum { MOST_LABELS = 1 << 24 };

int axle_metrics_create(int kind, int64_t labels, axle_metrics **out)
{
    int64_t least = kind == AXLE_METRICS_CLASSES ? 2 : 1;
    if (kind < AXLE_METRICS_CLASSES || kind > AXLE_METRICS_NUMBERS || !out)
        return axle_error_set(AXLE_ERR_INVALID, "metrics: kind %d%s", kind,
                              out ? "" : ", and the place for them is NULL");
    if (labels < least || labels > (kind == AXLE_METRICS_NUMBERS ? 1 : MOST_LABELS))
        return axle_error_set(AXLE_ERR_INVALID, "metrics: %lld labels", (long long)labels);
    axle_metrics *metrics = calloc(1, sizeof(*metrics));
    if (metrics)
        metrics->hits = calloc(3 * (size_t)labels, sizeof(*metrics->hits));
    if (!metrics || !metrics->hits) {
        free(metrics);
        return axle_error_set(AXLE_ERR_NOMEM, "metrics: no memory for %lld labels",
                              (long long)labels);
    }
    metrics->kind = kind;
    metrics->labels = labels;
    metrics->predicted = metrics->hits + labels;
    metrics->actual = metrics->predicted + labels;
    *out = metrics;
    return AXLE_OK;
}

void axle_metrics_release(axle_metrics *metrics)
{
    if (!metrics)
        return;
    free(metrics->hits);
    free(metrics->outputs);
    free(metrics->targets);
    free(metrics);
}

void axle_metrics_reset(axle_metrics *metrics)
{
    if (!metrics)
        return;
    metrics->rows = metrics->correct = 0;
    memset(metrics->hits, 0, 3 * (size_t)metrics->labels * sizeof(*metrics->hits));
}

int64_t axle_metrics_rows(const axle_metrics *metrics)
{
    return metrics ? metrics->rows : 0;
}

/* ------------------------------------------------------------------ adding rows */

static int add_classes(axle_metrics *m, const float *logits, const float *labels, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (!(labels[k] >= 0.0F && labels[k] < (float)m->labels))
            return axle_error_set(AXLE_ERR_INDEX,
                                  "metrics: label %.0f of row %lld must lie in [0, %lld)",
                                  (double)labels[k], (long long)k, (long long)m->labels);
    for (int64_t k = 0; k < n; k++) {
        const float *row = logits + k * m->labels;
        int64_t best = 0, actual = (int64_t)labels[k];
        for (int64_t j = 1; j < m->labels; j++)
            if (row[j] > row[best])
                best = j;
        m->predicted[best]++;
        m->actual[actual]++;
        m->hits[best] += best == actual;
        m->correct += best == actual;
    }
    return AXLE_OK;
}

static int add_label_sets(axle_metrics *m, const float *logits, const float *labels, int64_t n)
{
    for (int64_t k = 0; k < n * m->labels; k++)
        if (labels[k] != 0.0F && labels[k] != 1.0F)
            return axle_error_set(AXLE_ERR_INDEX, "metrics: a label is %g, and must be 0 or 1",
                                  (double)labels[k]);
    for (int64_t k = 0; k < n; k++) {
        int64_t right = 0;
        for (int64_t j = 0; j < m->labels; j++) {
            int predicted = logits[k * m->labels + j] > 0.0F;
            int actual = labels[k * m->labels + j] > 0.0F;
            m->predicted[j] += predicted;
            m->actual[j] += actual;
            m->hits[j] += predicted && actual;
            right += predicted == actual;
        }
        m->correct += right == m->labels;
    }
    return AXLE_OK;
}

static int make_room(axle_metrics *m, int64_t rows)
{
    if (rows <= m->room)
        return AXLE_OK;
    int64_t room = 2 * m->room > rows ? 2 * m->room : rows;
    double *outputs = realloc(m->outputs, (size_t)room * sizeof(*outputs));
    if (outputs)
        m->outputs = outputs;
    double *targets = realloc(m->targets, (size_t)room * sizeof(*targets));
    if (targets)
        m->targets = targets;
    if (!outputs || !targets)
        return axle_error_set(AXLE_ERR_NOMEM, "metrics: no memory for %lld rows", (long long)room);
    m->room = room;
    return AXLE_OK;
}

static int add_numbers(axle_metrics *m, const float *outputs, const float *targets, int64_t n)
{
    int code = make_room(m, m->rows + n);
    for (int64_t k = 0; !code && k < n; k++) {
        m->outputs[m->rows + k] = (double)outputs[k];
        m->targets[m->rows + k] = (double)targets[k];
    }
    return code;
}

static int (*const adders[])(axle_metrics *, const float *, const float *,
                             int64_t) = {add_classes, add_label_sets, add_numbers};

/* Elements as floats on the host, for free(). They are checked to be finite. */
static int read_floats(const char *what, const axle_tensor *tensor, float **out)
{
    int64_t count = axle_tensor_count(tensor);
    float *data = malloc((size_t)count * sizeof(*data) + 1);
    int code = data ? axle_scope_push() : axle_error_set(AXLE_ERR_NOMEM, "metrics: out of memory");
    if (code) {
        free(data);
        return code;
    }
    axle_no_grad_push();
    axle_tensor *cast = axle_cast((axle_tensor *)(uintptr_t)tensor, AXLE_DTYPE_F32);
    code = cast ? axle_tensor_read(cast, data, (size_t)count * sizeof(*data)) : axle_error_code();
    axle_no_grad_pop();
    axle_scope_pop();
    for (int64_t k = 0; !code && k < count; k++)
        if (!isfinite(data[k]))
            code = axle_error_set(AXLE_ERR_NONFINITE, "metrics: %s are not finite", what);
    if (code)
        free(data);
    else
        *out = data;
    return code;
}

static int wrong_shape(const axle_metrics *m, const axle_tensor *logits, const axle_tensor *labels)
{
    return axle_error_set(AXLE_ERR_SHAPE,
                          "metrics: outputs of %d dims and %lld elements, labels of %d dims and "
                          "%lld elements, for %lld labels a row",
                          axle_tensor_rank(logits), (long long)axle_tensor_count(logits),
                          axle_tensor_rank(labels), (long long)axle_tensor_count(labels),
                          (long long)m->labels);
}

/* Rows, once the shapes agree. */
static int check_shapes(const axle_metrics *m, const axle_tensor *logits, const axle_tensor *labels,
                        int64_t *rows)
{
    if (axle_tensor_rank(logits) < 1 || axle_tensor_rank(labels) < 1)
        return wrong_shape(m, logits, labels);
    int64_t n = axle_tensor_dims(logits)[0];
    int64_t wide = m->kind == AXLE_METRICS_LABEL_SETS ? m->labels : 1;
    if (axle_tensor_dims(labels)[0] != n || axle_tensor_count(logits) != n * m->labels ||
        axle_tensor_count(labels) != n * wide)
        return wrong_shape(m, logits, labels);
    if (!axle_dtype_is_float(axle_tensor_dtype(logits)))
        return axle_error_set(AXLE_ERR_DTYPE, "metrics: outputs are %s",
                              axle_dtype_name(axle_tensor_dtype(logits)));
    *rows = n;
    return AXLE_OK;
}

int axle_metrics_add(axle_metrics *metrics, const axle_tensor *logits, const axle_tensor *labels)
{
    float *outputs = NULL, *targets = NULL;
    int64_t rows = 0;
    if (!metrics || !logits || !labels) {
        /* What is NULL may be the result of an operator, whose error stands. */
        axle_error_set(AXLE_ERR_INVALID, "metrics: %s NULL",
                       !metrics  ? "they are"
                       : !logits ? "the outputs are"
                                 : "the labels are");
        return axle_error_code();
    }
    int code = check_shapes(metrics, logits, labels, &rows);
    if (!code)
        code = read_floats("outputs", logits, &outputs);
    if (!code)
        code = read_floats("labels", labels, &targets);
    if (!code)
        code = adders[metrics->kind](metrics, outputs, targets, rows);
    if (!code)
        metrics->rows += rows;
    free(outputs);
    free(targets);
    return code;
}

int axle_metrics_gather(axle_metrics *metrics, axle_accelerator *accelerator, axle_tensor *logits,
                        axle_tensor *labels)
{
    int code = axle_scope_push();
    if (code)
        return code;
    axle_no_grad_push();
    axle_tensor *all = axle_gather_for_metrics(accelerator, logits);
    axle_tensor *targets = axle_gather_for_metrics(accelerator, labels);
    code = axle_metrics_add(metrics, all, targets);
    axle_no_grad_pop();
    axle_scope_pop();
    return code;
}

/* ------------------------------------------------------------------ asking */

const char *const *axle_metrics_names(const axle_metrics *metrics)
{
    if (metrics)
        return axle__metric_names(metrics->kind);
    axle_error_set(AXLE_ERR_INVALID, "metrics: they are NULL");
    return NULL;
}

static int unknown(const char *const *names, const char *name)
{
    char list[256] = "";
    for (int k = 0; names[k]; k++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", k ? ", " : "", names[k]);
    return axle_error_set(AXLE_ERR_NOT_FOUND, "metrics: there is no '%s'; there are %s", name,
                          list);
}

int axle_metrics_value(const axle_metrics *metrics, const char *name, double *out)
{
    if (!metrics || !name || !out)
        return axle_error_set(AXLE_ERR_INVALID, "metrics: %s NULL",
                              !metrics ? "they are"
                              : !name  ? "the name is"
                                       : "the place for the value is");
    const char *const *names = axle__metric_names(metrics->kind);
    int number = 0;
    while (names[number] && strcmp(names[number], name) != 0)
        number++;
    if (!names[number])
        return unknown(names, name);
    if (metrics->rows == 0)
        return axle_error_set(AXLE_ERR_STATE, "metrics: '%s' of no rows", name);
    return axle__metric_function(metrics->kind, number)(metrics, out);
}
