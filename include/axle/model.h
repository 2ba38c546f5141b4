/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model.h
 * Models: a module that takes a batch and gives a loss.
 *
 *     axle_model *model;
 *     axle_classifier_create(net, &model);           "input" and "target", cross-entropy
 *     axle_output out = axle_model_forward(model, batch);
 *     axle_backward(acc, out.loss);
 *
 * A model of your own has a function that computes its output from a batch; its parameters are
 * those of its module.
 */
#ifndef AXLE_MODEL_H
#define AXLE_MODEL_H

#include "axle/data.h"
#include "axle/nn.h"

AXLE_BEGIN_DECLS

typedef struct axle_model axle_model;

/** Both of the current scope; both NULL on error. loss is NULL where the batch holds no target. */
typedef struct axle_output {
    axle_tensor *loss;
    axle_tensor *logits;
} axle_output;

/** Compute a batch's output. */
typedef axle_output (*axle_model_fn)(axle_module *module, axle_batch *batch, void *user);

/** @param module  taken over, also on failure. */
AXLE_API int axle_model_create(axle_module *module, axle_model_fn fn, void *user, axle_model **out);
/** Cross-entropy of module("input") and "target". @param module  taken over, also on failure. */
AXLE_API int axle_classifier_create(axle_module *module, axle_model **out);
AXLE_API axle_model *axle_model_retain(axle_model *model);
AXLE_API void axle_model_release(axle_model *model);

AXLE_API axle_output axle_model_forward(axle_model *model, axle_batch *batch);
/** Borrowed. */
AXLE_API axle_module *axle_model_module(const axle_model *model);

AXLE_END_DECLS

#endif
