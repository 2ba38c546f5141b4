/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file accelerator.h
 * The accelerator: one training loop, unchanged on every device.
 *
 *     axle_accelerator *acc;
 *     axle_accelerator_create(NULL, &acc);
 *     axle_prepare(acc, model, opt, loader, sched);
 *     for (int epoch = 0; epoch < 3; epoch++)
 *         while (axle_loader_next(loader, &batch)) {
 *             axle_optimizer_zero_grad(opt);
 *             axle_output out = axle_model_forward(model, batch);
 *             axle_backward(acc, out.loss);
 *             axle_optimizer_step(opt);
 *             axle_scheduler_step(sched);
 *         }
 *
 * axle_prepare() changes the objects in place: parameters, moments and batches move to the device
 * by themselves. With accumulation, zero_grad, step and the schedule's tick do nothing until a
 * window ends; windows end after `accumulate` batches and at the loader's end, and the gradient of
 * a window is the mean over all rows in it, however they are spread over batches.
 *
 * Not thread-safe: one thread drives an accelerator.
 */
#ifndef AXLE_ACCELERATOR_H
#define AXLE_ACCELERATOR_H

#include "axle/autograd.h"
#include "axle/group.h"
#include "axle/model.h"
#include "axle/optim.h"

AXLE_BEGIN_DECLS

typedef struct axle_accelerator axle_accelerator;

/** Starts from AXLE_ACCELERATOR_OPTIONS_INIT. */
typedef struct axle_accelerator_options {
    size_t struct_size;
    const char *backend; /**< as AXLE_BACKEND; NULL: that variable */
    int accumulate;      /**< batches a window; 0: AXLE_ACCUMULATE, else 1 */
    double clip_norm;    /**< clip gradients to this 2-norm in every update; 0: do not */
    double clip_value;   /**< clip gradient elements to this; 0: do not */
    int quiet;           /**< do not log the plan line */
    int allow_nonfinite; /**< let axle_backward() take a loss that is NaN or infinite */
    /** Each process updates its own part of the parameters, and holds moments for it alone; the
     * numbers are the same (ZeRO, stage 1). A gradient read after backward is then the mean over
     * the processes in that part only. */
    int shard_optimizer;
    /** Element type in which gradients travel between processes: AXLE_DTYPE_BF16 or AXLE_DTYPE_F16
     * for half the bytes at some loss of precision; 0: their own. */
    int wire_dtype;
} axle_accelerator_options;
#define AXLE_ACCELERATOR_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(axle_accelerator_options), NULL, 0, 0.0, 0.0, 0, 0, 0, 0                            \
    }

/** Open the device. @param options  NULL for the defaults. */
AXLE_API int axle_accelerator_create(const axle_accelerator_options *options,
                                     axle_accelerator **out);
/** Leave the job in order: an error where another process still computes, as when its loop was
 * longer. The accelerator then stands for this process alone. */
AXLE_API int axle_end_training(axle_accelerator *accelerator);
/** Prepared objects stay usable; ends the training, where that was not done. NULL is fine. */
AXLE_API void axle_accelerator_release(axle_accelerator *accelerator);

/**
 * Take over models, modules, optimizers, loaders and schedulers, in any order and as often as
 * wanted; preparing an object again changes nothing. Logs the plan once a loader is among them: `8
 * x 1 processes x 4 accumulation = 32 per update; 1875 updates an epoch; f32; onednn: AMD EPYC`.
 * @param objects  NULL-terminated; borrowed (loops keep their references).
 * @return AXLE_OK; AXLE_ERR_INVALID for a handle of another kind, named with its position.
 */
AXLE_API int axle_prepare_objects(axle_accelerator *accelerator, void *const *objects);
#define axle_prepare(accelerator, ...)                                                             \
    axle_prepare_objects(accelerator, (void *const[]){__VA_ARGS__, NULL})

/** Backward of a loss that is a mean over the batch's rows. A loss that is not finite is
 *  AXLE_ERR_NONFINITE and changes nothing. */
AXLE_API int axle_backward(axle_accelerator *accelerator, axle_tensor *loss);
/** The same for a mean over @p weight terms (tokens, rows): windows weigh their batches by it. */
AXLE_API int axle_backward_weighted(axle_accelerator *accelerator, axle_tensor *loss,
                                    double weight);

/** Batches a window. */
AXLE_API int axle_accumulate_count(const axle_accelerator *accelerator);
/** Whether the batch under way ends a window, so that the optimizer will step. */
AXLE_API int axle_is_update(const axle_accelerator *accelerator);
/** Clip now instead of in the step; a no-op inside a window, and only once an update.
 *  @param norm  norm before; NULL if not wanted. */
AXLE_API int axle_clip_norm(axle_accelerator *accelerator, axle_optimizer *optimizer,
                            double max_norm, double *norm);

AXLE_API axle_device *axle_accelerator_device(const axle_accelerator *accelerator);
AXLE_API int axle_process_count(const axle_accelerator *accelerator);
AXLE_API int axle_process_index(const axle_accelerator *accelerator);
AXLE_API int axle_is_main_process(const axle_accelerator *accelerator);
/** Among the processes of this host. */
AXLE_API int axle_local_process_index(const axle_accelerator *accelerator);
AXLE_API int axle_is_local_main_process(const axle_accelerator *accelerator);
/** The plan line; "" before a loader was prepared. Borrowed. */
AXLE_API const char *axle_accelerator_plan(const axle_accelerator *accelerator);
/** Move a tensor or a batch that came from elsewhere. */
AXLE_API axle_tensor *axle_accelerator_place(axle_accelerator *accelerator, axle_tensor *tensor);

/* ------------------------------------------------------------------ processes */

/** The group of the job's processes; of one, where there is no job. Borrowed. */
AXLE_API axle_group *axle_accelerator_group(const axle_accelerator *accelerator);
/** Wait for everyone. */
AXLE_API int axle_wait_for_everyone(axle_accelerator *accelerator);
/** The rows of all processes, in order; see axle_all_gather(). */
AXLE_API axle_tensor *axle_accelerator_gather(axle_accelerator *accelerator, axle_tensor *tensor);
/** The same for what was computed from the batch under way: each sample is there once. */
AXLE_API axle_tensor *axle_gather_for_metrics(axle_accelerator *accelerator, axle_tensor *tensor);
/** A new tensor, combined over all processes. @param op  as in axle_all_reduce(). */
AXLE_API axle_tensor *axle_accelerator_reduce(axle_accelerator *accelerator, axle_tensor *tensor,
                                              int op);
/** Pad dim @p dim to the longest of all processes with @p value, at its end or its beginning. */
AXLE_API axle_tensor *axle_pad_across_processes(axle_accelerator *accelerator, axle_tensor *tensor,
                                                int dim, double value, int pad_first);
/** sum(weight * value) / sum(weight) over all processes; 0 where there is no weight. */
AXLE_API int axle_weighted_mean(axle_accelerator *accelerator, double value, double weight,
                                double *out);
/** This process's part of @p n items: [*first, *first + *count). The first n mod P processes have
 * one more. */
AXLE_API void axle_split_between_processes(const axle_accelerator *accelerator, int64_t n,
                                           int64_t *first, int64_t *count);
/** Let the main process (of the host, where @p local) go first: between these two calls it runs
 * while the others wait. */
AXLE_API int axle_main_process_first_begin(axle_accelerator *accelerator, int local);
AXLE_API int axle_main_process_first_end(axle_accelerator *accelerator, int local);
/** Set a flag that every process sees at its next axle_check_trigger(), which resets it. */
AXLE_API void axle_set_trigger(axle_accelerator *accelerator);
/** @param out  whether any process set the flag. */
AXLE_API int axle_check_trigger(axle_accelerator *accelerator, int *out);
/** Print to standard output on the main process only. */
AXLE_API void axle_print(const axle_accelerator *accelerator, const char *format, ...)
    AXLE_PRINTF(2, 3);

#ifndef AXLE_NO_CALL_SITES
#define axle_backward(...) (AXLE_HERE, axle_backward(__VA_ARGS__))
#define axle_backward_weighted(...) (AXLE_HERE, axle_backward_weighted(__VA_ARGS__))
#define axle_end_training(...) (AXLE_HERE, axle_end_training(__VA_ARGS__))
#define axle_wait_for_everyone(...) (AXLE_HERE, axle_wait_for_everyone(__VA_ARGS__))
#define axle_accelerator_gather(...) (AXLE_HERE, axle_accelerator_gather(__VA_ARGS__))
#define axle_gather_for_metrics(...) (AXLE_HERE, axle_gather_for_metrics(__VA_ARGS__))
#define axle_accelerator_reduce(...) (AXLE_HERE, axle_accelerator_reduce(__VA_ARGS__))
#define axle_weighted_mean(...) (AXLE_HERE, axle_weighted_mean(__VA_ARGS__))
#define axle_check_trigger(...) (AXLE_HERE, axle_check_trigger(__VA_ARGS__))
#endif

AXLE_END_DECLS

#endif
