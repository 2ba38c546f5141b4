/* SPDX-License-Identifier: Apache-2.0 */
/* axle train: what of the model is trained. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include "train.h"

/* Freeze by each pattern of a list with commas. */
static int freeze(axle_module *module, const char *patterns)
{
    char *list = strdup(patterns), *rest = list, *pattern;
    int code = list ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    while (!code && (pattern = strsep(&rest, ",")))
        code = axle_module_freeze(module, pattern, 1);
    free(list);
    return code;
}

/* ------------------------------------------------------------------ --lora */

/* Read a number that is the whole text. */
static int read_number(const char *key, const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0')
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "--lora: %s is no number: '%s'", key, text);
}

/* One item of the list. Items without a key go on with the targets. */
static int read_item(char *item, axle_lora_options *options, char *targets)
{
    char *value = strchr(item, '=');
    double number;
    if (!value && *targets) {
        strcat(strcat(targets, ","), item);
        return AXLE_OK;
    }
    if (!value)
        return axle_error_set(AXLE_ERR_INVALID, "--lora: '%s' is no key=value", item);
    *value++ = '\0';
    if (strcmp(item, "targets") == 0) {
        strcpy(targets, value);
        return AXLE_OK;
    }
    int code = read_number(item, value, &number);
    if (code)
        return code;
    if (strcmp(item, "rank") == 0)
        options->rank = (int64_t)number;
    else if (strcmp(item, "alpha") == 0)
        options->alpha = number;
    else if (strcmp(item, "dropout") == 0)
        options->dropout = number;
    else
        return axle_error_set(AXLE_ERR_INVALID,
                              "--lora: there is no '%s'; there are rank, alpha, dropout and "
                              "targets",
                              item);
    return AXLE_OK;
}

static int apply_lora(axle_module *module, const char *text)
{
    axle_lora_options options = AXLE_LORA_OPTIONS_INIT;
    char *list = strdup(text), *rest = list, *item, *targets = calloc(strlen(text) + 1, 1);
    int code = list && targets ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    while (!code && (item = strsep(&rest, ",")))
        code = read_item(item, &options, targets);
    if (!code && *targets)
        options.targets = targets;
    if (!code)
        code = axle_lora_apply(module, &options);
    free(targets);
    free(list);
    return code;
}

/* The adapters go to files of their own, and into the weights of the model that is kept. */
static int merge_lora(const training *training, axle_module *module)
{
    const char *output = training->settings->output;
    int code = AXLE_OK;
    if (output && axle_is_main_process(training->accelerator))
        code = axle_lora_save(module, output);
    if (!code)
        code = axle_lora_merge(module);
    return code ? code : axle_lora_remove(module);
}

/* ------------------------------------------------------------------ --grad-checkpoint */

/* Blocks are what has children and is no mere sequence of them. */
static int mark_block(const char *path, axle_module *module, void *user)
{
    int is_block = *path && axle_module_child_count(module) > 0 &&
                   strcmp(module->type->name, "sequential") != 0;
    if (is_block)
        axle_module_checkpoint(module, 1);
    *(int *)user += is_block;
    return AXLE_OK;
}

/* A network without blocks is computed again in pieces. */
static int mark_blocks(axle_module *module)
{
    int blocks = 0, code = axle_module_each_module(module, mark_block, &blocks);
    if (!code && blocks == 0)
        axle_module_checkpoint(module, 1);
    return code;
}

/* ------------------------------------------------------------------ before and after */

int train_create_ema(training *training)
{
    double decay = training->settings->ema;
    axle_module *module = axle_model_module(training->model);
    if (!(decay > 0.0))
        return AXLE_OK;
    int code = axle_ema_create(module, decay, NULL, &training->ema);
    if (!code)
        code = axle_register_ema(training->accelerator, training->ema);
    return code;
}

int train_finish_model(training *training)
{
    axle_module *module = axle_model_module(training->model);
    int code = axle_average_parameters(training->accelerator);
    if (!code && training->ema)
        code = axle_ema_swap(training->ema);
    if (!code && training->settings->lora)
        code = merge_lora(training, module);
    return code;
}

int train_adapt(training *training)
{
    const train_settings *settings = training->settings;
    axle_module *module = axle_model_module(training->model);
    int code = settings->lora ? apply_lora(module, settings->lora) : AXLE_OK;
    if (!code && settings->freeze)
        code = freeze(module, settings->freeze);
    if (!code && settings->grad_checkpoint)
        code = mark_blocks(module);
    if (!code)
        code = axle_module_trainable_count(module, &training->trainable);
    if (!code && training->trainable == 0)
        code = axle_error_set(AXLE_ERR_INVALID, "--freeze: nothing is left to train");
    return code;
}
