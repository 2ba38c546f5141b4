/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "heads.h"

/* ------------------------------------------------------------------ sequences */

static axle_tensor *cross_entropy(const axle__network *network, axle_tensor *logits,
                                  axle_tensor *labels)
{
    (void)network;
    return axle_cross_entropy(logits, labels, NULL);
}

static axle_tensor *binary(const axle__network *network, axle_tensor *logits, axle_tensor *labels)
{
    (void)network;
    return axle_bce_with_logits(logits, axle_cast(labels, axle_tensor_dtype(logits)), NULL, NULL,
                                AXLE_LOSS_MEAN);
}

/* One number a row may come as (N) or (N, 1). */
static axle_tensor *regression(const axle__network *network, axle_tensor *logits,
                               axle_tensor *labels)
{
    labels = axle_cast(labels, axle_tensor_dtype(logits));
    if (network->labels == 1) {
        int64_t rows = axle_tensor_dim(logits, 0);
        logits = axle_reshape(logits, 1, &rows);
        labels = axle_reshape(labels, 1, &rows);
    }
    return axle_mse_loss(logits, labels, AXLE_LOSS_MEAN);
}

typedef axle_tensor *(*loss_fn)(const axle__network *network, axle_tensor *logits,
                                axle_tensor *labels);

static const struct {
    const char *problem;
    loss_fn fn;
} problems[] = {
    {"single_label_classification", cross_entropy},
    {"multi_label_classification", binary},
    {"regression", regression},
};

static loss_fn problem_of(const axle__network *network, const axle_tensor *labels)
{
    const char *wanted = axle_transformer_config_get_string(network->config, "problem_type");
    for (size_t k = 0; k < sizeof(problems) / sizeof(problems[0]) && wanted; k++)
        if (strcmp(problems[k].problem, wanted) == 0)
            return problems[k].fn;
    if (wanted) {
        axle_error_set(AXLE_ERR_UNSUPPORTED, "config.json: there is no problem_type '%.60s'",
                       wanted);
        return NULL;
    }
    if (network->labels == 1)
        return regression;
    return axle_tensor_rank(labels) == 1 && !axle_dtype_is_float(axle_tensor_dtype(labels))
               ? cross_entropy
               : binary;
}

axle_tensor *axle__sequence_loss(const axle__network *network, axle_tensor *logits,
                                 axle_tensor *labels)
{
    loss_fn fn = problem_of(network, labels);
    return fn ? fn(network, logits, labels) : NULL;
}

/* ------------------------------------------------------------------ tokens */

axle_tensor *axle__token_loss(const axle__network *network, axle_tensor *logits,
                              axle_tensor *labels)
{
    (void)network;
    if (axle_tensor_rank(labels) != 2) {
        axle_error_set(AXLE_ERR_SHAPE, "transformer: labels of the batch are not (N, T)");
        return NULL;
    }
    return axle_cross_entropy(axle_flatten(logits, 0, 1), axle_flatten(labels, 0, 1), NULL);
}

int axle__token_weight(axle_tensor *labels, double *out)
{
    double value = 0.0;
    if (axle_scope_push())
        return axle_error_code();
    axle_tensor *ignored = axle_scalar(axle_tensor_dtype(labels), -100.0);
    ignored = axle_to_device(ignored, axle_tensor_device(labels));
    axle_tensor *counted = axle_sum_all(axle_cast(axle_ne(labels, ignored), AXLE_DTYPE_F32));
    int status = counted ? axle_tensor_item(counted, &value) : axle_error_code();
    axle_scope_pop();
    if (!status)
        *out = value;
    return status;
}

/* ------------------------------------------------------------------ next tokens */

/* (N, T): all but the first of each row; NULL and an error where there is none. */
static axle_tensor *following(axle_tensor *labels)
{
    if (axle_tensor_rank(labels) != 2) {
        axle_error_set(AXLE_ERR_SHAPE, "transformer: labels of the batch are not (N, T)");
        return NULL;
    }
    return axle_slice(labels, 1, 1, axle_tensor_dim(labels, 1), 1);
}

axle_tensor *axle__causal_loss(const axle__network *network, axle_tensor *logits,
                               axle_tensor *labels)
{
    axle_tensor *next = following(labels);
    if (!next)
        return NULL;
    return axle__token_loss(network, axle_slice(logits, 1, 0, axle_tensor_dim(next, 1), 1), next);
}

int axle__causal_weight(axle_tensor *labels, double *out)
{
    if (axle_scope_push())
        return axle_error_code();
    axle_tensor *next = following(labels);
    int status = next ? axle__token_weight(next, out) : axle_error_code();
    axle_scope_pop();
    return status;
}
