/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ema.h
 * Exponential moving averages of parameters (Polyak and Juditsky, 1992).
 *
 *     axle_ema *ema;
 *     axle_prepare(acc, model, opt, loader);
 *     axle_ema_create(axle_model_module(model), 0.999, NULL, &ema);
 *     ...
 *         axle_optimizer_step(opt);
 *         axle_ema_update(ema, opt);
 *     ...
 *     axle_ema_swap(ema);      the model has the averages
 *     evaluate(model);
 *     axle_ema_swap(ema);      and its own parameters again
 *
 * After each update average = decay * average + (1 - decay) * parameter. Averages begin as copies
 * of the parameters, and lie on the device in the layout of the optimizer's arena, so that an
 * update is one operator. Parameters that are frozen when the averages are made have none. Buffers
 * are not averaged: a model that holds the averages has the buffers of its last forward pass.
 *
 * Checkpoints have them where axle_register_ema() said so (axle/checkpoint.h).
 *
 * In a job of several processes parameters are equal, and so are the averages. With local SGD the
 * parameters are taken in where the processes have just averaged theirs.
 */
#ifndef AXLE_EMA_H
#define AXLE_EMA_H

#include "axle/optim.h"

AXLE_BEGIN_DECLS

typedef struct axle_ema axle_ema;

/** Starts from AXLE_EMA_OPTIONS_INIT. */
typedef struct axle_ema_options {
    size_t struct_size;
    /** Let update t, from 1, use min(decay, (1 + t) / (10 + t)), so that the first parameters count
     * less; TensorFlow's ExponentialMovingAverage with num_updates. */
    int warmup;
} axle_ema_options;
#define AXLE_EMA_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(axle_ema_options), 0                                                                \
    }

/**
 * Begin averages, after axle_prepare().
 * @param module   retained.
 * @param decay    in [0, 1).
 * @param options  NULL for the defaults.
 */
AXLE_API int axle_ema_create(axle_module *module, double decay, const axle_ema_options *options,
                             axle_ema **out);
/** Swaps back first where that was forgotten. NULL is fine. */
AXLE_API void axle_ema_release(axle_ema *ema);

/**
 * Take the parameters in. With @p optimizer only where its last step made an update: a call inside
 * an accumulation window, after a skipped update, or a second one after the same update does
 * nothing. @param optimizer  borrowed; NULL: always. AXLE_ERR_STATE while swapped.
 */
AXLE_API int axle_ema_update(axle_ema *ema, const axle_optimizer *optimizer);
/** Number of updates taken in. */
AXLE_API int64_t axle_ema_updates(const axle_ema *ema);

/** Exchange averages and parameters, bit by bit; again brings them back. Do not train between. */
AXLE_API int axle_ema_swap(axle_ema *ema);
/** Whether the module holds the averages. */
AXLE_API int axle_ema_swapped(const axle_ema *ema);
/** Average of a parameter by path, in its dims; borrowed until the next call for this object.
 * While swapped: the parameter's own value. NULL if there is none (and no error is recorded). */
AXLE_API axle_tensor *axle_ema_average(const axle_ema *ema, const char *path);

AXLE_END_DECLS

#endif
