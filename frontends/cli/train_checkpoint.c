/* SPDX-License-Identifier: Apache-2.0 */
/* axle train: checkpoints, and going on from one. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"

/* ------------------------------------------------------------------ what the command adds
 *
 * Numbers of the run, as doubles: these, and then the loss of each update, so that a loss log goes
 * on as if nothing had happened. */

enum { NOTE_UPDATES, NOTE_FIRST, NOTE_LAST, NOTE_EPOCH_LOSS, NOTE_EPOCH_ROWS, NOTE_COUNT };

static int save_run(axle_state_writer *writer, void *user)
{
    const training *t = user;
    const double notes[NOTE_COUNT] = {(double)t->result.updates, t->result.first_loss,
                                      t->result.last_loss, t->epoch_loss, t->epoch_rows};
    int code = axle_state_write(writer, notes, sizeof(notes));
    return code ? code
                : axle_state_write(writer, t->losses,
                                   (size_t)t->result.updates * sizeof(*t->losses));
}

static int load_run(const void *bytes, size_t size, void *user)
{
    training *t = user;
    double notes[NOTE_COUNT];
    if (size < sizeof(notes))
        return axle_error_set(AXLE_ERR_FORMAT, "--resume: this checkpoint is of no axle train");
    memcpy(notes, bytes, sizeof(notes));
    t->result.updates = 0;
    t->result.first_loss = notes[NOTE_FIRST];
    t->epoch_loss = notes[NOTE_EPOCH_LOSS];
    t->result.train_loss = notes[NOTE_EPOCH_LOSS];
    t->epoch_rows = notes[NOTE_EPOCH_ROWS];
    if (size != sizeof(notes) + (size_t)notes[NOTE_UPDATES] * sizeof(double))
        return axle_error_set(AXLE_ERR_FORMAT, "--resume: this checkpoint has not all its losses");
    for (int64_t k = 0; k < (int64_t)notes[NOTE_UPDATES]; k++) {
        double loss;
        memcpy(&loss, (const char *)bytes + sizeof(notes) + (size_t)k * sizeof(loss), sizeof(loss));
        int code = train_checkpoint_note(t, loss);
        if (code)
            return code;
        loss_log_write(&t->log, ++t->result.updates, loss);
    }
    t->result.last_loss = notes[NOTE_LAST];
    return AXLE_OK;
}

static int register_run(training *training)
{
    axle_state_callbacks run = AXLE_STATE_CALLBACKS_INIT;
    run.save = save_run;
    run.load = load_run;
    return axle_register_state(training->accelerator, "train", &run, training);
}

int train_checkpoint_note(training *training, double loss)
{
    int64_t n = training->result.updates;
    if (n == training->loss_room) {
        int64_t room = n ? 2 * n : 1024;
        double *losses = realloc(training->losses, (size_t)room * sizeof(*losses));
        if (!losses)
            return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
        training->losses = losses;
        training->loss_room = room;
    }
    training->losses[n] = loss;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ which is the best */

/* Name, which end is better, and the number; those of the test set cost an evaluation a save. */
#define METRIC_LIST(X)                                                                             \
    X("loss", AXLE_BEST_MIN, last_loss, 0)                                                         \
    X("eval-loss", AXLE_BEST_MIN, eval_loss, 1)                                                    \
    X("eval-accuracy", AXLE_BEST_MAX, eval_accuracy, 1)

static const struct metric {
    int best, evaluates;
    size_t offset; /* in train_result */
} metrics[] = {
#define METRIC(name, best, field, evaluates) {best, evaluates, offsetof(train_result, field)},
    METRIC_LIST(METRIC)
#undef METRIC
};

const char *const *train_metrics(void)
{
#define NAME(name, ...) name,
    static const char *const names[] = {METRIC_LIST(NAME) NULL};
#undef NAME
    return names;
}

static const struct metric *metric_of(const train_settings *settings)
{
    return settings->keep_best < 0 ? NULL : &metrics[settings->keep_best];
}

/* ------------------------------------------------------------------ the beginning */

static int wants_latest(const train_settings *settings)
{
    return settings->resume && strcmp(settings->resume, "latest") == 0;
}

const char *train_checkpoint_contradiction(const train_settings *settings)
{
    if (settings->save_every > 0 && !settings->output)
        return "--save-every: --output says where to";
    if (wants_latest(settings) && !settings->output)
        return "--resume latest: --output says where from";
    if ((settings->keep > 0 || settings->save_async) && settings->save_every == 0)
        return "--keep and --save-async go with --save-every";
    if (metric_of(settings) && settings->keep == 0)
        return "--keep-best goes with --keep, which keeps all without it";
    if (metric_of(settings) && metric_of(settings)->evaluates && settings->no_eval)
        return "--keep-best: with --no-eval there is only loss";
    if (settings->local_sgd > 0 && settings->save_every % settings->local_sgd)
        return "--save-every: with --local-sgd a multiple of that";
    return NULL;
}

static int holds_checkpoints(const char *folder)
{
    int found = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
        found = strncmp(entry->d_name, "step-", 5) == 0;
    if (dir)
        closedir(dir);
    return found;
}

/* A run that begins anew among another one's checkpoints would be mistaken for it later. */
static int check_folder(const training *training)
{
    const train_settings *settings = training->settings;
    if (!axle_is_main_process(training->accelerator) || settings->save_every == 0 ||
        !holds_checkpoints(settings->output))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_IO,
                          "%s holds checkpoints of another run; --resume latest goes on from them",
                          settings->output);
}

/* The newest one where there is any; *found tells. */
static int load_latest(training *training, int *found)
{
    int code = axle_load_state(training->accelerator, training->settings->output);
    *found = !code;
    if (code != AXLE_ERR_NOT_FOUND || holds_checkpoints(training->settings->output))
        return code;
    axle_error_clear();
    if (!training->settings->quiet && axle_is_main_process(training->accelerator))
        fprintf(stderr, "no checkpoint in %s: starting at the beginning\n",
                training->settings->output);
    return AXLE_OK;
}

/* A job that was started again goes on from what it saved, however it began. */
static int resume(training *training)
{
    const train_settings *settings = training->settings;
    int found = 0, code = AXLE_OK;
    int again = axle_restart_count() > 0 && settings->save_every > 0;
    if (again || wants_latest(settings))
        code = load_latest(training, &found);
    if (!code && !found && settings->resume && !wants_latest(settings))
        code = axle_load_state(training->accelerator, settings->resume);
    if (!code && !again && !settings->resume)
        code = check_folder(training);
    return code;
}

int train_checkpoint_begin(training *training)
{
    const train_settings *settings = training->settings;
    axle_checkpoint_options options = AXLE_CHECKPOINT_OPTIONS_INIT;
    options.directory = settings->output;
    options.every = settings->save_every;
    options.keep = (int)settings->keep;
    options.best = metric_of(settings) ? metric_of(settings)->best : AXLE_BEST_NONE;
    options.asynchronous = settings->save_async;
    int code = register_run(training);
    if (!code && settings->output)
        code = axle_checkpoint_configure(training->accelerator, &options);
    return code ? code : resume(training);
}

/* ------------------------------------------------------------------ on the way */

/* A disk that is full is no reason to stop; what was saved before is still there. */
static int forgive(training *training, int code)
{
    if (code != AXLE_ERR_IO)
        return code;
    training->unsaved++;
    snprintf(training->unsaved_why, sizeof(training->unsaved_why), "%s", axle_error_message());
    axle_error_clear();
    return AXLE_OK;
}

int train_checkpoint_is_due(const training *training)
{
    int64_t every = training->settings->save_every;
    return every > 0 && training->result.updates % every == 0;
}

/* What this checkpoint is compared by. */
static int measure(training *training, double *value)
{
    const struct metric *metric = metric_of(training->settings);
    int code = metric && metric->evaluates ? train_evaluate_now(training) : AXLE_OK;
    size_t offset = metric ? metric->offset : offsetof(train_result, last_loss);
    if (!code)
        *value = *(const double *)(const void *)((const char *)&training->result + offset);
    return code;
}

int train_checkpoint_step(training *training)
{
    double value;
    int code = measure(training, &value);
    return code ? code
                : forgive(training, axle_checkpoint_step(training->accelerator, value, NULL));
}

int train_checkpoint_finish(training *training)
{
    return forgive(training, axle_checkpoint_wait(training->accelerator));
}

int train_checkpoint_report(const training *training)
{
    if (training->unsaved == 0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_IO, "%d %s could not be written; the last: %s",
                          training->unsaved, training->unsaved == 1 ? "checkpoint" : "checkpoints",
                          training->unsaved_why);
}
