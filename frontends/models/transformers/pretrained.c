/* SPDX-License-Identifier: Apache-2.0 */
/* Models from folders. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/options_copy.h"
#include "config.h"
#include "load.h"

/* ------------------------------------------------------------------ the configuration */

static int set_labels(axle_transformer_config *config, const axle_pretrained_options *o)
{
    if (o->num_labels == 0 && o->labels)
        return axle_error_set(AXLE_ERR_INVALID, "labels without num_labels");
    if (o->num_labels == 0 ||
        (!o->labels && o->num_labels == axle_transformer_config_label_count(config)))
        return AXLE_OK;
    return axle_transformer_config_set_labels(config, o->labels, o->num_labels);
}

/* Every probability that the model has. */
static int set_dropout(axle_transformer_config *config, double p)
{
    static const char *const keys[] = {"hidden_dropout_prob", "attention_probs_dropout_prob",
                                       "classifier_dropout", "embedding_dropout_prob"};
    int status = AXLE_OK;
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]) && !status; k++)
        if (axle__config_row(config->kind, keys[k]))
            status = axle_transformer_config_set_double(config, keys[k], p);
    return status;
}

static int apply(axle_transformer_config *config, const axle_pretrained_options *o)
{
    int status = set_labels(config, o);
    if (!status && o->problem_type)
        status = axle_transformer_config_set_string(config, "problem_type", o->problem_type);
    if (!status && o->dropout >= 0.0)
        status = set_dropout(config, o->dropout);
    return status;
}

static const char *first_class(const axle_transformer_config *config)
{
    return json_string_value(json_array_get(json_object_get(config->root, "architectures"), 0));
}

/* The task that is asked for, or else that of the class which wrote the files. */
static int choose_task(const axle_transformer_config *config, const char *name,
                       const axle__task **out)
{
    const char *class_name = first_class(config);
    if (name)
        return axle__task_choose(config, name, out);
    for (const axle__task *task = config->kind->tasks; task->name && class_name; task++)
        if (strcmp(task->class_name, class_name) == 0) {
            *out = task;
            return AXLE_OK;
        }
    return axle_error_set(AXLE_ERR_NOT_FOUND, "config.json: there is no task for '%.80s'",
                          class_name ? class_name : "no architecture");
}

/* ------------------------------------------------------------------ the files */

static bool is_there(const char *directory, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return false;
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* PyTorch's own format is a program that reading runs; it is not read. */
static int refuse_pickles(const char *directory, const axle_transformer_config *config)
{
    const char *class_name = first_class(config);
    if (is_there(directory, "model.safetensors") ||
        is_there(directory, "model.safetensors.index.json") ||
        (!is_there(directory, "pytorch_model.bin") &&
         !is_there(directory, "pytorch_model.bin.index.json")))
        return AXLE_OK;
    return axle_error_set(
        AXLE_ERR_UNSUPPORTED,
        "%s: there is only pytorch_model.bin, which Axle does not read. Convert it where "
        "transformers is: python3 -c \"import transformers as t; "
        "t.%.80s.from_pretrained('%s').save_pretrained('%s', safe_serialization=True)\"",
        directory, class_name ? class_name : "AutoModel", directory, directory);
}

/* A file that only has a head in common with the model is of another one. */
static int check_any(const char *directory, const axle__loading *loading)
{
    const axle__network *network = loading->network;
    size_t length = network->task->head ? strlen(network->kind->prefix) + 1 : 0;
    for (size_t k = 0; k < loading->count; k++) {
        const char *name = loading->target[k].name;
        if (loading->target[k].stored &&
            (length == 0 ||
             (strncmp(name, network->kind->prefix, length - 1) == 0 && name[length - 1] == '.')))
            return AXLE_OK;
    }
    const char *theirs =
        axle_tensor_file_count(loading->file) ? axle_tensor_file_at(loading->file, 0)->name : "";
    return axle_error_set(AXLE_ERR_NOT_FOUND,
                          "%s: no tensor is one of the model's: it has '%s', the model '%s'",
                          directory, theirs, loading->count ? loading->target[0].name : "");
}

static int check_dims(const char *directory, const axle__loading *loading)
{
    for (size_t k = 0; k < loading->count; k++)
        if (loading->target[k].mismatched)
            return axle_error_set(AXLE_ERR_SHAPE,
                                  "%s: tensor '%s' has other dims than the model's; "
                                  "ignore_mismatched_sizes would give it random values",
                                  directory, loading->target[k].name);
    return AXLE_OK;
}

static int check_kinds(const char *directory, const axle__loading *loading)
{
    for (size_t k = 0; k < loading->count; k++) {
        const axle_stored_tensor *stored = loading->target[k].stored;
        if (stored && !axle_dtype_is_float(stored->dtype))
            return axle_error_set(AXLE_ERR_DTYPE, "%s: tensor '%s' is %s, no float", directory,
                                  stored->name, axle_dtype_name(stored->dtype));
    }
    return AXLE_OK;
}

static int load(const char *directory, axle__network *network, const axle_pretrained_options *o)
{
    axle_tensor_file *file;
    axle_load_report *report = NULL;
    int status = axle_tensor_file_open(directory, NULL, &file);
    if (status)
        return status;
    axle__loading loading = {.network = network, .file = file};
    status = axle__load_match(&loading);
    if (!status)
        status = check_any(directory, &loading);
    if (!status && !o->ignore_mismatched_sizes)
        status = check_dims(directory, &loading);
    if (!status)
        status = check_kinds(directory, &loading);
    if (!status)
        status = axle__load_values(&loading);
    if (!status && o->report)
        status = axle__report_create(&loading, &report);
    if (!status)
        axle__report_log(&loading);
    axle__load_end(&loading);
    axle_tensor_file_close(file);
    if (report)
        *o->report = report;
    return status;
}

/* ------------------------------------------------------------------ all of it */

static int create(const char *directory, const axle_transformer_config *config, const char *name,
                  const axle_pretrained_options *o, axle_model **out)
{
    axle__network *network = NULL;
    const axle__task *task = NULL;
    int status = choose_task(config, name, &task);
    if (!status)
        status = refuse_pickles(directory, config);
    if (!status)
        status = axle__network_create(config, task, &network);
    if (!status)
        status = load(directory, network, o);
    if (!status)
        return axle__network_model(network, out);
    axle_module_release(network ? &network->base : NULL);
    return status;
}

int axle_transformer_from_pretrained(const char *directory, const char *task,
                                     const axle_pretrained_options *options, axle_model **out)
{
    axle_pretrained_options o = AXLE_PRETRAINED_OPTIONS_INIT;
    axle_transformer_config *config;
    int status = options_copy("axle_transformer_from_pretrained", options, &o, sizeof(o));
    if (status)
        return status;
    status = axle_transformer_config_read(directory, &config);
    if (status)
        return status;
    status = apply(config, &o);
    if (!status)
        status = create(directory, config, task, &o, out);
    axle_transformer_config_release(config);
    return status;
}
