/* SPDX-License-Identifier: Apache-2.0 */
/* The task image: a classifier of pictures of IDX files, or of ones that are made up. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "axle/models.h"
#include "names.h"
#include "standardise.h"
#include "train.h"

enum { SYNTHETIC_TRAIN = 6000, SYNTHETIC_EVAL = 1000, SYNTHETIC_SEED = 1 };

/* ------------------------------------------------------------------ labels */

static int check_labels(const char *path, const axle_tensor *labels, int64_t classes)
{
    int64_t count = axle_tensor_count(labels);
    if (axle_tensor_dtype(labels) != AXLE_DTYPE_U8)
        return AXLE_OK; /* opening the data set names what is wrong */
    unsigned char *label = malloc((size_t)count + 1);
    if (!label)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    int code = axle_tensor_read(labels, label, (size_t)count);
    for (int64_t k = 0; k < count && !code; k++)
        if (label[k] >= classes)
            code = axle_error_set(AXLE_ERR_INDEX,
                                  "%s: label %" PRId64 " is %d, must lie in [0, %" PRId64 ")", path,
                                  k, label[k], classes);
    free(label);
    return code;
}

/* A label that no output of the model stands for would stop the run when it is met, which may be
 * hours later. */
static int check_label_file(const char *folder, const char *name, int64_t classes)
{
    static const char *const endings[] = {"", ".gz"};
    for (size_t k = 0; k < sizeof(endings) / sizeof(endings[0]); k++) {
        char *path;
        axle_tensor *labels;
        if (asprintf(&path, "%s/%s-labels-idx1-ubyte%s", folder, name, endings[k]) < 0)
            return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
        int there = access(path, F_OK) == 0;
        int code = there ? axle_idx_read(path, &labels) : AXLE_OK;
        if (there && !code) {
            code = check_labels(path, labels, classes);
            axle_tensor_release(labels);
        }
        free(path);
        if (there)
            return code;
    }
    return AXLE_OK;
}

/* ------------------------------------------------------------------ sets */

static int open_idx(const train_settings *settings, int train, axle_dataset **out)
{
    const char *name = train ? "train" : "t10k";
    int code = axle_idx_dataset_open(settings->data, train, out);
    if (!code)
        code = check_label_file(settings->data, name, settings->classes);
    if (!code && axle_dataset_length(*out) == 0)
        code = axle_error_set(AXLE_ERR_FORMAT, "%s: %s has no pictures", settings->data, name);
    return code;
}

static int open_synthetic(int train, axle_dataset **out)
{
    return axle_synthetic_image_dataset_create(train ? SYNTHETIC_TRAIN : SYNTHETIC_EVAL,
                                               SYNTHETIC_SEED + !train, out);
}

static int open_set(const train_settings *settings, int train, axle_dataset **out)
{
    return settings->data ? open_idx(settings, train, out) : open_synthetic(train, out);
}

/* Put a set in place of *set that gives its pixels scaled. */
static int standardise(const training *training, axle_dataset **set)
{
    axle_dataset *scaled;
    int code = standardise_create(*set, training->input_mean, training->input_std, &scaled);
    if (code)
        return code;
    axle_dataset_release(*set);
    *set = scaled;
    return AXLE_OK;
}

static int open_both(training *training)
{
    int code = open_set(training->settings, 1, &training->train_set);
    if (!code && !training->settings->no_eval)
        code = open_set(training->settings, 0, &training->eval_set);
    if (!code)
        code =
            standardise_measure(training->train_set, &training->input_mean, &training->input_std);
    if (!code)
        code = standardise(training, &training->train_set);
    if (!code && training->eval_set)
        code = standardise(training, &training->eval_set);
    return code;
}

static int open_data(training *training)
{
    const train_settings *settings = training->settings;
    if (!settings->data && !settings->quiet)
        fprintf(stderr, "no --data: training on %d synthetic pictures\n", SYNTHETIC_TRAIN);
    training->metrics = AXLE_METRICS_CLASSES;
    training->labels = settings->classes;
    int code = open_both(training);
    if (!code)
        code = train_create_loader(training, training->train_set, 1, NULL, &training->loader);
    if (!code && training->eval_set)
        code = train_create_loader(training, training->eval_set, 0, NULL, &training->eval_loader);
    return code;
}

/* ------------------------------------------------------------------ the model */

/* Size of the pictures, from the first one. */
static int measure_pictures(axle_dataset *set, axle_image_model_options *out)
{
    axle_batch *first;
    int code = axle_dataset_fetch(set, (const int64_t[]){0}, 1, &first);
    if (code)
        return code;
    const axle_tensor *input = axle_batch_get(first, "input");
    if (input) {
        out->channels = axle_tensor_dim(input, 1);
        out->height = axle_tensor_dim(input, 2);
        out->width = axle_tensor_dim(input, 3);
    }
    axle_batch_release(first);
    return input ? AXLE_OK : axle_error_code();
}

/* Cross-entropy in the element type of the parameters, whatever that of the data. */
static axle_output classify(axle_module *module, axle_batch *batch, void *user)
{
    (void)user;
    axle_tensor *input = axle_cast(axle_batch_get(batch, "input"), axle_default_dtype());
    axle_output out = {NULL, axle_module_forward(module, input)};
    out.loss = axle_cross_entropy(out.logits, axle_batch_get(batch, "target"), NULL);
    if (!out.loss)
        out.logits = NULL;
    return out;
}

static int create_model(training *training)
{
    const train_settings *settings = training->settings;
    axle_image_model_options wanted = AXLE_IMAGE_MODEL_OPTIONS_INIT;
    wanted.hidden = settings->hidden;
    wanted.dropout = settings->dropout;
    wanted.classes = settings->classes;
    int code = measure_pictures(training->train_set, &wanted);
    if (code)
        return code;
    axle_module *module;
    axle_seed((uint64_t)settings->seed);
    code = axle_image_model_create(settings->model, &wanted, &module);
    return code ? code : axle_model_create(module, classify, NULL, &training->model);
}

static int save_model(const training *training)
{
    char *path = train_output_path(training, "model.safetensors");
    int code = path ? axle_module_save(axle_model_module(training->model), path) : AXLE_ERR_NOMEM;
    free(path);
    return code;
}

/* ------------------------------------------------------------------ the task */

static int check(const train_settings *given, char problem[PROBLEM_SIZE])
{
    const char *const *models = axle_image_model_names();
    if (given->eval || given->text_column || given->pair_column || given->label_column ||
        given->revision || given->max_length || given->no_header || given->problem >= 0) {
        snprintf(problem, PROBLEM_SIZE, "%s",
                 "columns, --eval, --problem, --max-length, --revision "
                 "and --no-header are for --task text");
        return -1;
    }
    if (!given->model || names_find(models, given->model) >= 0)
        return 0;
    int used = snprintf(problem, PROBLEM_SIZE, "--model: ");
    char unknown[PROBLEM_SIZE];
    option_value_unknown(given->model, models, unknown);
    snprintf(problem + used, PROBLEM_SIZE - (size_t)used, "%.*s", PROBLEM_SIZE - used - 1, unknown);
    return -1;
}

static void complete(train_settings *settings)
{
    if (!settings->model)
        settings->model = "lenet";
    if (settings->optimizer < 0)
        settings->optimizer = names_find(train_optimizers(), "adam");
    if (settings->schedule < 0)
        settings->schedule = names_find(train_schedules(), "trapezoid");
    if (settings->epochs == 0)
        settings->epochs = 1;
    if (settings->batch_size == 0)
        settings->batch_size = 64;
    if (settings->eval_batch_size == 0)
        settings->eval_batch_size = 250;
    if (settings->hidden == 0)
        settings->hidden = 32;
    if (settings->classes == 0)
        settings->classes = 10;
    if (isnan(settings->lr))
        settings->lr = 1e-3;
    if (isnan(settings->warmup_ratio))
        settings->warmup_ratio = 0.0;
    if (isnan(settings->dropout))
        settings->dropout = 0.0;
}

const train_task train_image_task = {
    .name = "image",
    .labels = "target",
    .check = check,
    .complete = complete,
    .open_data = open_data,
    .create_model = create_model,
    .save_model = save_model,
};
