/* SPDX-License-Identifier: Apache-2.0 */
/* axle predict: labels of texts from the command line, a file or standard input. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/autograd.h"
#include "axle/ops.h"
#include "axle/status.h"
#include "command.h"
#include "predict_output.h"
#include "texts.h"

typedef struct predict_settings {
    option_list operands; /* the model, and texts */
    const char *file, *revision;
    int64_t max_length, batch_size;
    int pairs, json;
} predict_settings;

static const predict_settings defaults = {.batch_size = 32};

enum { MOST = 1 << 30, MOST_BATCH = 4096 };

#define PREDICT_OPTION(label, type, field, ...)                                                    \
    CLI_OPTION(label, type, predict_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    PREDICT_OPTION("file", FILE, file, .value = "FILE", .unset = "standard input, without TEXT",
                   .help = "texts, one a line"),
    PREDICT_OPTION("pairs", FLAG, pairs, .help = "a tab separates two texts that belong together"),
    PREDICT_OPTION("max-length", INTEGER, max_length, .value = "N", .low = 2, .high = MOST,
                   .unset = "what the model takes",
                   .help = "tokens of a text; longer ones are cut"),
    PREDICT_OPTION("batch-size", INTEGER, batch_size, .value = "N", .low = 1, .high = MOST_BATCH,
                   .help = "texts a batch, of arguments and files"),
    PREDICT_OPTION("revision", TEXT, revision, .value = "NAME", .unset = "main",
                   .help = "branch, tag or commit of the model on the hub"),
    PREDICT_OPTION("json", FLAG, json, .help = "print a JSON object a text"),
    CLI_OPTION_END,
};

typedef struct predictor {
    const predict_settings *settings;
    axle_accelerator *accelerator;
    pretrained model;
    axle_text_options text;
    /* Of the batch under way. */
    int64_t *rows, count;
    float *logits;
} predictor;

/* ------------------------------------------------------------------ a batch */

/* Put a fetched batch on the device. */
static int place(predictor *p, const axle_batch *from, axle_batch *to)
{
    int code = AXLE_OK;
    for (int k = 0; k < axle_batch_count(from) && !code; k++) {
        axle_tensor *tensor = axle_accelerator_place(p->accelerator, axle_batch_tensor(from, k));
        code = tensor ? axle_batch_set(to, axle_batch_name(from, k), tensor) : axle_error_code();
    }
    return code;
}

static int compute(predictor *p, const axle_batch *fetched)
{
    axle_batch *batch;
    int code = axle_batch_create(&batch);
    if (code)
        return code;
    code = place(p, fetched, batch);
    if (!code) {
        axle_output out = axle_model_forward(p->model.model, batch);
        axle_tensor *logits = axle_cast(out.logits, AXLE_DTYPE_F32);
        code = logits ? axle_tensor_read(logits, p->logits,
                                         (size_t)(p->count * p->model.labels) * sizeof(float))
                      : axle_error_code();
    }
    axle_batch_release(batch);
    return code;
}

static int forward(predictor *p, axle_dataset *set)
{
    axle_batch *fetched;
    int code = axle_dataset_fetch(set, p->rows, p->count, &fetched);
    if (code)
        return code;
    code = axle_scope_push();
    if (!code) {
        axle_no_grad_push();
        code = compute(p, fetched);
        axle_no_grad_pop();
        axle_scope_pop();
    }
    axle_batch_release(fetched);
    return code;
}

static int print_all(const predictor *p, const char *const *texts, const char *const *pairs)
{
    int code = AXLE_OK;
    for (int64_t k = 0; k < p->count && !code; k++) {
        const float *logits = p->logits + k * p->model.labels;
        const char *pair = pairs ? pairs[k] : NULL;
        if (p->settings->json)
            code = predict_print_json(&p->model, texts[k], pair, logits);
        else
            predict_print_line(&p->model, texts[k], pair, logits);
    }
    if (!code && fflush(stdout) != 0)
        code = axle_error_set(AXLE_ERR_IO, "standard output: %s", strerror(errno));
    return code;
}

static int answer(void *user, const char *const *texts, const char *const *pairs, int64_t n)
{
    predictor *p = user;
    axle_text_encoder encoder = axle_text_encoder_of(p->model.tokenizer);
    axle_dataset *set;
    p->count = n;
    int code = axle_text_dataset_create(n, texts, pairs, NULL, &p->text, &encoder, &set);
    if (code)
        return code;
    code = forward(p, set);
    axle_dataset_release(set);
    return code ? code : print_all(p, texts, pairs);
}

/* ------------------------------------------------------------------ the command */

static int make_room(predictor *p)
{
    size_t n = (size_t)p->settings->batch_size;
    p->rows = calloc(n, sizeof(*p->rows));
    p->logits = calloc(n * (size_t)p->model.labels, sizeof(*p->logits));
    if (!p->rows || !p->logits)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (size_t k = 0; k < n; k++)
        p->rows[k] = (int64_t)k;
    return AXLE_OK;
}

static int begin(predictor *p)
{
    const predict_settings *settings = p->settings;
    axle_accelerator_options wanted = AXLE_ACCELERATOR_OPTIONS_INIT;
    wanted.quiet = 1;
    int code = axle_accelerator_create(&wanted, &p->accelerator);
    if (!code)
        code = pretrained_find(settings->operands.item[0], settings->revision, p->accelerator, 0,
                               &p->model);
    if (!code)
        code = pretrained_load(&p->model);
    if (!code)
        code = axle_prepare(p->accelerator, p->model.model);
    if (code)
        return code;
    axle_module_train(axle_model_module(p->model.model), 0);
    int64_t most = p->model.max_length;
    p->text.max_length =
        settings->max_length > 0 && settings->max_length < most ? settings->max_length : most;
    p->text.threads = 1;
    return make_room(p);
}

static void release(predictor *p)
{
    free(p->rows);
    free(p->logits);
    pretrained_release(&p->model);
    axle_accelerator_release(p->accelerator);
}

static int run(const void *given, const int *operands, int n)
{
    const predict_settings *settings = given;
    predictor p = {.settings = settings, .text = AXLE_TEXT_OPTIONS_INIT};
    (void)operands;
    (void)n;
    if (settings->file && settings->operands.count > 1)
        return options_usage(&predict_command, "--file and texts do not go together");
    const text_source source = {&settings->operands, settings->file, settings->pairs,
                                settings->batch_size};
    int code = begin(&p);
    if (!code)
        code = texts_each(&source, answer, &p);
    int status = code ? command_failed(&predict_command, NULL) : EXIT_DONE;
    release(&p);
    axle_finalize();
    return status;
}

static const cli_option operand = PREDICT_OPTION("model", LIST, operands, .value = "MODEL");

const command predict_command = {
    .name = "predict",
    .summary = "label texts",
    .about = "Label texts with a model, in a folder or by its name on the hub. Each text is "
             "answered by a line: label, probability and text, separated by tabs. Without TEXT "
             "and --file, lines of standard input are answered as they come.",
    .operand = "MODEL [TEXT]",
    .needed = &operand,
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
