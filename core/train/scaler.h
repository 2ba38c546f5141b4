/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic loss scale of fp16. Backward begins with the loss's gradient times the scale, so that
 * small gradients survive in f16. When a pass is over after which gradients are means, they
 * are divided by it again: the arenas then hold true gradients, for users and clipping alike. An
 * update whose gradients are not finite, on any process, is skipped, and the scale backs off; after
 * some good updates it grows. Scales are powers of two as long as the options are, so that they
 * cost no digit.
 *
 * While a window collects, its sums are kept small by `share` as well: losses are means over rows,
 * and their weights would otherwise multiply the scale by the number of rows of the window.
 *
 * One scale serves all optimizers of an accelerator; each has a verdict of its own on its
 * gradients. The scale moves once a window at most.
 */
#ifndef AXLE_TRAIN_SCALER_H
#define AXLE_TRAIN_SCALER_H

#include <stdbool.h>

#include "axle/accelerator.h"

typedef struct axle__scaler {
    bool on;
    axle_scaler_options options;
    double scale;
    int64_t good;    /* updates since the scale last moved */
    int64_t skipped; /* windows in which an update was skipped, one after another */
    double share;    /* of the window under way: a power of two, at most 1 */
    bool unscaled;   /* gradients in the arenas are true ones */
    bool stepped, overflowed, settled; /* what happened in the window under way */
} axle__scaler;

/* What an optimizer's gradients are. */
typedef enum axle__verdict {
    AXLE__GRADIENTS_UNKNOWN,
    AXLE__GRADIENTS_FINITE,
    AXLE__GRADIENTS_OVERFLOWED
} axle__verdict;

/* options NULL: the defaults. Off unless `on`. */
int axle__scaler_init(axle__scaler *scaler, bool on, const axle_scaler_options *options);

/* A window begins: settle the last one. `rows` is the number of terms that the window is expected
 * to hold, the same on all processes. */
void axle__scaler_open_window(axle_accelerator *accelerator, double rows);
/* What to multiply the seed of a backward pass by. */
double axle__scaler_factor(const axle_accelerator *accelerator);
/* The share that sums in the arenas were kept small by. */
double axle__scaler_share(const axle_accelerator *accelerator);
/* Before a pass, and after it: gradients that were divided by the scale are multiplied by it while
 * more are added, and divided once they are means. */
int axle__scaler_before_pass(axle_accelerator *accelerator);
int axle__scaler_after_pass(axle_accelerator *accelerator);
/* Whether the gradients of an optimizer overflowed on any process; a collective, the first time
 * since the last pass. */
int axle__scaler_judge(axle_accelerator *accelerator, axle_optimizer *optimizer, bool *overflowed);
/* The optimizer is about to step, or to skip. */
int axle__scaler_before_step(axle_accelerator *accelerator, axle_optimizer *optimizer, bool *skip);

/* ------------------------------------------------------------------ for checkpoints */

typedef struct axle__scaler_state {
    double scale;
    int64_t good, skipped;
} axle__scaler_state;

/* Whether a scale may come back: it is positive and not too large, and counts are not negative. */
bool axle__scaler_is_valid(const axle__scaler_state *state);
/* False where there is no scaler. */
bool axle__scaler_get(const axle_accelerator *accelerator, axle__scaler_state *out);
/* Between windows. AXLE_ERR_INVALID for what is not valid. Without a scaler nothing happens. */
int axle__scaler_set(axle_accelerator *accelerator, const axle__scaler_state *state);

#endif
