/* SPDX-License-Identifier: Apache-2.0 */
/* What a run tells at its end. */
#define _GNU_SOURCE 1
#include <sys/resource.h>

#include "train.h"

/* JSON has no NaN. */
static json_t *real_or_null(int known, double value)
{
    json_t *real = known ? json_real(value) : NULL;
    return real ? real : json_null();
}

static json_int_t peak_rss_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (json_int_t)usage.ru_maxrss * 1024 : 0;
}

static json_t *describe_run(const training *training, const axle_device *device)
{
    const train_settings *settings = training->settings;
    const char *model = train_model_name(settings);
    const axle_module *module = axle_model_module(training->model);
    return json_pack(
        "{s:s, s:s, s:I, s:s, s:s, s:i, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "task", "image",
        "model", model, "parameters", (json_int_t)axle_module_parameter_count(module), "backend",
        axle_device_backend(device), "device", axle_device_name(device), "processes",
        axle_process_count(training->accelerator), "dtype", train_dtypes()[settings->dtype],
        "optimizer", train_optimizers()[settings->optimizer], "schedule",
        train_schedules()[settings->schedule], "seed", (json_int_t)settings->seed, "epochs",
        (json_int_t)settings->epochs, "updates", (json_int_t)training->result.updates, "samples",
        (json_int_t)training->result.rows);
}

static json_t *describe_result(const training *training, const axle_device *device)
{
    const train_result *result = &training->result;
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    axle_device_get_stats(device, &stats);
    double speed = result->seconds > 0.0 ? (double)result->rows / result->seconds : 0.0;
    return json_pack(
        "{s:f, s:f, s:f, s:o, s:o, s:f, s:f, s:I, s:I, s:I}", "first_loss", result->first_loss,
        "last_loss", result->last_loss, "train_loss", result->train_loss, "eval_loss",
        real_or_null(result->evaluated, result->eval_loss), "eval_accuracy",
        real_or_null(result->evaluated, result->eval_accuracy), "seconds", result->seconds,
        "samples_per_second", speed, "fallbacks", (json_int_t)stats.fallbacks, "device_peak_bytes",
        (json_int_t)stats.bytes_peak, "peak_rss_bytes", peak_rss_bytes());
}

json_t *train_describe(const training *training)
{
    const axle_device *device = axle_accelerator_device(training->accelerator);
    json_t *run = describe_run(training, device), *result = describe_result(training, device);
    if (!run || !result || json_object_update(run, result)) {
        json_decref(run);
        run = NULL;
    }
    json_decref(result);
    return run;
}
