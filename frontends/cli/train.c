/* SPDX-License-Identifier: Apache-2.0 */
/* axle train: from its options to a trained model. */
#define _GNU_SOURCE 1
#include "train.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../common/folder.h"
#include "../common/whole_file.h"
#include "interrupt.h"
#include "train_track.h"

/* ------------------------------------------------------------------ making what a run needs */

static int create_accelerator(training *training)
{
    const train_settings *settings = training->settings;
    axle_accelerator_options wanted = AXLE_ACCELERATOR_OPTIONS_INIT;
    wanted.accumulate = (int)settings->accumulate;
    wanted.clip_norm = settings->clip;
    wanted.shard_optimizer = settings->shard_optimizer;
    wanted.wire_dtype = train_wire(settings);
    wanted.precision = train_precision(settings);
    wanted.local_sgd = (int)settings->local_sgd;
    wanted.quiet = 1; /* the command shows the plan itself */
    int code = axle_accelerator_create(&wanted, &training->accelerator);
    if (code)
        return code;
    training->is_main = axle_is_main_process(training->accelerator);
    const axle_device *device = axle_accelerator_device(training->accelerator);
    const char *dtype = train_dtypes()[settings->dtype];
    if (!axle_device_supports(device, train_dtype(settings)))
        return axle_error_set(AXLE_ERR_DTYPE, "--dtype: %s (%s) does not compute in %s",
                              axle_device_backend(device), axle_device_name(device), dtype);
    return axle_set_default_dtype(train_dtype(settings));
}

static void count_updates(training *training)
{
    const train_settings *settings = training->settings;
    int64_t batches = axle_loader_length(training->loader), most = settings->max_steps;
    int64_t window = axle_accumulate_count(training->accelerator);
    int64_t an_epoch = (batches + window - 1) / window;
    int64_t updates = an_epoch * settings->epochs;
    training->ticks.total = updates;
    training->updates = most > 0 && most < updates ? most : updates;
}

/* Files that could not be written at the end are an error at the start. */
static int open_outputs(training *training)
{
    const train_settings *settings = training->settings;
    int digits = train_dtype(settings) == AXLE_DTYPE_F64 ? LOSS_DIGITS_F64 : LOSS_DIGITS_F32;
    if (!axle_is_main_process(training->accelerator))
        return AXLE_OK;
    if (settings->output) {
        int code = folder_prepare(settings->output, &training->created_output);
        if (code)
            return code;
    }
    return loss_log_open(&training->log, settings->loss_log, digits);
}

static int set_up(training *training)
{
    int code = create_accelerator(training);
    if (!code)
        code = open_outputs(training);
    if (!code)
        code = training->task->open_data(training);
    if (!code)
        code = training->task->create_model(training);
    if (!code)
        code = train_adapt(training);
    if (!code)
        code = train_create_optimizer(training);
    /* The number of updates is known once the loader knows its share of the data. */
    if (!code)
        code = axle_prepare(training->accelerator, training->model, training->optimizer,
                            training->loader);
    if (code)
        return code;
    count_updates(training);
    code = train_create_ema(training);
    if (!code)
        code = train_create_scheduler(training);
    if (!code)
        code = axle_prepare(training->accelerator, training->scheduler);
    if (!code)
        code = train_checkpoint_begin(training);
    if (!code && !training->settings->quiet && axle_is_main_process(training->accelerator))
        fprintf(stderr, "%s\n", axle_accelerator_plan(training->accelerator));
    return code;
}

static void tear_down(training *training)
{
    axle_tracker_release(training->tracker);
    loss_log_discard(&training->log);
    axle_scheduler_release(training->scheduler);
    axle_optimizer_release(training->optimizer);
    axle_model_release(training->model);
    axle_loader_release(training->eval_loader);
    axle_loader_release(training->loader);
    axle_dataset_release(training->eval_set);
    axle_dataset_release(training->train_set);
    axle_accelerator_release(training->accelerator);
    axle_ema_release(training->ema);
    if (training->task->close)
        training->task->close(training);
    free(training->losses);
}

/* ------------------------------------------------------------------ results */

/* Enough for every f32 and for what people read. */
enum { REAL_DIGITS = 9 };

char *train_output_path(const training *training, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", training->settings->output, name) >= 0)
        return path;
    axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    return NULL;
}

static int save_model(const training *training)
{
    if (!training->settings->output || !axle_is_main_process(training->accelerator))
        return AXLE_OK;
    return training->task->save_model(training);
}

static int save_metrics(const training *training, const json_t *metrics)
{
    if (!training->settings->output)
        return AXLE_OK;
    char *path = train_output_path(training, "metrics.json");
    whole_file file;
    int code = path ? whole_file_open(&file, path) : AXLE_ERR_NOMEM;
    if (!code) {
        json_dumpf(metrics, file.stream, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS));
        fputc('\n', file.stream);
        code = whole_file_commit(&file);
    }
    free(path);
    return code;
}

static double number_of(const json_t *metrics, const char *key)
{
    return json_number_value(json_object_get(metrics, key));
}

static void print_metrics(const training *training, const json_t *metrics)
{
    if (training->settings->json) {
        json_dumpf(metrics, stdout, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
        putchar('\n');
        return;
    }
    printf("%s on %s: %.0f updates in %.1f s, %.0f samples/s, loss %.4f to %.4f",
           json_string_value(json_object_get(metrics, "model")),
           json_string_value(json_object_get(metrics, "backend")), number_of(metrics, "updates"),
           number_of(metrics, "seconds"), number_of(metrics, "samples_per_second"),
           number_of(metrics, "first_loss"), number_of(metrics, "last_loss"));
    if (training->result.evaluated) {
        fputs("; test ", stdout);
        evaluation_print(&training->result.eval, stdout);
    }
    putchar('\n');
}

static int report(training *training)
{
    int status = train_compare_parameters(training);
    if (status || !axle_is_main_process(training->accelerator))
        return status;
    json_t *metrics = train_describe(training);
    if (!metrics)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    int code = save_metrics(training, metrics);
    if (!code)
        print_metrics(training, metrics);
    json_decref(metrics);
    return code;
}

/* ------------------------------------------------------------------ the command */

/* A model that was trained is saved before anything else can go wrong. */
static int train(training *training)
{
    int code = train_track_begin(training);
    if (!code)
        code = train_loop(training);
    if (!code)
        code = train_checkpoint_finish(training);
    if (!code)
        code = loss_log_commit(&training->log);
    if (!code)
        code = train_finish_model(training);
    if (!code)
        code = save_model(training);
    if (!code)
        code = train_evaluate(training);
    if (!code)
        code = train_track_end(training);
    if (!code)
        code = report(training);
    if (!code)
        code = train_checkpoint_report(training);
    return code ? code : axle_end_training(training->accelerator);
}

/* Exit code of a run that ended with `code`, whose error is reported here. */
static int conclude(const training *training, int code, int started)
{
    char prefix[40];
    int signal = interrupt_signal();
    if (!code)
        return EXIT_DONE;
    if (code == AXLE_ERR_INTERRUPTED && signal) {
        command_error(&train_command, "interrupted after %lld updates",
                      (long long)training->result.updates);
        return EXIT_SIGNAL + signal;
    }
    snprintf(prefix, sizeof(prefix), "update %lld", (long long)training->result.updates + 1);
    int in_loop = started && training->result.updates < training->updates;
    return command_failed(&train_command, in_loop ? prefix : NULL);
}

/* The settings that the run has, of those that were given; or the exit code of wrong usage. */
static int settle(const train_settings *given, train_settings *out)
{
    char problem[PROBLEM_SIZE];
    if (train_task_of(given)->check(given, problem))
        return options_usage(&train_command, "%s", problem);
    *out = *given;
    train_complete(out);
    const char *contradiction = train_contradiction(out);
    if (!contradiction)
        return EXIT_DONE;
    command_error(&train_command, "%s", contradiction);
    return EXIT_USAGE;
}

static int run(const void *given, const int *operands, int n)
{
    train_settings settings;
    training training = {.settings = &settings, .task = train_task_of(given), .is_main = 1};
    (void)operands;
    (void)n;
    int usage = settle(given, &settings);
    if (usage)
        return usage;
    interrupt_catch();
    int code = train_profile_begin(&settings);
    if (!code)
        code = set_up(&training);
    int started = !code;
    if (!code)
        code = train(&training);
    code = conclude(&training, code, started);
    if (train_profile_end(&settings, training.is_main) && !code)
        code = command_failed(&train_command, NULL);
    tear_down(&training);
    axle_finalize(); /* hooks tell what they have to tell */
    /* Only an empty folder goes. */
    if (code && training.created_output)
        rmdir(training.settings->output);
    return code;
}

const command train_command = {
    .name = "train",
    .summary = "train a model",
    .about = "Train a model on pictures or texts, then evaluate it on the test set.",
    .options = train_options,
    .defaults = &train_defaults,
    .settings_size = sizeof(train_defaults),
    .run = run,
};
