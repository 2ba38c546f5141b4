/* SPDX-License-Identifier: Apache-2.0 */
/* What a run tells at its end. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "train.h"

/* JSON has no NaN. */
static json_t *real_or_null(int known, double value)
{
    json_t *real = known ? json_real(value) : NULL;
    return real ? real : json_null();
}

static int64_t peak_rss_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

/* Jansson takes NULL for a value as failure, so one check of the sum is enough. */
static int put_text(json_t *object, const char *key, const char *value)
{
    return json_object_set_new(object, key, json_string(value));
}

static int put_integer(json_t *object, const char *key, int64_t value)
{
    return json_object_set_new(object, key, json_integer(value));
}

static int put_real(json_t *object, const char *key, double value)
{
    return json_object_set_new(object, key, json_real(value));
}

static int put_run(json_t *object, const training *training, const axle_device *device)
{
    const train_settings *settings = training->settings;
    const axle_module *module = axle_model_module(training->model);
    int wrong = put_text(object, "task", training->task->name);
    wrong |= put_text(object, "model", train_model_name(settings));
    wrong |= put_integer(object, "parameters", axle_module_parameter_count(module));
    wrong |= put_integer(object, "trainable_parameters", training->trainable);
    wrong |= put_text(object, "backend", axle_device_backend(device));
    wrong |= put_text(object, "device", axle_device_name(device));
    wrong |= put_integer(object, "processes", axle_process_count(training->accelerator));
    wrong |= put_text(object, "dtype", train_dtypes()[settings->dtype]);
    wrong |= put_real(object, "loss_scale", axle_loss_scale(training->accelerator));
    wrong |= put_text(object, "optimizer", train_optimizers()[settings->optimizer]);
    wrong |= put_text(object, "schedule", train_schedules()[settings->schedule]);
    wrong |= put_integer(object, "seed", settings->seed);
    if (training->input_std > 0.0) {
        wrong |= put_real(object, "input_mean", training->input_mean);
        wrong |= put_real(object, "input_std", training->input_std);
    }
    return wrong | put_integer(object, "epochs", settings->epochs);
}

static int put_result(json_t *object, const train_result *result)
{
    double speed = result->seconds > 0.0 ? (double)result->rows / result->seconds : 0.0;
    int known = result->evaluated;
    int wrong = put_integer(object, "updates", result->updates);
    wrong |= put_integer(object, "samples", result->rows);
    wrong |= put_real(object, "first_loss", result->first_loss);
    wrong |= put_real(object, "last_loss", result->last_loss);
    wrong |= put_real(object, "train_loss", result->train_loss);
    wrong |= json_object_set_new(object, "eval_loss", real_or_null(known, result->eval_loss));
    int counted = known && isfinite(result->eval_accuracy);
    wrong |=
        json_object_set_new(object, "eval_accuracy", real_or_null(counted, result->eval_accuracy));
    wrong |= json_object_set_new(object, "eval_metrics",
                                 known ? evaluation_describe(&result->eval) : json_null());
    wrong |= put_real(object, "seconds", result->seconds);
    return wrong | put_real(object, "samples_per_second", speed);
}

static int put_parameters(json_t *object, const train_result *result)
{
    char text[17];
    snprintf(text, sizeof(text), "%016" PRIx64, result->checksum);
    int wrong = put_text(object, "parameter_checksum", text);
    return wrong | json_object_set_new(object, "parameters_equal", json_boolean(result->equal));
}

static int put_costs(json_t *object, const axle_device *device)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    axle_device_get_stats(device, &stats);
    int wrong = put_integer(object, "fallbacks", (int64_t)stats.fallbacks);
    wrong |= put_integer(object, "device_peak_bytes", (int64_t)stats.bytes_peak);
    return wrong | put_integer(object, "peak_rss_bytes", peak_rss_bytes());
}

int train_compare_parameters(training *training)
{
    train_result *result = &training->result;
    int code = axle_module_checksum(axle_model_module(training->model), &result->checksum);
    return code ? code
                : axle_processes_agree(training->accelerator, result->checksum, &result->equal);
}

json_t *train_describe(const training *training)
{
    const axle_device *device = axle_accelerator_device(training->accelerator);
    json_t *object = json_object();
    if (object && !put_run(object, training, device) && !put_result(object, &training->result) &&
        !put_parameters(object, &training->result) && !put_costs(object, device))
        return object;
    json_decref(object);
    return NULL;
}
