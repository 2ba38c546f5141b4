/* SPDX-License-Identifier: Apache-2.0 */
/* axle estimate-memory: its options, and how it tells what was found. */
#include "estimate_memory.h"

#include <jansson.h>
#include <stdio.h>

#include "text_model.h"
#include "train.h"

static const char *const *precisions(void)
{
    static const char *const names[] = {"f32", "bf16", "fp16", NULL};
    return names;
}

enum { PRECISIONS = 3, MOST = 1 << 30, MOST_CLASSES = 1 << 20 };

static const estimate_settings defaults = {
    .precision = -1,
    .optimizer = TRAIN_DEFAULT_OPTIMIZER,
    .batch_size = 64,
    .channels = 1,
    .height = 28,
    .width = 28,
    .classes = 10,
    .hidden = 32,
    .length = 128,
    .processes = 1,
};

#define ESTIMATE_OPTION(label, type, field, ...)                                                   \
    CLI_OPTION(label, type, estimate_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    ESTIMATE_OPTION("batch-size", INTEGER, batch_size, .value = "N", .low = 1, .high = MOST,
                    .help = "samples a batch of each process"),
    ESTIMATE_OPTION("precision", CHOICE, precision, .value = "TYPE", .names = precisions,
                    .unset = "each", .help = "type of products"),
    ESTIMATE_OPTION("optimizer", CHOICE, optimizer, .value = "NAME", .help = "update rule",
                    .names = train_optimizers),
    ESTIMATE_OPTION("momentum", REAL, momentum, .value = "X", .high = 1,
                    .help = "momentum of sgd and rmsprop"),
    ESTIMATE_OPTION("processes", INTEGER, processes, .value = "N", .low = 1, .high = MOST,
                    .help = "processes of the job"),
    ESTIMATE_OPTION("shard-optimizer", FLAG, shard_optimizer,
                    .help = "each process holds moments for a part of the parameters"),
    ESTIMATE_OPTION("grad-checkpoint", FLAG, grad_checkpoint,
                    .help = "compute blocks again in backward instead of keeping their results"),
    ESTIMATE_OPTION("channels", INTEGER, channels, .value = "N", .low = 1, .high = MOST,
                    .help = "channels of the pictures"),
    ESTIMATE_OPTION("height", INTEGER, height, .value = "N", .low = 1, .high = MOST,
                    .help = "their height"),
    ESTIMATE_OPTION("width", INTEGER, width, .value = "N", .low = 1, .high = MOST,
                    .help = "their width"),
    ESTIMATE_OPTION("classes", INTEGER, classes, .value = "N", .low = 2, .high = MOST_CLASSES,
                    .help = "number of classes"),
    ESTIMATE_OPTION("hidden", INTEGER, hidden, .value = "N", .low = 1, .high = MOST,
                    .help = "width of mlp's hidden layer"),
    ESTIMATE_OPTION("dropout", REAL, dropout, .value = "P", .high = 1,
                    .help = "dropout before the last layer of lenet and mlp"),
    ESTIMATE_OPTION("length", INTEGER, length, .value = "N", .low = 1, .high = MOST,
                    .help = "tokens a sequence, for distilbert and gpt2"),
    ESTIMATE_OPTION("json", FLAG, json, .help = "print one JSON object"),
    CLI_OPTION_END,
};

/* ------------------------------------------------------------------ telling */

/* One line a member: in the table, and in the object with "_bytes". */
#define PART_LIST(X)                                                                               \
    X(parameters, "parameters")                                                                    \
    X(buffers, "buffers")                                                                          \
    X(gradients, "gradients")                                                                      \
    X(moments, "moments")                                                                          \
    X(activations, "activations")                                                                  \
    X(setup, "while it is set up")                                                                 \
    X(total, "most at a time")

typedef struct found {
    const char *precision;
    estimate estimate;
} found;

typedef struct report {
    const char *backend, *device;
    found found[PRECISIONS];
    int count;
} report;

static double mib(int64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static void print_note(const estimate_settings *settings, const report *r)
{
    for (int k = 0; k < r->count; k++)
        if (r->found[k].estimate.measured != settings->batch_size)
            printf("in %s a batch of %lld did not fit; activations are scaled from one of %lld\n",
                   r->found[k].precision, (long long)settings->batch_size,
                   (long long)r->found[k].estimate.measured);
}

static void print_table(const estimate_settings *settings, const report *r)
{
    printf("%s, %lld parameters, batches of %lld, %s, on %s (%s): MiB of each process\n",
           all_model_names()[settings->model], (long long)r->found[0].estimate.count,
           (long long)settings->batch_size, train_optimizers()[settings->optimizer], r->backend,
           r->device);
    printf("%-20s", "");
    for (int k = 0; k < r->count; k++)
        printf(" %10s", r->found[k].precision);
#define PRINT_PART(member, label)                                                                  \
    printf("\n%-20s", label);                                                                      \
    for (int k = 0; k < r->count; k++)                                                             \
        printf(" %10.2f", mib(r->found[k].estimate.member));
    PART_LIST(PRINT_PART)
#undef PRINT_PART
    putchar('\n');
    print_note(settings, r);
}

/* Jansson takes NULL for a value as failure, so that one check of the sum is enough. */
static json_t *describe_one(const found *f)
{
    json_t *object = json_object();
    int wrong = json_object_set_new(object, "precision", json_string(f->precision));
#define PUT_PART(member, label)                                                                    \
    wrong |= json_object_set_new(object, #member "_bytes", json_integer(f->estimate.member));
    PART_LIST(PUT_PART)
#undef PUT_PART
    wrong |= json_object_set_new(object, "measured_batch_size", json_integer(f->estimate.measured));
    if (!wrong)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *describe(const estimate_settings *settings, const report *r)
{
    json_t *object = json_object(), *list = json_array();
    const char *model = all_model_names()[settings->model];
    int wrong = json_object_set_new(object, "model", json_string(model));
    for (int k = 0; k < r->count; k++)
        wrong |= json_array_append_new(list, describe_one(&r->found[k]));
    wrong |= json_object_set_new(object, "parameters", json_integer(r->found[0].estimate.count));
    wrong |= json_object_set_new(object, "backend", json_string(r->backend));
    wrong |= json_object_set_new(object, "device", json_string(r->device));
    wrong |= json_object_set_new(object, "batch_size", json_integer(settings->batch_size));
    wrong |= json_object_set_new(object, "processes", json_integer(settings->processes));
    wrong |= json_object_set_new(object, "optimizer",
                                 json_string(train_optimizers()[settings->optimizer]));
    wrong |=
        json_object_set_new(object, "shard_optimizer", json_boolean(settings->shard_optimizer));
    wrong |= json_object_set_new(object, "estimates", list);
    if (!wrong)
        return object;
    json_decref(object);
    return NULL;
}

static int tell(const estimate_settings *settings, const report *r)
{
    if (!settings->json) {
        print_table(settings, r);
        return AXLE_OK;
    }
    json_t *object = describe(settings, r);
    if (!object)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ the command */

static int run(const void *given, const int *operands, int n)
{
    const estimate_settings *settings = given;
    report r = {0};
    int code = AXLE_OK;
    (void)operands, (void)n;
    for (int k = 0; k < PRECISIONS && !code; k++) {
        if (settings->precision >= 0 && settings->precision != k)
            continue;
        found *f = &r.found[r.count++];
        f->precision = precisions()[k];
        code = estimate_measure(settings, f->precision, &f->estimate, &r.backend, &r.device);
    }
    if (!code)
        code = tell(settings, &r);
    return code ? command_failed(&estimate_memory_command, NULL) : EXIT_DONE;
}

static const cli_option operand =
    ESTIMATE_OPTION("MODEL", CHOICE, model, .value = "MODEL", .names = all_model_names);

const command estimate_memory_command = {
    .name = "estimate-memory",
    .summary = "tell how much memory training takes",
    .about =
        "Tell what training of a model takes of a device's memory: parameters, gradients, moments\n"
        "and what a step has besides. A step is gone through on the device, with all that it\n"
        "allocates, and nothing is computed.",
    .operand = "MODEL",
    .needed = &operand,
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
