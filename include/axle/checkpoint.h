/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file checkpoint.h
 * Checkpoints: the whole state of a training on disk, and back.
 *
 *     axle_checkpoint_options options = AXLE_CHECKPOINT_OPTIONS_INIT;
 *     options.directory = "run";
 *     options.every = 100;                        // updates
 *     options.keep = 3;
 *     axle_prepare(acc, model, opt, loader, sched);
 *     axle_checkpoint_configure(acc, &options);
 *     int status = axle_load_state(acc, NULL);    // the newest one of "run"
 *     if (status == AXLE_ERR_NOT_FOUND)           // there is none: a new training
 *         axle_error_clear();
 *     while (axle_loader_epoch(loader) < epochs)
 *         while (axle_loader_next(loader, &batch)) {
 *             ...
 *             axle_scheduler_step(sched);
 *             axle_checkpoint_step(acc, loss, NULL);
 *         }
 *
 * A training that was killed at any moment and goes on from its last checkpoint ends with the same
 * parameters, bit by bit, on the same backend and number of processes; on others, with the same to
 * rounding. What is stored: parameters and buffers of the models; moments, ages and rates of the
 * optimizers; schedules; epoch, position and seed of the loaders; random numbers; and what the
 * program registered. Objects are known by their position among the prepared ones of their kind.
 *
 * A checkpoint is a folder:
 *
 *     step-00001200/
 *         model.safetensors         of the first model; model_1.safetensors of the second
 *         optimizer.safetensors     moments by parameter; optimizer_rank1.safetensors and so on
 *                                   with local SGD, where each process has its own
 *         ema.safetensors           averages of parameters; ema_1.safetensors of the second
 *         custom-NAME.bin           what was registered
 *         state.json                everything else; sizes and checksums of the files
 *
 * It appears complete or not at all: it is written beside its place, brought to the disk and
 * renamed. Loading checks all of it before anything changes.
 *
 * In a job of several processes all call these functions; the main process reads and writes, so
 * that the folder need not be shared between hosts. An error of one is an error on all.
 */
#ifndef AXLE_CHECKPOINT_H
#define AXLE_CHECKPOINT_H

#include "axle/accelerator.h"
#include "axle/ema.h"

AXLE_BEGIN_DECLS

/* ------------------------------------------------------------------ saving and loading */

/**
 * Save the state, between two updates: after the step and the schedule's tick.
 * @param directory  the checkpoint's folder, which is replaced where it is a checkpoint; NULL: a
 *                   name like step-00001200, by the number of updates, in the configured folder.
 * @return AXLE_OK; AXLE_ERR_STATE inside a window of accumulation, whose gradients are in no file,
 *         where nothing is prepared, or between two averages of local SGD; AXLE_ERR_IO where it
 * could not be written, and then what was saved before is untouched, and training may go on. Where
 * saving is asynchronous, what is returned is the outcome of the one before.
 */
AXLE_API int axle_save_state(axle_accelerator *accelerator, const char *directory);
/**
 * Load the state into the prepared objects, before the loop.
 * @param path  a checkpoint; a folder of checkpoints, of which the newest valid one is taken; NULL:
 *              the configured folder.
 * @return AXLE_OK; with all else nothing has changed, unless a registered `load` failed:
 *         AXLE_ERR_NOT_FOUND where there is no checkpoint, AXLE_ERR_FORMAT where it is damaged or
 *         of something else, AXLE_ERR_UNSUPPORTED where a newer Axle wrote it, AXLE_ERR_SHAPE,
 *         AXLE_ERR_DTYPE or AXLE_ERR_NOT_FOUND where it does not fit the prepared objects,
 *         AXLE_ERR_STATE where nothing is prepared.
 */
AXLE_API int axle_load_state(axle_accelerator *accelerator, const char *path);
/**
 * The newest valid checkpoint of a folder. Damaged ones are passed over, each with a warning that
 * names it. For this process alone.
 * @param out  its path, for axle_free().
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND.
 */
AXLE_API int axle_latest_checkpoint(const char *directory, char **out);

/** How often `axle launch` has started the job again after a failure; 0 the first time. A program
 * that is started again goes on from its last checkpoint. */
AXLE_API int axle_restart_count(void);

/* ------------------------------------------------------------------ the program's own state */

/** Where a registered object writes its state. */
typedef struct axle_state_writer axle_state_writer;
/** Append bytes. @return AXLE_OK; AXLE_ERR_NOMEM, also from each later call. */
AXLE_API int axle_state_write(axle_state_writer *writer, const void *bytes, size_t size);

/** Starts from AXLE_STATE_CALLBACKS_INIT. */
typedef struct axle_state_callbacks {
    size_t struct_size;
    /** Write the state; on the main process. */
    int (*save)(axle_state_writer *writer, void *user);
    /** Take it back; on every process. Comes before anything else is loaded. */
    int (*load)(const void *bytes, size_t size, void *user);
} axle_state_callbacks;
#define AXLE_STATE_CALLBACKS_INIT                                                                  \
    {                                                                                              \
        sizeof(axle_state_callbacks), NULL, NULL                                                   \
    }

/**
 * Let checkpoints hold an object of the program's own. All processes register the same names.
 * @param name       letters, digits, dots, - and _; of its own.
 * @param callbacks  copied; both are needed.
 * @return AXLE_OK; AXLE_ERR_INVALID for a name that will not do, or without save or load.
 */
AXLE_API int axle_register_state(axle_accelerator *accelerator, const char *name,
                                 const axle_state_callbacks *callbacks, void *user);

/**
 * Let checkpoints hold averages of parameters, as a safetensors file that names them as the model
 * does. Saving and loading are AXLE_ERR_STATE while they are swapped with the parameters.
 * @param ema  borrowed until the accelerator is released; registering it again changes nothing.
 */
AXLE_API int axle_register_ema(axle_accelerator *accelerator, axle_ema *ema);

/* ------------------------------------------------------------------ regular saving */

enum { AXLE_BEST_NONE, AXLE_BEST_MIN, AXLE_BEST_MAX };

/** Starts from AXLE_CHECKPOINT_OPTIONS_INIT. */
typedef struct axle_checkpoint_options {
    size_t struct_size;
    const char *directory; /**< where checkpoints lie; made if needed */
    int64_t every;         /**< updates between two; 0: only where axle_save_state() is called */
    int keep;              /**< keep the last so many; 0: all */
    int best; /**< keep the one with the least (AXLE_BEST_MIN) or largest metric, too */
    /** Save a copy from a thread while training goes on. The copy is kept in memory for the next
     * save, which waits for the one before; so does axle_end_training(). */
    int asynchronous;
    /** Told when a checkpoint is complete (AXLE_OK) or has failed, on the thread that wrote it, of
     * the main process. @param message  "" without an error. */
    void (*committed)(const char *path, int status, const char *message, void *user);
    void *user;
} axle_checkpoint_options;
#define AXLE_CHECKPOINT_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(axle_checkpoint_options), NULL, 0, 0, AXLE_BEST_NONE, 0, NULL, NULL                 \
    }

/** Say where and how often to save. What processes that were killed left half-written in the folder
 * is removed. May be said again. */
AXLE_API int axle_checkpoint_configure(axle_accelerator *accelerator,
                                       const axle_checkpoint_options *options);
/**
 * Save, if an update was made and it is time to: the number of updates is a multiple of `every`.
 * @param metric  what checkpoints are compared by; NAN where there is none.
 * @param saved   whether it saved, also where that failed; NULL if not wanted.
 * @return as axle_save_state().
 */
AXLE_API int axle_checkpoint_step(axle_accelerator *accelerator, double metric, int *saved);
/** Wait until nothing is being written. @return the outcome of the last asynchronous save, unless
 * it was told before. */
AXLE_API int axle_checkpoint_wait(axle_accelerator *accelerator);
/** Whether the main process is writing; 0 on the others. */
AXLE_API int axle_checkpoint_pending(const axle_accelerator *accelerator);

/* ------------------------------------------------------------------ models alone */

/** Starts from AXLE_MODEL_FILE_OPTIONS_INIT. */
typedef struct axle_model_file_options {
    size_t struct_size;
    uint64_t shard_size; /**< most bytes of a file; 0: one file */
} axle_model_file_options;
#define AXLE_MODEL_FILE_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(axle_model_file_options), UINT64_C(5) << 30                                         \
    }

/**
 * Write a model's parameters and buffers as model.safetensors, or where they are more than a file
 * may have, as model-00001-of-00002.safetensors and so on with model.safetensors.index.json. A tied
 * tensor is written once.
 * @param accelerator  whose main process writes; NULL: this one does.
 * @param object       a model or a module.
 * @param directory    made if needed.
 * @param options      NULL for the defaults.
 */
AXLE_API int axle_save_model(axle_accelerator *accelerator, const void *object,
                             const char *directory, const axle_model_file_options *options);
/**
 * Read it back; see axle_module_load().
 * @param accelerator  whose main process reads for all; NULL: this one does, for itself.
 * @param path         such a folder, its index, or a safetensors file.
 */
AXLE_API int axle_load_model(axle_accelerator *accelerator, void *object, const char *path);

#ifndef AXLE_NO_CALL_SITES
#define axle_save_state(...) (AXLE_HERE, axle_save_state(__VA_ARGS__))
#define axle_load_state(...) (AXLE_HERE, axle_load_state(__VA_ARGS__))
#define axle_checkpoint_step(...) (AXLE_HERE, axle_checkpoint_step(__VA_ARGS__))
#define axle_checkpoint_wait(...) (AXLE_HERE, axle_checkpoint_wait(__VA_ARGS__))
#define axle_save_model(...) (AXLE_HERE, axle_save_model(__VA_ARGS__))
#define axle_load_model(...) (AXLE_HERE, axle_load_model(__VA_ARGS__))
#endif

AXLE_END_DECLS

#endif
