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
 * Mixed precision: with `precision` bf16 or fp16 the forward pass of a prepared model or module
 * runs in a region of axle/autocast.h; what it returns is f32 again, and parameters, their
 * gradients and moments are f32 throughout. With fp16 axle_backward() scales the loss, so that
 * small gradients survive, and divides gradients by the scale as soon as a window's last pass is
 * over: what is read after backward, or clipped, is the true gradient. An update whose gradients
 * are not finite on any process is skipped: no parameter, moment, count or schedule changes, the
 * scale falls, and axle_optimizer_step_was_skipped() says so. A loss that is not finite is no error
 * then.
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

/** The loss scale of fp16. Starts from AXLE_SCALER_OPTIONS_INIT. Powers of two cost no digits. */
typedef struct axle_scaler_options {
    size_t struct_size;
    double scale;   /**< to begin with */
    double growth;  /**< factor after `interval` good updates in a row */
    double backoff; /**< factor after a skipped update, however many optimizers skipped it */
    int interval;   /**< updates */
    double least;   /**< the scale never falls below */
    int warn_after; /**< a warning for so many skipped updates in a row, and each so many more */
} axle_scaler_options;
#define AXLE_SCALER_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(axle_scaler_options), 65536.0, 2.0, 0.5, 2000, 5.9604644775390625e-8, 20            \
    }

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
    /** A window ends once the weights of its batches, of all processes, come to this: tokens, say,
     * where axle_backward_weighted() counts them; 0: after `accumulate` batches. Costs a small
     * collective a batch. */
    double accumulate_budget;
    /** Average over the processes after each batch rather than once a window. Gradients read inside
     * a window are then the mean of its batches so far; updates are the same. 0:
     * AXLE_SYNC_EACH_BATCH. */
    int sync_each_batch;
    /** Element type of products: "no" (or "f32"), "bf16" or "fp16"; NULL: AXLE_PRECISION, else that
     * of other living accelerators, else "no". Accelerators that live at the same time have one
     * precision: another is AXLE_ERR_STATE. */
    const char *precision;
    const axle_scaler_options *scaler; /**< of fp16; NULL for the defaults */
    /** Let each process update by its own gradients, and average the parameters over the processes
     * after every so many updates (Stich, 2018, arXiv:1805.09767); 0: sum gradients in each update.
     * Moments stay each process's own. Not together with `shard_optimizer` or `wire_dtype`. See
     * axle_average_parameters(). */
    int local_sgd;
} axle_accelerator_options;
#define AXLE_ACCELERATOR_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(axle_accelerator_options), NULL, 0, 0.0, 0.0, 0, 0, 0, 0, 0.0, 0, NULL, NULL, 0     \
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
 * x 1 process x 4 accumulation = 32 per update; 1875 updates an epoch; f32; onednn: AMD EPYC`.
 * @param objects  NULL-terminated; borrowed (loops keep their references).
 * @return AXLE_OK; AXLE_ERR_INVALID for a handle of another kind, named with its position.
 */
AXLE_API int axle_prepare_objects(axle_accelerator *accelerator, void *const *objects);
#define axle_prepare(accelerator, ...)                                                             \
    axle_prepare_objects(accelerator, (void *const[]){__VA_ARGS__, NULL})

/** Backward of a loss that is a mean over the batch's rows. A loss that is not finite is
 * AXLE_ERR_NONFINITE and changes nothing. In a job all processes get that error, which names the
 * rank, when next they meet; where that is in a backward pass, the window is dropped on all. */
AXLE_API int axle_backward(axle_accelerator *accelerator, axle_tensor *loss);
/**
 * The same for a mean over @p weight terms (tokens, rows): windows weigh their batches by it. The
 * update follows sum(weight * gradient) / sum(weight) over all batches and processes.
 *
 * A batch may have several losses. They add up: each brings weight * gradient to the first sum, and
 * the weight of the batch's first loss alone counts in the second. Losses of equal weights are thus
 * added as they are, and the result does not depend on how rows are spread over batches and
 * processes.
 */
AXLE_API int axle_backward_weighted(axle_accelerator *accelerator, axle_tensor *loss,
                                    double weight);

/** A stretch of the gradients of an optimizer, to be summed over the processes. */
typedef struct axle_comm_bucket {
    size_t struct_size;
    axle_group *group;
    axle_tensor *gradients; /**< (n); borrowed. In: this process's share of the mean. Out: the sum
                               of all shares, the same bits on every process */
    int index, count;       /**< number of the bucket, and how many the optimizer has */
} axle_comm_bucket;
/** @return AXLE_OK, or an error, which becomes that of axle_backward(). */
typedef int (*axle_comm_hook_fn)(const axle_comm_bucket *bucket, void *user);
/**
 * Sum gradients by a function of yours instead of by the collective that is built in:
 *
 *     static int plain(const axle_comm_bucket *bucket, void *user)
 *     {
 *         return axle_all_reduce(bucket->group, bucket->gradients, AXLE_REDUCE_SUM);
 *     }
 *
 * It is called in jobs of several processes, on the thread that runs backward, for each bucket as
 * soon as its gradients are there, in the same order on all processes; what it waits for, backward
 * waits for. Parameters without a gradient count as 0.
 * @param fn  NULL: the collective again. @return AXLE_ERR_INVALID with `wire_dtype`.
 */
AXLE_API int axle_accelerator_set_comm_hook(axle_accelerator *accelerator, axle_comm_hook_fn fn,
                                            void *user);

/** With `local_sgd`: average the parameters now, on all processes together, as before evaluating or
 * saving. Without it parameters are equal, and nothing happens. */
AXLE_API int axle_average_parameters(axle_accelerator *accelerator);

/** Try a batch of that many rows: forward and backward, as in the loop, on new memory. */
typedef int (*axle_batch_size_fn)(int64_t batch, void *user);
/**
 * The first of start, start/2, start/4 ... that fits into memory, on all processes.
 *
 *     static int try(int64_t batch, void *user)
 *     {
 *         axle_tensor *x = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(batch, 1, 28, 28));
 *         return axle_backward(acc, axle_mean_all(axle_module_forward(net, x)));
 *     }
 *     axle_find_batch_size(acc, 1024, try, NULL, &batch);
 *
 * For objects that are prepared already, whose parameters, gradients and moments have their memory.
 * During a trial axle_backward() meets no other process and axle_optimizer_step() does nothing; @p
 * fn must not meet others by itself. Parameters, moments, buffers and random numbers are afterwards
 * what they were, and gradients are forgotten.
 *
 * @param fn  returns AXLE_OK or an error. AXLE_ERR_NOMEM asks for less: caches are given back to
 * the device, and half is tried. Any other error ends the search on all processes.
 * @return AXLE_OK; AXLE_ERR_NOMEM where not even 1 fits; AXLE_ERR_STATE inside a window.
 */
AXLE_API int axle_find_batch_size(axle_accelerator *accelerator, int64_t start,
                                  axle_batch_size_fn fn, void *user, int64_t *out);

/** Batches a window. */
AXLE_API int axle_accumulate_count(const axle_accelerator *accelerator);
/** Whether the batch under way ends a window, so that the optimizer will step. With a budget that
 * is known once its backward ran. */
AXLE_API int axle_is_update(const axle_accelerator *accelerator);
/**
 * A batch of a loop that has no prepared loader: the passes until axle_accumulate_end() are one
 * batch of the window, however many they are and however many models they train. (Without, each
 * axle_backward() is a batch.)
 *
 *     for (int k = 0; k < 100; k++) {
 *         axle_accumulate_begin(acc, generator, critic);
 *         if (k == 99)
 *             axle_accumulate_last(acc);
 *         ...
 *         axle_accumulate_end(acc);
 *     }
 *
 * In a loop over a prepared loader the batch is the loader's, and a block changes nothing; so does
 * a block inside another.
 * @param objects  the models and modules that the block trains, NULL-terminated; prepared.
 * @return AXLE_OK; AXLE_ERR_STATE for one that is not prepared, named with its position.
 */
AXLE_API int axle_accumulate_begin_objects(axle_accelerator *accelerator, void *const *objects);
#define axle_accumulate_begin(accelerator, ...)                                                    \
    axle_accumulate_begin_objects(accelerator, (void *const[]){__VA_ARGS__, NULL})
/** AXLE_ERR_STATE where no block is open. */
AXLE_API int axle_accumulate_end(axle_accelerator *accelerator);
/** The batch under way, or the next one, ends the window however short it is. */
AXLE_API void axle_accumulate_last(axle_accelerator *accelerator);
/**
 * Between these two calls batches are accumulated on this process alone: nothing is sent, and the
 * window does not end before a batch outside. They nest. The same updates are made whatever the
 * number of processes. @return AXLE_ERR_STATE for an end without a beginning.
 */
AXLE_API int axle_no_sync_begin(axle_accelerator *accelerator);
AXLE_API int axle_no_sync_end(axle_accelerator *accelerator);
/** Clip now instead of in the step; a no-op inside a window, and only once an update.
 *  @param norm  norm before; NULL if not wanted. */
AXLE_API int axle_clip_norm(axle_accelerator *accelerator, axle_optimizer *optimizer,
                            double max_norm, double *norm);

/** What the loss is multiplied by in the backward pass to come; 1 but for fp16. */
AXLE_API double axle_loss_scale(const axle_accelerator *accelerator);
/** Whether the last step of any prepared optimizer was skipped because gradients were not finite.
 */
AXLE_API int axle_step_was_skipped(const axle_accelerator *accelerator);

AXLE_API axle_device *axle_accelerator_device(const axle_accelerator *accelerator);
AXLE_API int axle_process_count(const axle_accelerator *accelerator);
AXLE_API int axle_process_index(const axle_accelerator *accelerator);
AXLE_API int axle_is_main_process(const axle_accelerator *accelerator);
/** Among the processes of this host. */
AXLE_API int axle_local_process_index(const axle_accelerator *accelerator);
AXLE_API int axle_is_local_main_process(const axle_accelerator *accelerator);
AXLE_API int axle_is_last_process(const axle_accelerator *accelerator);
/** Before a statement or block that one process alone is to run (the main one, that of each host,
 * the last, number @p k): `axle_on_main_process(acc) save(model);`. No collective may be in it. */
#define axle_on_main_process(accelerator) AXLE__ONLY_IF(axle_is_main_process(accelerator))
#define axle_on_local_main_process(accelerator)                                                    \
    AXLE__ONLY_IF(axle_is_local_main_process(accelerator))
#define axle_on_last_process(accelerator) AXLE__ONLY_IF(axle_is_last_process(accelerator))
#define axle_on_process(accelerator, k) AXLE__ONLY_IF(axle_process_index(accelerator) == (k))
/* The statement's own "else" is taken, so that none after it is. */
#define AXLE__ONLY_IF(condition)                                                                   \
    if (!(condition)) {                                                                            \
    } else
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
/** Root's bytes to all; see axle_broadcast_bytes(). */
AXLE_API int axle_broadcast_object(axle_accelerator *accelerator, void **bytes, size_t *size,
                                   int root);
/** Everyone's bytes, in the order of ranks; see axle_gather_bytes(). @param sizes  one a process.
 */
AXLE_API int axle_gather_objects(axle_accelerator *accelerator, const void *bytes, size_t size,
                                 void **out, size_t *sizes);
/** Whether all processes bring the same number, as the checksum of their models. */
AXLE_API int axle_processes_agree(axle_accelerator *accelerator, uint64_t number, int *out);
/** Pad dim @p dim to the longest of all processes with @p value, at its end or its beginning. */
AXLE_API axle_tensor *axle_pad_across_processes(axle_accelerator *accelerator, axle_tensor *tensor,
                                                int dim, double value, int pad_first);
/**
 * Let loops be of unequal length, as over data that nobody counted:
 *
 *     axle_join_begin(acc);
 *     while (has_more(...)) { ... axle_backward(acc, loss); ... }
 *     axle_join_end(acc);
 *
 * A process that comes to the end first takes part in the others' collectives without bringing
 * anything: means are those of the processes whose loop goes on. In the end all get the state of
 * the one that worked longest: parameters, buffers, moments, schedules. Without these calls loops
 * of unequal length are an error on all. All processes make both calls; a window of accumulation
 * ends before the second. Reduce-scatter, scatter, and a root whose loop is over stay errors.
 * @return AXLE_ERR_STATE where calls do not pair; AXLE_ERR_UNSUPPORTED with `shard_optimizer`, and
 * where backends differ.
 */
AXLE_API int axle_join_begin(axle_accelerator *accelerator);
AXLE_API int axle_join_end(axle_accelerator *accelerator);
/** sum(weight * value) / sum(weight) over all processes; 0 where there is no weight. */
AXLE_API int axle_weighted_mean(axle_accelerator *accelerator, double value, double weight,
                                double *out);
/** This process's part of @p n items: [*first, *first + *count). The first n mod P processes have
 * one more. */
AXLE_API void axle_split_between_processes(const axle_accelerator *accelerator, int64_t n,
                                           int64_t *first, int64_t *count);
/** This process's part of n items of @p size bytes each, copied. @param padded  give each process
 * as many, ceil(n / P), by taking the last item again; gathered, the first n are the items.
 * @param out  memory for axle_free(). */
AXLE_API int axle_split_items(const axle_accelerator *accelerator, const void *items, int64_t n,
                              size_t size, int padded, void **out, int64_t *count);
/** The same of a tensor's rows. @return a tensor of the current scope; a view, where not padded. */
AXLE_API axle_tensor *axle_split_rows(const axle_accelerator *accelerator, axle_tensor *tensor,
                                      int padded);
/** The same of the rows of all tensors of a batch, which stays as it is. @param out  the caller's.
 */
AXLE_API int axle_split_batch(const axle_accelerator *accelerator, const axle_batch *batch,
                              int padded, axle_batch **out);
/** The same of a data set, which is retained. */
AXLE_API int axle_split_dataset(const axle_accelerator *accelerator, axle_dataset *dataset,
                                int padded, axle_dataset **out);
/** Let the main process (of the host, where @p local) go first: between these two calls it runs
 * while the others wait. */
AXLE_API int axle_main_process_first_begin(axle_accelerator *accelerator, int local);
AXLE_API int axle_main_process_first_end(axle_accelerator *accelerator, int local);
/** Set a flag that every process sees at its next axle_check_trigger(), which resets it. */
AXLE_API void axle_set_trigger(axle_accelerator *accelerator);
/** @param out  whether any process set the flag. */
AXLE_API int axle_check_trigger(axle_accelerator *accelerator, int *out);
/** Which processes write a line of axle_log_line(). */
enum {
    AXLE_LOG_PER_JOB = 0,    /**< the main process */
    AXLE_LOG_PER_HOST = 1,   /**< the first process of each host */
    AXLE_LOG_PER_PROCESS = 2 /**< every one */
};
/**
 * Write a log line, as axle_log_write() does, on some of the processes.
 * @param accelerator  NULL: this process writes.
 * @param level        as in axle_log_set_level().
 * @param scope        AXLE_LOG_PER_...
 */
AXLE_API void axle_log_line(const axle_accelerator *accelerator, int level, int scope,
                            const char *format, ...) AXLE_PRINTF(4, 5);
/** The same, but a text that it wrote before is not written again, as for warnings in a loop; the
 * last thousand texts are remembered. Any thread. */
AXLE_API void axle_log_line_once(const axle_accelerator *accelerator, int level, int scope,
                                 const char *format, ...) AXLE_PRINTF(4, 5);
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
#define axle_broadcast_object(...) (AXLE_HERE, axle_broadcast_object(__VA_ARGS__))
#define axle_gather_objects(...) (AXLE_HERE, axle_gather_objects(__VA_ARGS__))
#define axle_processes_agree(...) (AXLE_HERE, axle_processes_agree(__VA_ARGS__))
#define axle_weighted_mean(...) (AXLE_HERE, axle_weighted_mean(__VA_ARGS__))
#define axle_join_end(...) (AXLE_HERE, axle_join_end(__VA_ARGS__))
#define axle_check_trigger(...) (AXLE_HERE, axle_check_trigger(__VA_ARGS__))
#endif

AXLE_END_DECLS

#endif
