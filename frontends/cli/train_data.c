/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a run: IDX files, or pictures that are made up. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static int create_loader(const training *training, axle_dataset *set, int train, axle_loader **out)
{
    const train_settings *settings = training->settings;
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = train ? settings->batch_size : settings->eval_batch_size;
    options.shuffle = train;
    options.seed = (uint64_t)settings->seed;
    options.workers = (int)settings->workers;
    return axle_loader_create(set, &options, out);
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

int train_open_data(training *training)
{
    const train_settings *settings = training->settings;
    if (!settings->data && !settings->quiet)
        fprintf(stderr, "no --data: training on %d synthetic pictures\n", SYNTHETIC_TRAIN);
    int code = open_both(training);
    if (!code)
        code = create_loader(training, training->train_set, 1, &training->loader);
    if (!code && training->eval_set)
        code = create_loader(training, training->eval_set, 0, &training->eval_loader);
    return code;
}
