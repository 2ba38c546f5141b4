/* SPDX-License-Identifier: Apache-2.0 */
/* axle train: its settings, and what the steps of a run share. */
#ifndef AXLE_CLI_TRAIN_H
#define AXLE_CLI_TRAIN_H

#include <jansson.h>

#include "axle/axle.h"
#include "axle/track.h"
#include "command.h"
#include "evaluate.h"
#include "loss_log.h"
#include "option_value.h"
#include "progress.h"

/* What an option holds that was not given: a choice -1, a text NULL, a real NAN, and an integer 0.
 * Where the default differs by task, train_complete() puts it in place. */
typedef struct train_settings {
    /* Positions in the lists of names; precision -1: AXLE_PRECISION, keep_best -1: none. */
    int task, optimizer, schedule, dtype, wire, precision, keep_best, problem;
    const char *model, *eval, *text_column, *pair_column, *label_column, *revision;
    int64_t max_length;
    int no_header;
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
    double train_loss;               /* mean of the last epoch, over rows */
    double eval_loss, eval_accuracy; /* accuracy NAN where the task has none */
    evaluation eval;
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

struct training;

/* What a run learns. Functions return AXLE_OK or a recorded error. */
typedef struct train_task {
    const char *name;
    /* The field of batches that is predicted, and how often it is evaluated: after each epoch, or
     * at the end alone. */
    const char *labels;
    int evaluates_epochs;
    /* Whether options that were given go with the task: 0, or -1 with what is wrong. */
    int (*check)(const train_settings *given, char problem[PROBLEM_SIZE]);
    /* Put defaults in place of what was not given. */
    void (*complete)(train_settings *settings);
    int (*open_data)(struct training *training);
    int (*create_model)(struct training *training);
    /* Write the model into the output folder. */
    int (*save_model)(const struct training *training);
    /* Release what the task keeps for itself. NULL is fine. */
    void (*close)(struct training *training);
} train_task;

extern const train_task train_image_task, train_text_task;

/* All that a run holds; what was not made is NULL. */
typedef struct training {
    const train_settings *settings;
    const train_task *task;
    struct train_text *text; /* of that task */
    int metrics;             /* AXLE_METRICS_..., */
    int64_t labels;          /* and of how many labels */
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
int train_create_loader(const training *training, axle_dataset *set, int train,
                        const axle_loader_options *more, axle_loader **out);
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

const char *const *train_tasks(void);
const train_task *train_task_of(const train_settings *settings);
/* Put the task's defaults in place of what was not given. */
void train_complete(train_settings *settings);
/* Path of a file of the output folder, for free(). NULL where memory runs out. */
char *train_output_path(const training *training, const char *name);
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

/* Of pictures, and of what the memory of a run is estimated for. */
enum { TRAIN_DEFAULT_OPTIMIZER = 1 };

#endif
