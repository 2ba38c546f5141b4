/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file optim.h
 * Optimizers and learning-rate schedules, as in torch.optim and transformers.
 *
 *     axle_adamw_options options = AXLE_ADAMW_OPTIONS_INIT;
 *     options.lr = 2e-5;
 *     axle_optimizer *opt;
 *     axle_scheduler *sched;
 *     axle_adamw_create(axle_model_module(model), &options, &opt);
 *     axle_linear_schedule_create(opt, warmup, total, &sched);
 *
 * axle_prepare(), or else the first step, moves parameters and gradients into flat arenas; handles
 * stay valid and their values are unchanged. A parameter that has no gradient is left alone by a
 * step: no decay, no moment, no step count.
 */
#ifndef AXLE_OPTIM_H
#define AXLE_OPTIM_H

#include <math.h> /* NAN */

#include "axle/nn.h"

AXLE_BEGIN_DECLS

typedef struct axle_optimizer axle_optimizer;

/* ------------------------------------------------------------------ optimizers
 *
 * @param module  whose parameters (all that require gradients) form the first group; NULL: none
 * yet.
 * @param options NULL for the defaults. */

/** Starts from AXLE_SGD_OPTIONS_INIT. */
typedef struct axle_sgd_options {
    size_t struct_size;
    double lr, momentum, dampening, weight_decay;
    int nesterov, maximize;
} axle_sgd_options;
#define AXLE_SGD_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(axle_sgd_options), 1e-3, 0.0, 0.0, 0.0, 0, 0                                        \
    }
AXLE_API int axle_sgd_create(axle_module *module, const axle_sgd_options *options,
                             axle_optimizer **out);

/** Starts from AXLE_ADAM_OPTIONS_INIT. weight_decay adds to the gradient. (Kingma and Ba, 2015.) */
typedef struct axle_adam_options {
    size_t struct_size;
    double lr, beta1, beta2, eps, weight_decay;
    int amsgrad, maximize;
} axle_adam_options;
#define AXLE_ADAM_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(axle_adam_options), 1e-3, 0.9, 0.999, 1e-8, 0.0, 0, 0                               \
    }
AXLE_API int axle_adam_create(axle_module *module, const axle_adam_options *options,
                              axle_optimizer **out);
/** Decoupled weight decay (Loshchilov and Hutter, 2019); options as for Adam. */
typedef axle_adam_options axle_adamw_options;
#define AXLE_ADAMW_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(axle_adam_options), 1e-3, 0.9, 0.999, 1e-8, 1e-2, 0, 0                              \
    }
AXLE_API int axle_adamw_create(axle_module *module, const axle_adamw_options *options,
                               axle_optimizer **out);

/** Starts from AXLE_RMSPROP_OPTIONS_INIT. */
typedef struct axle_rmsprop_options {
    size_t struct_size;
    double lr, alpha, eps, weight_decay, momentum;
    int centered, maximize;
} axle_rmsprop_options;
#define AXLE_RMSPROP_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(axle_rmsprop_options), 1e-2, 0.99, 1e-8, 0.0, 0.0, 0, 0                             \
    }
AXLE_API int axle_rmsprop_create(axle_module *module, const axle_rmsprop_options *options,
                                 axle_optimizer **out);

AXLE_API axle_optimizer *axle_optimizer_retain(axle_optimizer *optimizer);
AXLE_API void axle_optimizer_release(axle_optimizer *optimizer);

/* ------------------------------------------------------------------ groups */

/** What a group overrides; NAN keeps the optimizer's value. */
typedef struct axle_group_options {
    size_t struct_size;
    double lr, weight_decay;
} axle_group_options;
#define AXLE_GROUP_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(axle_group_options), NAN, NAN                                                       \
    }

/**
 * Move the parameters whose name matches @p pattern (shell wildcards: "*.bias", "*LayerNorm.*")
 * into a group of their own. Before the first step. AXLE_ERR_NOT_FOUND if none matches.
 */
AXLE_API int axle_optimizer_group_by_name(axle_optimizer *optimizer, const char *pattern,
                                          const axle_group_options *options);
/** Add parameters as a new group. @param tensors  n leaves that require gradients; retained. */
AXLE_API int axle_optimizer_add_group(axle_optimizer *optimizer, axle_tensor *const *tensors, int n,
                                      const axle_group_options *options);
AXLE_API int axle_optimizer_group_count(const axle_optimizer *optimizer);
/** Learning rate of a group; NAN and AXLE_ERR_INDEX if there is none. */
AXLE_API double axle_optimizer_lr(const axle_optimizer *optimizer, int group);
AXLE_API int axle_optimizer_set_lr(axle_optimizer *optimizer, int group, double lr);

/* ------------------------------------------------------------------ steps */

/** Forget the gradients. A no-op inside an accumulation window. */
AXLE_API int axle_optimizer_zero_grad(axle_optimizer *optimizer);
/** Update the parameters that have a gradient. A no-op inside an accumulation window. */
AXLE_API int axle_optimizer_step(axle_optimizer *optimizer);
/** Whether the last step was skipped because gradients were not finite, which happens to optimizers
 * of an fp16 accelerator (see accelerator.h). Nothing changed then, and a schedule's tick after it
 * does nothing. */
AXLE_API int axle_optimizer_step_was_skipped(const axle_optimizer *optimizer);
/** Number of updates done. */
AXLE_API int64_t axle_optimizer_updates(const axle_optimizer *optimizer);

/** Scale gradients so that their joint 2-norm is at most @p max_norm: factor max_norm / (norm +
 * 1e-6) where that is below 1. @param norm  norm before; NULL if not wanted. */
AXLE_API int axle_optimizer_clip_norm(axle_optimizer *optimizer, double max_norm, double *norm);
/** Clip each gradient element to [-limit, limit]. */
AXLE_API int axle_optimizer_clip_value(axle_optimizer *optimizer, double limit);

/* ------------------------------------------------------------------ schedules
 *
 * A schedule multiplies each group's initial learning rate by a factor of the number of ticks so
 * far; creating it sets the factor of tick 0. The optimizer is retained. */

typedef struct axle_scheduler axle_scheduler;

/** Factor at a tick. */
typedef double (*axle_schedule_fn)(int64_t tick, void *user);

AXLE_API int axle_lambda_schedule_create(axle_optimizer *optimizer, axle_schedule_fn fn, void *user,
                                         axle_scheduler **out);
/** Factor 1, after @p warmup ticks from 0 up. */
AXLE_API int axle_constant_schedule_create(axle_optimizer *optimizer, int64_t warmup,
                                           axle_scheduler **out);
/** gamma ^ floor(tick / step_size). */
AXLE_API int axle_step_schedule_create(axle_optimizer *optimizer, int64_t step_size, double gamma,
                                       axle_scheduler **out);
/** gamma ^ (number of milestones up to the tick). @param milestones  n ticks that do not fall,
 * copied. (PyTorch's MultiStepLR.) */
AXLE_API int axle_multi_step_schedule_create(axle_optimizer *optimizer, const int64_t *milestones,
                                             int n, double gamma, axle_scheduler **out);
/** gamma ^ tick. */
AXLE_API int axle_exponential_schedule_create(axle_optimizer *optimizer, double gamma,
                                              axle_scheduler **out);
/** From 0 to 1 in warmup ticks, then down to 0 at tick total. */
AXLE_API int axle_linear_schedule_create(axle_optimizer *optimizer, int64_t warmup, int64_t total,
                                         axle_scheduler **out);
/** The same with half a cosine downwards (cycles 0.5); cycles counts whole waves. */
AXLE_API int axle_cosine_schedule_create(axle_optimizer *optimizer, int64_t warmup, int64_t total,
                                         double cycles, axle_scheduler **out);
/** Cosine that starts again from 1 @p cycles times. */
AXLE_API int axle_cosine_restarts_schedule_create(axle_optimizer *optimizer, int64_t warmup,
                                                  int64_t total, int cycles, axle_scheduler **out);
/** From 1 down to end_factor as (1 - progress)^power; after warm-up. */
AXLE_API int axle_polynomial_schedule_create(axle_optimizer *optimizer, int64_t warmup,
                                             int64_t total, double power, double end_factor,
                                             axle_scheduler **out);
/** How a factor goes from one value to another. */
enum {
    AXLE_ANNEAL_COSINE = 0, /**< along half a cosine */
    AXLE_ANNEAL_LINEAR = 1  /**< along a straight line */
};
/** Starts from AXLE_ANNEAL_OPTIONS_INIT. */
typedef struct axle_anneal_options {
    size_t struct_size;
    int64_t total;   /**< ticks from the first factor to the last, from 1 */
    double from, to; /**< factors */
    int anneal;      /**< AXLE_ANNEAL_... */
} axle_anneal_options;
#define AXLE_ANNEAL_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(axle_anneal_options), 1, 1.0, 0.0, AXLE_ANNEAL_LINEAR                               \
    }
/** From one factor to another, which stays: PyTorch's LinearLR from start_factor to end_factor, and
 * SWALR from 1 to swa_lr / lr. */
AXLE_API int axle_anneal_schedule_create(axle_optimizer *optimizer,
                                         const axle_anneal_options *options, axle_scheduler **out);
/** Starts from AXLE_ONE_CYCLE_OPTIONS_INIT; the group's initial rate is the peak. (Smith and Topin,
 * 2018; PyTorch's OneCycleLR without momentum cycling.) */
typedef struct axle_one_cycle_options {
    size_t struct_size;
    int64_t total;
    double rise;                 /**< share of the ticks spent rising */
    double divide, final_divide; /**< initial = peak / divide, last = initial / final_divide */
    int anneal;                  /**< AXLE_ANNEAL_... */
    int three_phase; /**< fall to the initial rate in as many ticks as it rose in, and only then
                        to the last one */
} axle_one_cycle_options;
#define AXLE_ONE_CYCLE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(axle_one_cycle_options), 1, 0.3, 25.0, 1e4, AXLE_ANNEAL_COSINE, 0                   \
    }
AXLE_API int axle_one_cycle_schedule_create(axle_optimizer *optimizer,
                                            const axle_one_cycle_options *options,
                                            axle_scheduler **out);

AXLE_API axle_scheduler *axle_scheduler_retain(axle_scheduler *scheduler);
AXLE_API void axle_scheduler_release(axle_scheduler *scheduler);
/** One tick. A no-op inside an accumulation window and after a skipped update. */
AXLE_API int axle_scheduler_step(axle_scheduler *scheduler);
AXLE_API int64_t axle_scheduler_ticks(const axle_scheduler *scheduler);
AXLE_API int axle_scheduler_set_ticks(axle_scheduler *scheduler, int64_t ticks);

AXLE_END_DECLS

#endif
