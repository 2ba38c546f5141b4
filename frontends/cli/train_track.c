/* SPDX-License-Identifier: Apache-2.0 */
#include "train_track.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "option_value.h"

/* ------------------------------------------------------------------ the option */

static int is_kind(const char *name, size_t length)
{
    for (const char *const *kind = axle_tracker_kinds(); *kind; kind++)
        if (strlen(*kind) == length && strncmp(*kind, name, length) == 0)
            return 1;
    return 0;
}

int train_track_check(const char *text, char *problem)
{
    do {
        size_t length = strcspn(text, ",");
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)length, text);
        if (!is_kind(text, length)) {
            option_value_unknown(name, axle_tracker_kinds(), problem);
            return -1;
        }
        text += length + (text[length] == ',');
    } while (*text);
    return 0;
}

/* ------------------------------------------------------------------ hyper-parameters */

/* An option's value as JSON; NULL where it has none, or memory runs out. */
static json_t *value_of(const cli_option *option, const train_settings *settings)
{
    const void *value = (const char *)settings + option->offset;
    double real;
    switch (option->kind) {
    case OPTION_FLAG:
        return json_boolean(*(const int *)value);
    case OPTION_INTEGER:
        return json_integer(*(const int64_t *)value);
    case OPTION_REAL:
        real = *(const double *)value;
        return isfinite(real) ? json_real(real) : NULL;
    case OPTION_CHOICE:
        return *(const int *)value < 0 ? NULL : json_string(option->names()[*(const int *)value]);
    case OPTION_LIST:
        return NULL;
    default:
        return json_string(*(const char *const *)value);
    }
}

/* Every option under its name, what the device is, and the model that a default stands for. */
static json_t *describe(const training *training)
{
    const axle_device *device = axle_accelerator_device(training->accelerator);
    json_t *config = json_object();
    int wrong = !config;
    for (const cli_option *option = train_options; option->name && !wrong; option++) {
        json_t *value = value_of(option, training->settings);
        wrong = value && json_object_set_new(config, option->name, value);
    }
    wrong = wrong ||
            json_object_set_new(config, "model", json_string(train_model_name(training->settings)));
    wrong =
        wrong || json_object_set_new(config, "backend", json_string(axle_device_backend(device)));
    wrong = wrong || json_object_set_new(config, "processes",
                                         json_integer(axle_process_count(training->accelerator)));
    if (!wrong)
        return config;
    json_decref(config);
    return NULL;
}

static int track_config(training *training)
{
    json_t *config = describe(training);
    char *text = config ? json_dumps(config, JSON_COMPACT) : NULL;
    int code = text ? axle_tracker_config(training->tracker, text)
                    : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    free(text);
    json_decref(config);
    return code;
}

/* ------------------------------------------------------------------ the run */

int train_track_begin(training *training)
{
    const train_settings *settings = training->settings;
    axle_tracker_options options = AXLE_TRACKER_OPTIONS_INIT;
    if (!settings->track)
        return AXLE_OK;
    options.directory = settings->track_dir ? settings->track_dir : settings->output;
    options.kinds = settings->track;
    options.resume_step = training->result.updates > 0 ? training->result.updates : -1;
    training->tracked = clock_seconds();
    int code = axle_tracker_create(training->accelerator, &options, &training->tracker);
    return code ? code : track_config(training);
}

/* Samples a second are those of this update. */
int train_track_update(training *training, double loss)
{
    if (!training->tracker)
        return AXLE_OK;
    double now = clock_seconds(), seconds = now - training->tracked;
    double rows = (double)(training->result.rows - training->tracked_rows) *
                  axle_process_count(training->accelerator);
    training->tracked = now;
    training->tracked_rows = training->result.rows;
    return axle_tracker_log(training->tracker, training->result.updates,
                            AXLE_METRICS({"loss", loss}, {"lr", training->lr},
                                         {"samples_per_second", rows / fmax(seconds, 1e-9)}));
}

int train_track_evaluation(training *training)
{
    const evaluation *eval = &training->result.eval;
    char names[EVALUATION_MOST][32];
    axle_metric metrics[EVALUATION_MOST + 1] = {{"eval/loss", eval->loss}};
    if (!training->tracker)
        return AXLE_OK;
    for (int k = 0; k < eval->count; k++) {
        snprintf(names[k], sizeof(names[k]), "eval/%s", eval->name[k]);
        metrics[k + 1] = (axle_metric){names[k], eval->value[k]};
    }
    return axle_tracker_log(training->tracker, training->result.updates, metrics, eval->count + 1);
}

int train_track_end(training *training)
{
    if (!training->tracker)
        return AXLE_OK;
    int code = training->result.evaluated ? train_track_evaluation(training) : AXLE_OK;
    return code ? code : axle_tracker_finish(training->tracker);
}
