/* SPDX-License-Identifier: Apache-2.0 */
/* axle estimate-memory: a step that allocates and does not compute. */
#include <math.h>

#include "axle/models.h"
#include "estimate_memory.h"
#include "text_model.h"
#include "train.h"

static int64_t bytes_in_use(const axle_device *device)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    axle_device_get_stats(device, &stats);
    return (int64_t)stats.bytes_in_use;
}

static int64_t bytes_peak(const axle_device *device)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    axle_device_get_stats(device, &stats);
    return (int64_t)stats.bytes_peak;
}

static int add_bytes(const char *path, axle_tensor *tensor, void *user)
{
    (void)path;
    size_t item = axle_dtype_size(axle_tensor_dtype(tensor));
    *(int64_t *)user += axle_tensor_count(tensor) * (int64_t)item;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ making what a run needs */

static const char *name_of(const estimate_settings *settings)
{
    return all_model_names()[settings->model];
}

static int create_model(const estimate_settings *settings, training *training)
{
    if (is_text_model(name_of(settings)))
        return text_model_create(name_of(settings), &training->model);
    axle_image_model_options wanted = AXLE_IMAGE_MODEL_OPTIONS_INIT;
    axle_module *module;
    wanted.channels = settings->channels;
    wanted.height = settings->height;
    wanted.width = settings->width;
    wanted.classes = settings->classes;
    wanted.hidden = settings->hidden;
    wanted.dropout = settings->dropout;
    int code = axle_image_model_create(name_of(settings), &wanted, &module);
    return code ? code : axle_classifier_create(module, &training->model);
}

/* Losses have no values here. */
static int create_accelerator(const char *precision, training *training)
{
    axle_accelerator_options wanted = AXLE_ACCELERATOR_OPTIONS_INIT;
    wanted.precision = precision;
    wanted.accumulate = 1;
    wanted.allow_nonfinite = 1;
    wanted.quiet = 1;
    return axle_accelerator_create(&wanted, &training->accelerator);
}

static int set_up(const estimate_settings *settings, const char *precision, training *training)
{
    int code = create_accelerator(precision, training);
    if (!code)
        code = create_model(settings, training);
    if (!code)
        code = train_adapt(training);
    if (!code)
        code = train_create_optimizer(training);
    if (!code)
        code = axle_prepare(training->accelerator, training->model, training->optimizer);
    return code;
}

static void tear_down(training *training)
{
    axle_optimizer_release(training->optimizer);
    axle_model_release(training->model);
    axle_accelerator_release(training->accelerator);
}

/* ------------------------------------------------------------------ the step */

static int make_batch(const estimate_settings *settings, int64_t rows, axle_batch **out)
{
    if (is_text_model(name_of(settings)))
        return text_batch_create(name_of(settings), rows, settings->length, out);
    int code = axle_batch_create(out);
    if (code)
        return code;
    code = axle_batch_set(*out, "input",
                          axle_empty(AXLE_DTYPE_F32, AXLE_DIMS(rows, settings->channels,
                                                               settings->height, settings->width)));
    if (!code)
        code = axle_batch_set(*out, "target", axle_empty(AXLE_DTYPE_I64, AXLE_DIMS(rows)));
    if (code)
        axle_batch_release(*out);
    return code;
}

/* *most: what it has at a time besides what was there before. */
static int go_through(const estimate_settings *settings, const training *training, int64_t rows,
                      int64_t *most)
{
    axle_device *device = axle_accelerator_device(training->accelerator);
    axle_batch *batch = NULL;
    int64_t before = bytes_in_use(device);
    int code = axle_scope_push();
    if (code)
        return code;
    axle_device_reset_peak(device);
    axle_device_dry_run(device, 1);
    code = make_batch(settings, rows, &batch);
    if (!code) {
        axle_output out = axle_model_forward(training->model, batch);
        code = axle_backward(training->accelerator, out.loss);
        axle_batch_release(batch);
    }
    axle_device_dry_run(device, 0);
    *most = bytes_peak(device) - before;
    axle_scope_pop();
    return code;
}

/* What does not fit is computed from what does: all but a little of it grows with the batch. */
static int measure_step(const estimate_settings *settings, const training *training, estimate *out)
{
    axle_device *device = axle_accelerator_device(training->accelerator);
    int64_t rows = settings->batch_size, most = 0;
    int code = go_through(settings, training, rows, &most);
    while (code == AXLE_ERR_NOMEM && rows > 1) {
        axle_error_clear();
        axle_device_trim(device);
        rows /= 2;
        code = go_through(settings, training, rows, &most);
    }
    out->measured = rows;
    out->activations = (int64_t)((double)most * ((double)settings->batch_size / (double)rows));
    return code;
}

/* ------------------------------------------------------------------ all of it */

static int measure_state(const training *training, int64_t held, estimate *out)
{
    const axle_module *module = axle_model_module(training->model);
    int64_t trainable;
    int code = axle_module_each_parameter(module, add_bytes, &out->parameters);
    if (!code)
        code = axle_module_each_buffer(module, add_bytes, &out->buffers);
    if (!code)
        code = axle_module_trainable_count(module, &trainable);
    if (code)
        return code;
    out->count = axle_module_parameter_count(module);
    out->gradients = trainable * (int64_t)axle_dtype_size(axle_default_dtype());
    out->moments = held - out->parameters - out->buffers - out->gradients;
    if (out->moments < 0)
        out->moments = 0;
    return AXLE_OK;
}

/* Arenas are whole before they are shared out. */
static void share_out(const estimate_settings *settings, estimate *out)
{
    if (settings->shard_optimizer)
        out->moments = (out->moments + settings->processes - 1) / settings->processes;
    int64_t step =
        out->parameters + out->buffers + out->gradients + out->moments + out->activations;
    out->total = step > out->setup ? step : out->setup;
}

static int measure(const estimate_settings *settings, const char *precision, training *training,
                   estimate *out)
{
    axle_device *device = axle_device_current();
    if (!device)
        return axle_error_code();
    int64_t before = bytes_in_use(device);
    axle_device_reset_peak(device);
    int code = set_up(settings, precision, training);
    out->setup = bytes_peak(device) - before;
    if (!code)
        code = measure_state(training, bytes_in_use(device) - before, out);
    if (!code)
        code = measure_step(settings, training, out);
    share_out(settings, out);
    return code;
}

int estimate_measure(const estimate_settings *settings, const char *precision, estimate *out,
                     const char **backend, const char **device)
{
    train_settings asked = train_defaults;
    training training = {.settings = &asked, .task = train_task_of(&asked)};
    asked.optimizer = settings->optimizer;
    asked.momentum = settings->momentum;
    asked.grad_checkpoint = settings->grad_checkpoint;
    train_complete(&asked);
    int code = measure(settings, precision, &training, out);
    if (!code) {
        const axle_device *used = axle_accelerator_device(training.accelerator);
        *backend = axle_device_backend(used);
        *device = axle_device_name(used);
    }
    tear_down(&training);
    return code;
}
