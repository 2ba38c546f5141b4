/* SPDX-License-Identifier: Apache-2.0 */
/* axle bench: how fast Axle is here, and how fast it could be. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "axle/models.h"

#define BENCH_LIST(X) X(matmul) X(dispatch) X(step) X(optimizer)

static int (*const benches[])(const bench_settings *) = {
#define FUNCTION(name) bench_##name,
    BENCH_LIST(FUNCTION)
#undef FUNCTION
};
enum { BENCHES = sizeof(benches) / sizeof(benches[0]) };

static const char *const *bench_names(void)
{
#define NAME(name) #name,
    static const char *const names[] = {BENCH_LIST(NAME) NULL};
#undef NAME
    return names;
}

static const bench_settings defaults = {
    .model = -1,
    .repeat = 15,
    .parameters = 66000000,
};

enum { MOST = 1 << 30, MOST_REPEAT = 10000, REAL_DIGITS = 9 };

#define BENCH_OPTION(label, type, field, ...)                                                      \
    CLI_OPTION(label, type, bench_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    BENCH_OPTION("shape", LIST, shapes, .value = "MxKxN", .unset = "four usual ones",
                 .help = "shape for matmul; may be given several times"),
    BENCH_OPTION("model", CHOICE, model, .value = "MODEL", .names = axle_image_model_names,
                 .unset = "mlp and lenet", .help = "model for step"),
    BENCH_OPTION("batch-size", INTEGER, batch_size, .value = "N", .low = 1, .high = MOST,
                 .unset = "16 for mlp, else 64", .help = "batch for step"),
    BENCH_OPTION("parameters", INTEGER, parameters, .value = "N", .low = 1, .high = MOST,
                 .help = "number of parameters for optimizer"),
    BENCH_OPTION("repeat", INTEGER, repeat, .value = "N", .low = 1, .high = MOST_REPEAT,
                 .help = "repetitions; the median counts"),
    BENCH_OPTION("json", FLAG, json, .help = "print a JSON object a line"),
    CLI_OPTION_END,
};

/* ------------------------------------------------------------------ reports */

int bench_threads(void)
{
    static int threads;
    char *text;
    if (threads > 0)
        return threads;
    threads = 1;
    if (axle_info_json(&text) == AXLE_OK) {
        json_t *info = json_loads(text, 0, NULL);
        json_int_t found = json_integer_value(json_object_get(info, "threads"));
        threads = found > 0 ? (int)found : 1;
        json_decref(info);
        axle_free(text);
    }
    return threads;
}

static const char *unit_name(int unit)
{
    return unit == BENCH_US ? "us" : "ms";
}

static void print_text(const char *what, const char *about, int unit, bench_times times,
                       const char *limit)
{
    printf("%-10s %-22s %10.3f %s", what, about, times.subject * unit, unit_name(unit));
    if (times.limit > 0.0)
        printf("   %s: %.3f %s, %.2f of it", limit, times.limit * unit, unit_name(unit),
               times.limit / times.subject);
    putchar('\n');
}

static int print_json(json_t *line)
{
    if (!line)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    putchar('\n');
    json_decref(line);
    return AXLE_OK;
}

static json_t *describe(const bench_settings *settings, const char *what, const char *about,
                        bench_times times, const char *limit, json_t *more)
{
    const axle_device *device = axle_device_current();
    json_t *line =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:f, s:f}", "bench", what, "case", about,
                  "backend", axle_device_backend(device), "device", axle_device_name(device),
                  "threads", bench_threads(), "repeat", (json_int_t)settings->repeat, "median_ms",
                  times.subject * BENCH_MS, "median_us", times.subject * BENCH_US);
    if (line && times.limit > 0.0) {
        json_object_set_new(line, "limit", json_string(limit));
        json_object_set_new(line, "limit_ms", json_real(times.limit * BENCH_MS));
        json_object_set_new(line, "fraction_of_limit", json_real(times.limit / times.subject));
    }
    if (line && more)
        json_object_update(line, more);
    return line;
}

int bench_report(const bench_settings *settings, const char *what, const char *about, int unit,
                 bench_times times, const char *limit, json_t *more)
{
    int code = AXLE_OK;
    if (settings->json)
        code = print_json(describe(settings, what, about, times, limit, more));
    else
        print_text(what, about, unit, times, limit);
    fflush(stdout);
    json_decref(more);
    return code;
}

/* ------------------------------------------------------------------ the command */

static int run(const void *given, const int *operands, int n)
{
    const bench_settings *settings = given;
    for (int k = 0; k < (n ? n : BENCHES); k++) {
        int which = n ? operands[k] : k;
        if (benches[which](settings))
            return command_failed(&bench_command, bench_names()[which]);
    }
    return EXIT_DONE;
}

const command bench_command = {
    .name = "bench",
    .summary = "measure how fast operators, training steps and optimizers run",
    .about = "Measure, and measure beside it what the hardware allows. Without WHAT, all of it.",
    .operand = "WHAT",
    .operands = bench_names,
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
