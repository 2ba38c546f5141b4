/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "evaluate.h"

#include <math.h>
#include <string.h>

#include "axle/autograd.h"
#include "interrupt.h"
#include "mean.h"

/* Processes step together, so one without a row computes its dummy's, which does not count. */
static int evaluate_batch(const evaluation_of *subject, axle_batch *batch, axle_metrics *metrics,
                          mean *losses)
{
    double loss;
    axle_output out = axle_model_forward(subject->model, batch);
    int code = axle_metrics_gather(metrics, subject->accelerator, out.logits,
                                   axle_batch_get(batch, subject->field));
    if (!code)
        code = axle_tensor_item(out.loss, &loss);
    if (code)
        return code;
    if (axle_batch_weight(batch) > 0)
        mean_add(losses, loss, axle_batch_rows(batch));
    return interrupt_signal() ? AXLE_ERR_INTERRUPTED : AXLE_OK;
}

static int evaluate_all(const evaluation_of *subject, axle_metrics *metrics, double *loss)
{
    mean losses = {0.0, 0.0, 0, 0};
    axle_batch *batch;
    while (axle_loader_next(subject->loader, &batch)) {
        int code = evaluate_batch(subject, batch, metrics, &losses);
        if (code) {
            axle_loader_break(subject->loader);
            return code;
        }
    }
    int code = axle_loader_status(subject->loader);
    return code ? code : mean_of_all(subject->accelerator, &losses, loss);
}

/* How many of a kind's metrics, which stand in the order of their weight, people are told. */
static int shown_of(int kind, int64_t labels)
{
    return kind == AXLE_METRICS_CLASSES && labels > 2 ? 1 : 2;
}

static int read_metrics(const axle_metrics *metrics, evaluation *out)
{
    const char *const *names = axle_metrics_names(metrics);
    out->rows = axle_metrics_rows(metrics);
    for (out->count = 0; names[out->count] && out->count < EVALUATION_MOST; out->count++) {
        int code = axle_metrics_value(metrics, names[out->count], &out->value[out->count]);
        if (code)
            return code;
        out->name[out->count] = names[out->count];
    }
    return AXLE_OK;
}

int evaluate(const evaluation_of *subject, evaluation *out)
{
    axle_metrics *metrics;
    evaluation result = {.shown = shown_of(subject->kind, subject->labels)};
    axle_module *module = axle_model_module(subject->model);
    int code = axle_metrics_create(subject->kind, subject->labels, &metrics);
    if (code)
        return code;
    axle_module_train(module, 0);
    axle_no_grad_push();
    code = evaluate_all(subject, metrics, &result.loss);
    axle_no_grad_pop();
    axle_module_train(module, 1);
    if (!code)
        code = read_metrics(metrics, &result);
    axle_metrics_release(metrics);
    if (!code)
        *out = result;
    return code;
}

double evaluation_value(const evaluation *evaluation, const char *name)
{
    for (int k = 0; k < evaluation->count; k++)
        if (strcmp(evaluation->name[k], name) == 0)
            return evaluation->value[k];
    return NAN;
}

void evaluation_print(const evaluation *evaluation, FILE *to)
{
    fprintf(to, "loss %.4f", evaluation->loss);
    for (int k = 0; k < evaluation->count && k < evaluation->shown; k++)
        fprintf(to, ", %s %.4f", evaluation->name[k], evaluation->value[k]);
}

json_t *evaluation_describe(const evaluation *evaluation)
{
    json_t *object = json_object();
    int wrong = !object;
    for (int k = 0; k < evaluation->count && !wrong; k++)
        wrong = json_object_set_new(object, evaluation->name[k], json_real(evaluation->value[k]));
    if (!wrong)
        return object;
    json_decref(object);
    return NULL;
}
