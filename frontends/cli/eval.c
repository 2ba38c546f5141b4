/* SPDX-License-Identifier: Apache-2.0 */
/* axle eval: loss and metrics of a model of texts on a labelled file. */
#include <stdio.h>

#include "axle/status.h"
#include "command.h"
#include "evaluate.h"
#include "interrupt.h"
#include "pretrained.h"

typedef struct eval_settings {
    const char *model, *data, *revision, *text_column, *pair_column, *label_column;
    int64_t max_length, batch_size;
    int no_header, json;
} eval_settings;

static const eval_settings defaults = {.batch_size = 64};

enum { MOST = 1 << 30, REAL_DIGITS = 9 };

#define EVAL_OPTION(label, type, field, ...)                                                       \
    CLI_OPTION(label, type, eval_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    EVAL_OPTION("data", FILE, data, .value = "FILE", .unset = "needed",
                .help = "labelled texts (.tsv, .csv, .jsonl)"),
    EVAL_OPTION("text-column", TEXT, text_column, .value = "NAME", .unset = "text, sentence, 0",
                .help = "column of the texts, by name or number from 0"),
    EVAL_OPTION("pair-column", TEXT, pair_column, .value = "NAME", .unset = "text_pair, sentence2",
                .help = "column of second texts"),
    EVAL_OPTION("label-column", TEXT, label_column, .value = "NAME", .unset = "label, labels",
                .help = "column of the labels"),
    EVAL_OPTION("no-header", FLAG, no_header,
                .help = "the first line holds no names; the last column has the labels"),
    EVAL_OPTION("max-length", INTEGER, max_length, .value = "N", .low = 2, .high = MOST,
                .unset = "what the model takes", .help = "tokens of a text; longer ones are cut"),
    EVAL_OPTION("batch-size", INTEGER, batch_size, .value = "N", .low = 1, .high = MOST,
                .help = "texts a batch"),
    EVAL_OPTION("revision", TEXT, revision, .value = "NAME", .unset = "main",
                .help = "branch, tag or commit of the model on the hub"),
    EVAL_OPTION("json", FLAG, json, .help = "print one line that is a JSON object"),
    CLI_OPTION_END,
};

/* All that is evaluated; what was not made is NULL. */
typedef struct trial {
    axle_accelerator *accelerator;
    pretrained model;
    axle_dataset *set;
    axle_loader *loader;
    evaluation result;
} trial;

static int open_set(const eval_settings *settings, trial *trial)
{
    axle_text_encoder encoder = axle_text_encoder_of(trial->model.tokenizer);
    axle_text_options wanted = AXLE_TEXT_OPTIONS_INIT;
    axle_records_options records = AXLE_RECORDS_OPTIONS_INIT;
    int64_t most = trial->model.max_length;
    records.header = !settings->no_header;
    wanted.records = &records;
    wanted.text = settings->text_column;
    wanted.text_pair = settings->pair_column;
    wanted.label = settings->label_column;
    wanted.kind = trial->model.kind;
    wanted.labels = trial->model.names;
    wanted.max_length =
        settings->max_length > 0 && settings->max_length < most ? settings->max_length : most;
    int code = axle_text_dataset_open(settings->data, &wanted, &encoder, &trial->set);
    if (code)
        return code;
    axle_loader_options loading = AXLE_LOADER_OPTIONS_INIT;
    loading.batch_size = settings->batch_size;
    return axle_loader_create(trial->set, &loading, &trial->loader);
}

static int evaluate_file(const eval_settings *settings, trial *trial)
{
    axle_accelerator_options wanted = AXLE_ACCELERATOR_OPTIONS_INIT;
    wanted.quiet = 1;
    int code = axle_accelerator_create(&wanted, &trial->accelerator);
    if (!code)
        code = pretrained_find(settings->model, settings->revision, trial->accelerator,
                               !axle_is_main_process(trial->accelerator), &trial->model);
    if (!code)
        code = pretrained_load(&trial->model);
    if (!code)
        code = open_set(settings, trial);
    if (!code)
        code = axle_prepare(trial->accelerator, trial->model.model, trial->loader);
    const evaluation_of subject = {trial->accelerator, trial->model.model, trial->loader,
                                   "labels",           trial->model.kind,  trial->model.labels};
    if (!code)
        code = evaluate(&subject, &trial->result);
    return code;
}

static int print_json(const evaluation *result)
{
    json_t *metrics = evaluation_describe(result);
    json_t *object = metrics ? json_pack("{s:f, s:I, s:o}", "loss", result->loss, "rows",
                                         (json_int_t)result->rows, "metrics", metrics)
                             : NULL;
    if (!object)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    putchar('\n');
    json_decref(object);
    return AXLE_OK;
}

static int print(const eval_settings *settings, const trial *trial)
{
    evaluation all = trial->result;
    if (!axle_is_main_process(trial->accelerator))
        return AXLE_OK;
    if (settings->json)
        return print_json(&all);
    all.shown = all.count;
    printf("%lld texts: ", (long long)all.rows);
    evaluation_print(&all, stdout);
    putchar('\n');
    return AXLE_OK;
}

static void release(trial *trial)
{
    axle_loader_release(trial->loader);
    axle_dataset_release(trial->set);
    pretrained_release(&trial->model);
    axle_accelerator_release(trial->accelerator);
}

static int run(const void *given, const int *operands, int n)
{
    const eval_settings *settings = given;
    trial trial = {.accelerator = NULL};
    (void)operands;
    (void)n;
    if (!settings->data)
        return options_usage(&eval_command, "--data says which labelled texts");
    interrupt_catch();
    int code = evaluate_file(settings, &trial);
    if (!code)
        code = print(settings, &trial);
    if (!code)
        code = axle_end_training(trial.accelerator);
    int signal = interrupt_signal();
    int status = !code                                    ? EXIT_DONE
                 : code == AXLE_ERR_INTERRUPTED && signal ? EXIT_SIGNAL + signal
                                                          : command_failed(&eval_command, NULL);
    release(&trial);
    axle_finalize();
    return status;
}

static const cli_option operand = EVAL_OPTION("model", FOLDER, model, .value = "MODEL");

const command eval_command = {
    .name = "eval",
    .summary = "loss and metrics of a model of texts",
    .about = "Evaluate a model that labels texts, in a folder or by its name on the hub, on a "
             "file of labelled texts.",
    .operand = "MODEL",
    .needed = &operand,
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
