/* SPDX-License-Identifier: Apache-2.0 */
/* axle bench: how fast Axle is here, and how fast it could be. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_model.h"

static int (*const benches[])(const bench_settings *) = {
#define FUNCTION(name) bench_##name,
    BENCH_LIST(FUNCTION) BENCH_GROUP_LIST(FUNCTION)
#undef FUNCTION
};
/* What one process measures where nothing is named. */
#define ONE(name) +1
enum { ALONE = 0 BENCH_LIST(ONE) };
#undef ONE

static const char *const *bench_names(void)
{
#define NAME(name) #name,
    static const char *const names[] = {BENCH_LIST(NAME) BENCH_GROUP_LIST(NAME) NULL};
#undef NAME
    return names;
}

const char *const *bench_dtypes(void)
{
    static const char *const names[] = {"f32", "f64", "f16", "bf16", NULL};
    return names;
}

const char *const *bench_precisions(void)
{
    static const char *const names[] = {"f32", "bf16", "fp16", NULL};
    return names;
}

int bench_dtype(const bench_settings *settings)
{
    return axle_dtype_from_name(bench_dtypes()[settings->dtype]);
}

static const bench_settings defaults = {
    .model = -1,
    .length = 128,
    .hidden = 32,
    .repeat = 15,
    .parameters = 66000000,
};

enum { MOST = 1 << 30, MOST_REPEAT = 10000 };

#define BENCH_OPTION(label, type, field, ...)                                                      \
    CLI_OPTION(label, type, bench_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    BENCH_OPTION("backend", LIST, backends, .value = "B", .unset = "that of AXLE_BACKEND",
                 .help = "backend, or several separated by commas, which take turns"),
    BENCH_OPTION(
        "shape", LIST, shapes, .value = "AxBxC", .unset = "usual ones",
        .help = "shape for matmul, conv, op or allreduce, which take several; of step's pictures"),
    BENCH_OPTION("op", LIST, ops, .value = "NAME", .names = bench_op_names, .unset = "all",
                 .help = "operator for op; may be given several times"),
    BENCH_OPTION("dtype", CHOICE, dtype, .value = "TYPE", .names = bench_dtypes,
                 .help = "element type for matmul, conv and op"),
    BENCH_OPTION("model", CHOICE, model, .value = "MODEL", .names = all_model_names,
                 .unset = "mlp and lenet", .help = "model for step and start"),
    BENCH_OPTION("batch-size", INTEGER, batch_size, .value = "N", .low = 1, .high = MOST,
                 .unset = "16 for mlp, 8 for distilbert, 4 for gpt2, else 64",
                 .help = "batch for step, start and overlap"),
    BENCH_OPTION("length", INTEGER, length, .value = "N", .low = 1, .high = MOST,
                 .help = "tokens a sequence, for distilbert and gpt2"),
    BENCH_OPTION("hidden", INTEGER, hidden, .value = "N", .low = 1, .high = MOST,
                 .help = "width of mlp's hidden layer, for step"),
    BENCH_OPTION("precision", CHOICE, precision, .value = "TYPE", .names = bench_precisions,
                 .help = "type of products for step"),
    BENCH_OPTION("parameters", INTEGER, parameters, .value = "N", .low = 1, .high = MOST,
                 .help = "number of parameters for optimizer and overlap"),
    BENCH_OPTION("repeat", INTEGER, repeat, .value = "N", .low = 1, .high = MOST_REPEAT,
                 .help = "repetitions; the median counts"),
    BENCH_OPTION("direct", FLAG, direct, .help = "measure a plain Gloo program beside allreduce"),
    BENCH_OPTION("json", FLAG, json, .help = "print a JSON object a line"),
    CLI_OPTION_END,
};

/* ------------------------------------------------------------------ settings */

int bench_parse_shape(const char *text, int least, int most, const char *form, int64_t *out)
{
    const char *at = text;
    int count = 0;
    for (; count < most; count++) {
        char *end;
        long long number = strtoll(at, &end, 10);
        if (end == at || number < 1 || number > MOST)
            break;
        out[count] = number;
        at = *end == 'x' ? end + 1 : end;
        if (end == at) {
            count++;
            break;
        }
    }
    if (*at == '\0' && at > text && at[-1] != 'x' && count >= least)
        return count;
    return axle_error_set(AXLE_ERR_INVALID, "--shape: '%s' is not of the form %s", text, form);
}

static int open_backend(bench_settings *settings, char *spec)
{
    bench_backend *backend = &settings->backend[settings->backend_count];
    if (settings->backend_count == BENCH_MOST_BACKENDS)
        return axle_error_set(AXLE_ERR_INVALID, "--backend: more than %d", BENCH_MOST_BACKENDS);
    settings->backend_count++;
    backend->spec = spec;
    return axle_device_open(spec, &backend->device);
}

/* Split what --backend was given at its commas, in `text`, which is as long. */
static int open_backends(bench_settings *settings, char *text)
{
    int code = AXLE_OK;
    for (int k = 0; k < settings->backends.count; k++) {
        char *rest = strcpy(text, settings->backends.item[k]), *spec;
        text += strlen(text) + 1;
        while (!code && (spec = strsep(&rest, ",")))
            code = open_backend(settings, spec);
    }
    if (settings->backends.count)
        return code;
    settings->backend_count = 1;
    settings->backend[0] = (bench_backend){NULL, axle_device_current()};
    return settings->backend[0].device ? AXLE_OK : axle_error_code();
}

static size_t text_size(const option_list *list)
{
    size_t size = 1;
    for (int k = 0; k < list->count; k++)
        size += strlen(list->item[k]) + 1;
    return size;
}

/* ------------------------------------------------------------------ the command */

static int run_all(const bench_settings *settings, const int *operands, int n)
{
    for (int k = 0; k < (n ? n : ALONE); k++) {
        int which = n ? operands[k] : k;
        if (benches[which](settings))
            return command_failed(&bench_command, bench_names()[which]);
    }
    return EXIT_DONE;
}

static int run(const void *given, const int *operands, int n)
{
    bench_settings settings = *(const bench_settings *)given;
    char *text = malloc(text_size(&settings.backends));
    if (!text)
        return command_error(&bench_command, "out of memory");
    int code = open_backends(&settings, text) ? command_failed(&bench_command, NULL)
                                              : run_all(&settings, operands, n);
    free(text);
    return code;
}

const command bench_command = {
    .name = "bench",
    .summary = "measure how fast operators, training steps and optimizers run",
    .about =
        "Measure, and measure beside it what the hardware allows. Without WHAT, all of it but\n"
        "allreduce and overlap, which run under axle launch.",
    .operand = "WHAT",
    .operands = bench_names,
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
