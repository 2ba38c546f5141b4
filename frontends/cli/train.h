/* SPDX-License-Identifier: Apache-2.0 */
/* axle train: its settings, and what the steps of a run share. */
#ifndef AXLE_CLI_TRAIN_H
#define AXLE_CLI_TRAIN_H

#include <jansson.h>

#include "axle/axle.h"
#include "axle/track.h"
#include "command.h"
#include "loss_log.h"
#include "progress.h"

typedef struct train_settings {
    /* Positions in the lists of names; model -1: lenet, precision -1: AXLE_PRECISION, keep_best -1:
     * none. */
    int task, model, optimizer, schedule, dtype, wire, precision, keep_best;
    const char *data, *output, *loss_log, *profile; /* NULL: not given */
    const char *track, *track_dir;                  /* likewise */
    const char *freeze, *lora;
    double ema; /* decay; 0: off */
    int grad_checkpoint;
    int64_t local_sgd; /* 0: off */
    int64_t epochs, batch_size, seed, max_steps, accumulate, hidden, classes, workers;
    int64_t eval_batch_size, log_every;
    double lr, warmup_ratio, clip, weight_decay, momentum,
        dropout; /* weight_decay NAN: not given */
    const char *resume;
    int64_t save_every, keep;
    int save_async;
    int no_eval, json, quiet, shard_optimizer;
} train_settings;

extern const train_settings train_defaults;
extern const cli_option train_options[];

typedef struct train_result {
    int64_t updates, rows;
    double seconds; /* spent in the loop */
    double first_loss, last_loss;
    double train_loss; /* mean of the last epoch, over rows */
    double eval_loss, eval_accuracy;
    int evaluated;
    uint64_t checksum; /* of the model */
    int equal;         /* all processes have that one */
} train_result;

/* What schedules are computed from. They cover all epochs, so that a run that --max-steps ends
 * early is the beginning of the whole one. */
typedef struct train_ticks {
    int64_t total, warmup; /* updates */
    double warmup_ratio;
    int64_t epochs;
} train_ticks;

/* All that a run holds; what was not made is NULL. */
typedef struct training {
    const train_settings *settings;
    axle_accelerator *accelerator;
    axle_dataset *train_set, *eval_set;
    axle_loader *loader, *eval_loader;
    axle_model *model;
    axle_optimizer *optimizer;
    axle_scheduler *scheduler;
    axle_ema *ema;         /* NULL: parameters are not averaged */
    axle_tracker *tracker; /* NULL: none is wanted */
    double tracked;        /* time of what was tracked last */
    int64_t tracked_rows;  /* rows until then */
    double lr;             /* of the last update */
    loss_log log;
    progress progress;
    train_ticks ticks;
    int64_t updates;   /* to do in all */
    int64_t trainable; /* elements of the parameters that are trained */
    double input_mean,
        input_std; /* of the pixels; what the model sees has mean 0 and deviation 1 */
    int created_output;
    /* For checkpoints: the loss of each update, and of the epoch so far by all processes. */
    double *losses;
    int64_t loss_room;
    double epoch_loss, epoch_rows;
    int unsaved; /* checkpoints that could not be written */
    char unsaved_why[512];
    int is_main; /* process of the job */
    train_result result;
} training;

/*
 * The steps of a run, in order. They return AXLE_OK or an error code with Axle's error recorded,
 * and the loops AXLE_ERR_INTERRUPTED after a signal.
 */
int train_open_data(training *training);
/* Choose what of the model is trained. */
int train_adapt(training *training);
/* Begin averages of the prepared parameters, where they are wanted. */
int train_create_ema(training *training);
/* After the loop: make the model what is to be evaluated and kept. */
int train_finish_model(training *training);
int train_create_optimizer(training *training);
int train_create_scheduler(training *training);
int train_loop(training *training);
int train_evaluate(training *training);
/* The same in the middle of the loop, of the averages where there are some. */
int train_evaluate_now(training *training);
/* The trace that --profile asks for, and its table, on the main process; nothing without the
 * option. */
int train_profile_begin(const train_settings *settings);
int train_profile_end(const train_settings *settings, int is_main);
/* Checkpoints: load what --resume asks for, once all is prepared; after an update, note its loss
 * before it is counted, and save where it is due; at the end, wait, and tell what failed. */
int train_checkpoint_begin(training *training);
int train_checkpoint_note(training *training, double loss);
int train_checkpoint_is_due(const training *training);
int train_checkpoint_step(training *training);
int train_checkpoint_finish(training *training);
int train_checkpoint_report(const training *training);
/* What checkpoints may be compared by. */
const char *const *train_metrics(void);
const char *train_checkpoint_contradiction(const train_settings *settings);
/* Checksums of all processes' models. */
int train_compare_parameters(training *training);
/* What there is to tell about a finished run. NULL if memory runs out. */
json_t *train_describe(const training *training);

const char *const *train_optimizers(void);
const char *const *train_schedules(void);
/* Whether the settings contradict each other: a message for the user, else NULL. */
const char *train_contradiction(const train_settings *settings);

const char *train_model_name(const train_settings *settings);
int train_dtype(const train_settings *settings);
/* Element type of the wire; 0: that of the gradients. */
int train_wire(const train_settings *settings);
/* Of products, as the accelerator names it; NULL: not given. */
const char *train_precision(const train_settings *settings);
const char *const *train_dtypes(void);

enum { TRAIN_DEFAULT_OPTIMIZER = 1, TRAIN_DEFAULT_SCHEDULE = 0 };

#endif
