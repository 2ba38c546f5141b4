/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "pretrained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axle/hub.h"
#include "axle/metrics.h"
#include "axle/status.h"
#include "interrupt.h"

enum { MOST_TOKENS = 512, PERCENT = 100 };

static const char *const problems[] = {
    [AXLE_TEXT_CLASSES] = "single_label_classification",
    [AXLE_TEXT_LABEL_SETS] = "multi_label_classification",
    [AXLE_TEXT_NUMBERS] = "regression",
};

_Static_assert((int)AXLE_TEXT_CLASSES == (int)AXLE_METRICS_CLASSES &&
                   (int)AXLE_TEXT_LABEL_SETS == (int)AXLE_METRICS_LABEL_SETS &&
                   (int)AXLE_TEXT_NUMBERS == (int)AXLE_METRICS_NUMBERS,
               "kinds of labels and metrics have the same numbers");

const char *pretrained_problem_name(int kind)
{
    return problems[kind];
}

int pretrained_problem_of(const axle_transformer_config *config)
{
    const char *name = axle_transformer_config_get_string(config, "problem_type");
    for (int kind = AXLE_TEXT_CLASSES; name && kind <= AXLE_TEXT_NUMBERS; kind++)
        if (strcmp(problems[kind], name) == 0)
            return kind;
    return axle_transformer_config_label_count(config) == 1 ? AXLE_TEXT_NUMBERS : AXLE_TEXT_CLASSES;
}

/* A line that redraws itself. */
static int show_download(const axle_hub_progress *progress, void *user)
{
    (void)user;
    double share = progress->total > 0 ? (double)progress->done / (double)progress->total : 0.0;
    fprintf(stderr, "\r\033[K%s: %s (%d of %d) %.0f %%", progress->model, progress->file,
            progress->index + 1, progress->count, share * PERCENT);
    if (progress->index + 1 == progress->count && progress->done == progress->total)
        fputs("\r\033[K", stderr);
    return interrupt_signal() != 0;
}

static int stop_download(const axle_hub_progress *progress, void *user)
{
    (void)progress;
    (void)user;
    return interrupt_signal() != 0;
}

/* What the model has positions for, and its tokenizer gives. RoBERTa's count from behind the
 * padding token's. */
static int64_t longest(const axle_transformer_config *config, const axle_tokenizer *tokenizer)
{
    int64_t positions = MOST_TOKENS, most = axle_tokenizer_max_length(tokenizer);
    if (axle_transformer_config_get_int(config, "max_position_embeddings", &positions))
        axle_error_clear();
    if (strcmp(axle_transformer_config_model_type(config), "roberta") == 0)
        positions -= axle_tokenizer_pad_id(tokenizer) + 1;
    return most > 0 && most < positions ? most : positions;
}

int pretrained_find(const char *name, const char *revision, axle_accelerator *accelerator,
                    int quiet, pretrained *out)
{
    axle_hub_options options = AXLE_HUB_OPTIONS_INIT;
    axle_transformer_config *config;
    options.revision = revision;
    options.accelerator = accelerator;
    options.progress = quiet || !isatty(STDERR_FILENO) ? stop_download : show_download;
    int code = axle_hub_resolve(name, &options, &out->folder);
    if (!code)
        code = axle_transformer_config_read(out->folder, &config);
    if (code)
        return code;
    code = axle_tokenizer_open(out->folder, &out->tokenizer);
    if (!code)
        out->max_length = longest(config, out->tokenizer);
    axle_transformer_config_release(config);
    return code;
}

static int name_labels(pretrained *model)
{
    const axle_transformer_config *config = axle_transformer_config_of(model->model);
    model->kind = pretrained_problem_of(config);
    model->labels = axle_transformer_config_label_count(config);
    model->names = calloc((size_t)model->labels + 1, sizeof(*model->names));
    if (!model->names)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int64_t k = 0; k < model->labels; k++) {
        const char *name = axle_transformer_config_label(config, k);
        model->names[k] = name ? name : "";
    }
    return AXLE_OK;
}

int pretrained_load_for(pretrained *model, const char *task)
{
    axle_load_report *report = NULL;
    axle_pretrained_options options = AXLE_PRETRAINED_OPTIONS_INIT;
    options.report = &report;
    int code = axle_transformer_from_pretrained(model->folder, task, &options, &model->model);
    /* Random values would answer as if they knew. */
    if (!code && report->missing[0])
        code = axle_error_set(AXLE_ERR_STATE, "%s is not trained for this: it has no %s",
                              model->folder, report->missing[0]);
    axle_load_report_release(report);
    return code;
}

int pretrained_load(pretrained *model)
{
    int code = pretrained_load_for(model, "sequence-classification");
    return code ? code : name_labels(model);
}

void pretrained_release(pretrained *model)
{
    axle_model_release(model->model);
    free(model->names);
    axle_free(model->folder);
    axle_tokenizer_release(model->tokenizer);
    *model = (pretrained){0};
}
