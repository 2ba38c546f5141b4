/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics.h
 * Metrics of classifiers and regressions, accumulated over batches and processes (libaxle-models).
 *
 *     axle_metrics *metrics;
 *     double accuracy;
 *     axle_metrics_create(AXLE_METRICS_CLASSES, 2, &metrics);
 *     while (axle_loader_next(loader, &batch)) {
 *         axle_output out = axle_model_forward(model, batch);
 *         axle_metrics_gather(metrics, acc, out.logits, axle_batch_get(batch, "labels"));
 *     }
 *     axle_metrics_value(metrics, "accuracy", &accuracy);
 *
 * Definitions are scikit-learn's: what is undefined, as a precision without predictions, is 0, and
 * macro means leave out classes that neither occur nor are predicted. Correlations with a constant
 * are 0.
 */
#ifndef AXLE_METRICS_H
#define AXLE_METRICS_H

#include "axle/accelerator.h"

AXLE_BEGIN_DECLS

typedef struct axle_metrics axle_metrics;

enum {
    /** One class a row: logits (N, L), L from 2, labels (N) i64 in [0, L). The largest logit is
     * predicted. "accuracy"; "f1" (of class 1 where there are two, else macro), "f1_macro",
     * "precision" and "recall" (likewise), "matthews". */
    AXLE_METRICS_CLASSES = 0,
    /** Any number of labels a row: logits (N, L), labels (N, L) of 0 and 1. Positive logits are
     * predicted. "accuracy" of whole rows; "f1" (micro), "f1_macro", "precision" and "recall"
     * (micro). */
    AXLE_METRICS_LABEL_SETS = 1,
    /** Numbers: outputs (N) or (N, 1), labels alike. "pearson", "spearman" (mean ranks for ties),
     * "mse", "mae". */
    AXLE_METRICS_NUMBERS = 2
};

/** @param labels  L; 1 for numbers. AXLE_ERR_INVALID. */
AXLE_API int axle_metrics_create(int kind, int64_t labels, axle_metrics **out);
/** NULL is fine. */
AXLE_API void axle_metrics_release(axle_metrics *metrics);
/** Forget all rows. */
AXLE_API void axle_metrics_reset(axle_metrics *metrics);
/** Add rows of this process; @param logits, labels  as said above, of any float type and device.
 * Nothing is added on failure: AXLE_ERR_SHAPE, AXLE_ERR_DTYPE, AXLE_ERR_INDEX for a label that
 * there is not, AXLE_ERR_NONFINITE. */
AXLE_API int axle_metrics_add(axle_metrics *metrics, const axle_tensor *logits,
                              const axle_tensor *labels);
/** Add the rows of all processes, each once: axle_gather_for_metrics() of both. All processes call
 * it for every batch of a prepared loader, and all have the same metrics. */
AXLE_API int axle_metrics_gather(axle_metrics *metrics, axle_accelerator *accelerator,
                                 axle_tensor *logits, axle_tensor *labels);
/** Rows added so far. */
AXLE_API int64_t axle_metrics_rows(const axle_metrics *metrics);
/** Names of the metrics of this kind, NULL-terminated; the one to choose models by comes first. */
AXLE_API const char *const *axle_metrics_names(const axle_metrics *metrics);
/** A metric by name. AXLE_ERR_NOT_FOUND, listing what there is; AXLE_ERR_STATE without rows. */
AXLE_API int axle_metrics_value(const axle_metrics *metrics, const char *name, double *out);

AXLE_END_DECLS

#endif
