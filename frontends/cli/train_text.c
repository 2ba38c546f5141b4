/* SPDX-License-Identifier: Apache-2.0 */
/* The task text: a transformer that labels texts, pretrained or small and new. */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "names.h"
#include "pretrained.h"
#include "train.h"

enum { SYNTHETIC_TRAIN = 2000, SYNTHETIC_EVAL = 500, SYNTHETIC_SEED = 1, MOST_TOKENS = 512 };

typedef struct train_text {
    pretrained model;
    axle_length_groups *groups;
    int64_t max_length;
} train_text;

/* ------------------------------------------------------------------ data */

static int find_model(training *training)
{
    const train_settings *settings = training->settings;
    train_text *text = training->text;
    if (settings->model)
        return pretrained_find(settings->model, settings->revision, training->accelerator,
                               settings->quiet || !training->is_main, &text->model);
    text->model.max_length = MOST_TOKENS;
    return axle_synthetic_tokenizer_create(&text->model.tokenizer);
}

/* @param path    NULL: texts that are made up
 * @param labels  NULL: those that are there */
static int open_set(const training *training, const char *path, int train,
                    const char *const *labels, axle_dataset **out)
{
    const train_settings *settings = training->settings;
    axle_text_encoder encoder = axle_text_encoder_of(training->text->model.tokenizer);
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    axle_records_options records = AXLE_RECORDS_OPTIONS_INIT;
    records.header = !settings->no_header;
    options.records = &records;
    options.text = settings->text_column;
    options.text_pair = settings->pair_column;
    options.label = settings->label_column;
    options.kind = training->metrics;
    options.labels = labels;
    options.max_length = training->text->max_length;
    if (path)
        return axle_text_dataset_open(path, &options, &encoder, out);
    return axle_synthetic_text_dataset_create(train ? SYNTHETIC_TRAIN : SYNTHETIC_EVAL,
                                              SYNTHETIC_SEED + !train, &options, &encoder, out);
}

static int check_labels(const char *path, const axle_dataset *set)
{
    if (axle_text_label_count(set) == 0)
        return axle_error_set(AXLE_ERR_NOT_FOUND,
                              "%s: no column is called label; --label-column says which has them",
                              path);
    if (axle_text_label_count(set) < 2 && axle_text_label_names(set))
        return axle_error_set(AXLE_ERR_FORMAT, "%s: there is one label only, '%s'", path,
                              axle_text_label_names(set)[0]);
    return AXLE_OK;
}

static int open_sets(training *training)
{
    const train_settings *settings = training->settings;
    int code = open_set(training, settings->data, 1, NULL, &training->train_set);
    if (!code)
        code = check_labels(settings->data, training->train_set);
    if (code)
        return code;
    training->labels = axle_text_label_count(training->train_set);
    if (settings->no_eval || (settings->data && !settings->eval))
        return AXLE_OK;
    return open_set(training, settings->eval, 0, axle_text_label_names(training->train_set),
                    &training->eval_set);
}

/* Processes pad their rows alike, so that dropout does not depend on how many there are. */
static int64_t make_batches(int64_t epoch, int64_t n, int64_t *order, int64_t *ends, void *user)
{
    training *training = user;
    int64_t count = axle_length_groups_batches(epoch, n, order, ends, training->text->groups);
    int code = count < 0 ? AXLE_OK : axle_text_pad_batches(training->train_set, order, ends, count);
    return code ? code : count;
}

/* Batches of like lengths, as large as those of all processes together. */
static int create_groups(training *training)
{
    axle_length_groups_options options = AXLE_LENGTH_GROUPS_OPTIONS_INIT;
    int64_t n = axle_dataset_length(training->train_set);
    int64_t *lengths = malloc((size_t)n * sizeof(*lengths));
    if (!lengths)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    options.batch_size = training->settings->batch_size * axle_process_count(training->accelerator);
    options.seed = (uint64_t)training->settings->seed;
    int code = axle_text_lengths(training->train_set, lengths);
    if (!code)
        code = axle_length_groups_create(lengths, n, &options, &training->text->groups);
    free(lengths);
    return code;
}

static int create_loaders(training *training)
{
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    int code = create_groups(training);
    if (code)
        return code;
    options.batches = make_batches;
    options.batches_user = training;
    code = train_create_loader(training, training->train_set, 1, &options, &training->loader);
    if (!code && training->eval_set)
        code = train_create_loader(training, training->eval_set, 0, NULL, &training->eval_loader);
    return code;
}

static int open_data(training *training)
{
    const train_settings *settings = training->settings;
    training->text = calloc(1, sizeof(*training->text));
    if (!training->text)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    training->metrics = settings->problem < 0 ? AXLE_METRICS_CLASSES : settings->problem;
    int code = find_model(training);
    if (code)
        return code;
    int64_t wanted = settings->max_length > 0 ? settings->max_length : MOST_TOKENS;
    int64_t most = training->text->model.max_length;
    training->text->max_length = wanted < most ? wanted : most;
    if (!settings->data && !settings->quiet && training->is_main)
        fprintf(stderr, "no --data: training on %d synthetic texts\n", SYNTHETIC_TRAIN);
    code = open_sets(training);
    return code ? code : create_loaders(training);
}

/* ------------------------------------------------------------------ the model */

/* Keys of a model that learns the texts that are made up in seconds. */
static const struct {
    const char *key;
    int64_t value;
} tiny[] = {
    {"dim", 64}, {"n_heads", 4}, {"n_layers", 2}, {"hidden_dim", 128}, {"pad_token_id", 0},
};

static int configure_tiny(const training *training, axle_transformer_config *config)
{
    const axle_dataset *set = training->train_set;
    double dropout = training->settings->dropout;
    int code = axle_transformer_config_set_int(
        config, "vocab_size", axle_tokenizer_vocab_size(training->text->model.tokenizer));
    for (size_t k = 0; k < sizeof(tiny) / sizeof(tiny[0]) && !code; k++)
        code = axle_transformer_config_set_int(config, tiny[k].key, tiny[k].value);
    static const char *const dropouts[] = {"dropout", "attention_dropout", "seq_classif_dropout"};
    for (size_t k = 0; k < sizeof(dropouts) / sizeof(dropouts[0]) && !code && dropout >= 0.0; k++)
        code = axle_transformer_config_set_double(config, dropouts[k], dropout);
    if (!code)
        code = axle_transformer_config_set_string(config, "problem_type",
                                                  pretrained_problem_name(training->metrics));
    if (!code)
        code = axle_transformer_config_set_labels(config, axle_text_label_names(set),
                                                  training->labels);
    return code;
}

static int create_tiny(training *training)
{
    axle_transformer_config *config;
    int code = axle_transformer_config_create("distilbert", &config);
    if (code)
        return code;
    code = configure_tiny(training, config);
    if (!code)
        code = axle_transformer_create(config, "sequence-classification", &training->model);
    axle_transformer_config_release(config);
    return code;
}

static int create_model(training *training)
{
    const train_settings *settings = training->settings;
    axle_pretrained_options options = AXLE_PRETRAINED_OPTIONS_INIT;
    axle_seed((uint64_t)settings->seed);
    if (!settings->model)
        return create_tiny(training);
    options.num_labels = training->labels;
    options.labels = axle_text_label_names(training->train_set);
    options.problem_type = pretrained_problem_name(training->metrics);
    options.dropout = settings->dropout;
    /* The head of another set of labels is of no use. */
    options.ignore_mismatched_sizes = 1;
    return axle_transformer_from_pretrained(training->text->model.folder, "sequence-classification",
                                            &options, &training->model);
}

static int save_model(const training *training)
{
    const char *output = training->settings->output;
    int code = axle_transformer_save_pretrained(training->model, output, NULL);
    return code ? code : axle_tokenizer_save(training->text->model.tokenizer, output);
}

/* ------------------------------------------------------------------ the task */

static const char *contradiction(const train_settings *given)
{
    if (given->hidden > 0 || given->classes > 0)
        return "--hidden and --classes are for --task image";
    if (given->dtype != 0)
        return "--dtype: models of texts are f32; --precision makes products faster";
    if (given->data && !given->model)
        return "--data: --model says which pretrained model is to learn that";
    if (given->eval && !given->data)
        return "--eval goes with --data";
    if (given->revision && !given->model)
        return "--revision goes with --model";
    if (given->problem > 0 && !given->data)
        return "--problem: the texts that are made up have one label each";
    return NULL;
}

static int check(const train_settings *given, char problem[PROBLEM_SIZE])
{
    const char *wrong = contradiction(given);
    if (!wrong)
        return 0;
    snprintf(problem, PROBLEM_SIZE, "%s", wrong);
    return -1;
}

/* Usual for fine-tuning; a model that begins anew takes larger steps. */
static const double pretrained_lr = 5e-5, tiny_lr = 2e-3, warmup = 0.1;
enum { EPOCHS = 3, TINY_EPOCHS = 5, BATCH = 32, EVAL_BATCH = 64 };

static void complete(train_settings *settings)
{
    int linear = names_find(train_schedules(), "linear");
    if (settings->optimizer < 0)
        settings->optimizer = names_find(train_optimizers(), "adamw");
    if (settings->schedule < 0)
        settings->schedule = linear;
    if (settings->epochs == 0)
        settings->epochs = settings->model ? EPOCHS : TINY_EPOCHS;
    if (settings->batch_size == 0)
        settings->batch_size = BATCH;
    if (settings->eval_batch_size == 0)
        settings->eval_batch_size = EVAL_BATCH;
    if (isnan(settings->lr))
        settings->lr = settings->model ? pretrained_lr : tiny_lr;
    if (isnan(settings->warmup_ratio))
        settings->warmup_ratio = settings->schedule == linear ? warmup : 0.0;
    if (isnan(settings->dropout))
        settings->dropout = -1.0;
}

static void close_text(training *training)
{
    if (!training->text)
        return;
    axle_length_groups_release(training->text->groups);
    pretrained_release(&training->text->model);
    free(training->text);
}

const train_task train_text_task = {
    .name = "text",
    .labels = "labels",
    .evaluates_epochs = 1,
    .check = check,
    .complete = complete,
    .open_data = open_data,
    .create_model = create_model,
    .save_model = save_model,
    .close = close_text,
};
