/* SPDX-License-Identifier: Apache-2.0 */
/* axle backend-check: whether a backend does what the interface asks for. */
#define _GNU_SOURCE 1
#include "backend_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axle/device.h"
#include "axle/status.h"
#include "command.h"

typedef struct backend_check_settings {
    const char *backend, *device;
    int op, dtype;
    int64_t seed, timeout;
    int json, list, quick;
} backend_check_settings;

static const backend_check_settings defaults = {
    .device = "all", .op = -1, .dtype = -1, .seed = 1, .timeout = 300};

enum { MOST_SECONDS = 86400 };

#define CHECK_OPTION(label, type, field, ...)                                                      \
    CLI_OPTION(label, type, backend_check_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    CHECK_OPTION("device", TEXT, device, .value = "N", .unset = "all",
                 .help = "number of the device to check, or all"),
    CHECK_OPTION("op", CHOICE, op, .value = "NAME", .names = check_group_names, .unset = "all",
                 .help = "check this operator or this group of rows alone"),
    CHECK_OPTION("dtype", CHOICE, dtype, .value = "NAME", .names = check_dtype_names,
                 .unset = "all", .help = "check operators in this element type alone"),
    CHECK_OPTION("seed", INTEGER, seed, .value = "N", .help = "seed of the inputs"),
    CHECK_OPTION("timeout", INTEGER, timeout, .value = "S", .low = 1, .high = MOST_SECONDS,
                 .help = "seconds that a row may take"),
    CHECK_OPTION("quick", FLAG, quick, .help = "fewer shapes and layouts"),
    CHECK_OPTION("list", FLAG, list, .help = "print the rows that would run, and run none"),
    CHECK_OPTION("json", FLAG, json, .help = "print one JSON object"),
    CLI_OPTION_END,
};

static const cli_option operand =
    CHECK_OPTION("backend", FILE, backend, .help = "name or path of the plugin");

/* ------------------------------------------------------------------ progress, on a terminal */

static void show_progress(void *user, const check_result *row, size_t done, size_t count)
{
    (void)user;
    fprintf(stderr, "\r\033[K%zu/%zu %s %s", done + 1, count, row->group, row->dtype);
    fflush(stderr);
}

static void clear_progress(void)
{
    fputs("\r\033[K", stderr);
}

/* ------------------------------------------------------------------ the command */

/* -1 for all; -2 where it is neither. */
static int64_t device_number(const char *text)
{
    char *end;
    if (strcmp(text, "all") == 0)
        return -1;
    const long long number = strtoll(text, &end, 10);
    return *text && *end == '\0' && number >= 0 ? number : -2;
}

static int show(const check_report *report, const backend_check_settings *settings,
                const char *path)
{
    const report_subject subject = {settings->backend, path, settings->seed, settings->quick};
    if (settings->json)
        return report_json(report, &subject);
    if (settings->list && report->failed == 0)
        report_list(report);
    else
        report_table(report, &subject);
    return 0;
}

/* A check of nothing is no success. */
static int no_rows(const backend_check_settings *settings)
{
    command_error(&backend_check_command, "%s: no row fits --op and --dtype; see --list",
                  settings->backend);
    return EXIT_USAGE;
}

static int check(const backend_check_settings *settings, const char *path, int64_t device)
{
    const check_options check_options = {
        .path = path,
        .device = device,
        .op = settings->op < 0 ? NULL : check_group_names()[settings->op],
        .dtype = settings->dtype < 0 ? NULL : check_dtype_names()[settings->dtype],
        .seed = settings->seed,
        .limit_s = settings->timeout,
        .quick = settings->quick};
    check_report report;
    char why[512];
    const int draws = isatty(STDERR_FILENO) && !settings->list;
    const int code =
        check_run(&check_options, settings->list, draws ? show_progress : NULL, NULL, &report, why);
    if (draws)
        clear_progress();
    int exit_code = report.failed ? EXIT_FAILED : EXIT_DONE;
    if (code)
        exit_code = command_error(&backend_check_command, "%s: %s", settings->backend, why);
    else if (!settings->list && report.passed + report.failed + report.host == 0)
        exit_code = no_rows(settings);
    else if (show(&report, settings, path))
        exit_code = command_error(&backend_check_command, "out of memory");
    check_report_free(&report);
    return exit_code;
}

static int run(const void *given, const int *operands, int n)
{
    const backend_check_settings *settings = given;
    const int64_t device = device_number(settings->device);
    char *path = NULL;
    (void)operands, (void)n;
    if (device < -1) {
        command_error(&backend_check_command, "--device: '%s' is neither a number nor 'all'",
                      settings->device);
        return EXIT_USAGE;
    }
    if (axle_backend_path(settings->backend, &path)) {
        command_failed(&backend_check_command, NULL);
        return EXIT_USAGE;
    }
    const int code = check(settings, path, device);
    axle_free(path);
    return code;
}

const command backend_check_command = {
    .name = "backend-check",
    .summary = "check a backend against the interface and the reference",
    .about =
        "Check a plugin: its interface, its memory, queues, threads and end, and every operator\n"
        "that it claims against the reference backend. FILE.so is its path, NAME a name as in\n"
        "AXLE_BACKEND. A row that crashes or hangs fails, and the others go on.",
    .operand = "FILE.so|NAME",
    .needed = &operand,
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
