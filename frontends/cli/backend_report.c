/* SPDX-License-Identifier: Apache-2.0 */
/* The table of axle backend-check, its list of failures, and the same as JSON. */
#define _GNU_SOURCE 1
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend_check.h"

enum { WIDTH = 80, FIRST_COLUMN = 23, COLUMN = 7, MOST_SHOWN = 5 };

static int is_in(const check_result *r, uint32_t device, const char *group, const char *dtype)
{
    return r->device == device && strcmp(r->group, group) == 0 &&
           (!dtype || strcmp(r->dtype, dtype) == 0);
}

/* The first row of its kind in the report? */
static int is_first(const check_report *report, size_t k, int with_dtype)
{
    const check_result *r = &report->results[k];
    for (size_t i = 0; i < k; i++)
        if (is_in(&report->results[i], r->device, r->group, with_dtype ? r->dtype : NULL))
            return 0;
    return 1;
}

/* ------------------------------------------------------------------ table */

typedef struct tally {
    size_t passed, failed, host;
} tally;

static tally count(const check_report *report, uint32_t device, const char *group,
                   const char *dtype)
{
    tally t = {0, 0, 0};
    for (size_t k = 0; k < report->count; k++) {
        const check_result *r = &report->results[k];
        if (!is_in(r, device, group, dtype))
            continue;
        t.passed += r->status == CHECK_PASSED;
        t.failed += r->status == CHECK_FAILED;
        t.host += r->status == CHECK_HOST;
    }
    return t;
}

static void print_cell(tally t, int width)
{
    char text[48] = "";
    if (t.failed)
        snprintf(text, sizeof(text), "FAIL %zu", t.failed);
    else if (t.passed && t.host)
        snprintf(text, sizeof(text), "%zu+%zu", t.passed, t.host);
    else if (t.passed)
        snprintf(text, sizeof(text), "%zu", t.passed);
    else if (t.host)
        snprintf(text, sizeof(text), "host");
    printf("%*s", width, text);
}

static void print_row(const check_report *report, uint32_t device, const char *group, int typed)
{
    printf("%-*s", FIRST_COLUMN, group);
    if (!typed)
        print_cell(count(report, device, group, ""), COLUMN);
    int blanks = 0;
    for (const char *const *dtype = check_dtype_names(); *dtype && typed; dtype++) {
        const tally t = count(report, device, group, *dtype);
        blanks += COLUMN;
        if (t.passed + t.failed + t.host == 0)
            continue;
        print_cell(t, blanks);
        blanks = 0;
    }
    putchar('\n');
}

static void print_head(void)
{
    printf("\n%-*s", FIRST_COLUMN, "operator");
    for (const char *const *dtype = check_dtype_names(); *dtype; dtype++)
        printf("%*s", COLUMN, *dtype);
    putchar('\n');
}

/* Rows of one kind follow each other, with or without element types. */
static void print_device(const check_report *report, uint32_t device)
{
    int was_typed = -1;
    for (size_t k = 0; k < report->count; k++) {
        const check_result *r = &report->results[k];
        if (r->device != device || !is_first(report, k, 0))
            continue;
        const int typed = *r->dtype != '\0';
        if (typed && was_typed != 1)
            print_head();
        else if (!typed && was_typed != 0)
            putchar('\n');
        print_row(report, device, r->group, typed);
        was_typed = typed;
    }
}

/* ------------------------------------------------------------------ failures */

/* Print a text in lines of at most WIDTH, broken at blanks, behind so many blanks. */
static void print_wrapped(const char *text, int indent)
{
    while (*text) {
        size_t room = (size_t)(WIDTH - indent), length = strlen(text);
        if (length > room) {
            length = room;
            while (length > 0 && text[length] != ' ')
                length--;
            if (length == 0)
                length = strcspn(text, " ");
        }
        printf("%*s%.*s\n", indent, "", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
}

/* The command that runs these rows again, and few others. */
static void print_command(FILE *to, const check_report *report, const check_result *r,
                          const report_subject *subject)
{
    fprintf(to, "axle backend-check %s", subject->name);
    if (report->device_count > 1)
        fprintf(to, " --device %u", r->device);
    fprintf(to, " --op %s", r->group);
    if (*r->dtype)
        fprintf(to, " --dtype %s", r->dtype);
    fprintf(to, " --seed %lld%s", (long long)subject->seed, subject->quick ? " --quick" : "");
}

static void print_failure(const check_result *r)
{
    char title[256];
    snprintf(title, sizeof(title), "%s%s%s: %s", r->group, *r->dtype ? " " : "", r->dtype, r->name);
    print_wrapped(title, 2);
    print_wrapped(r->message ? r->message : "(out of memory)", 6);
}

static void print_failures(const check_report *report, const report_subject *subject)
{
    for (size_t k = 0; k < report->count; k++) {
        const check_result *r = &report->results[k];
        size_t shown = 0, failed = 0;
        if (!is_first(report, k, 1) || count(report, r->device, r->group, r->dtype).failed == 0)
            continue;
        putchar('\n');
        for (size_t i = k; i < report->count; i++) {
            const check_result *other = &report->results[i];
            if (!is_in(other, r->device, r->group, r->dtype) || other->status != CHECK_FAILED)
                continue;
            failed++;
            if (failed <= MOST_SHOWN) {
                print_failure(other);
                shown++;
            }
        }
        if (failed > shown)
            printf("  and %zu more\n", failed - shown);
        fputs("  again: ", stdout);
        print_command(stdout, report, r, subject);
        putchar('\n');
    }
}

void report_table(const check_report *report, const report_subject *subject)
{
    printf("%s%s%s, %s\n", *report->plugin ? report->plugin : subject->name,
           *report->version ? " " : "", report->version,
           subject->path ? subject->path : "built in");
    for (uint32_t k = 0; k < report->device_count; k++) {
        printf("device %u: %s\n", k, report->device_names[k]);
        print_device(report, k);
        if (k + 1 < report->device_count)
            putchar('\n');
    }
    print_failures(report, subject);
    printf("\nseed %lld\n%zu passed, %zu failed, %zu on the host\n", (long long)subject->seed,
           report->passed, report->failed, report->host);
}

void report_list(const check_report *report)
{
    for (size_t k = 0; k < report->count; k++) {
        const check_result *r = &report->results[k];
        printf("%u %s%s%s: %s\n", r->device, r->group, *r->dtype ? " " : "", r->dtype, r->name);
    }
}

/* ------------------------------------------------------------------ JSON */

/* Messages may quote a driver, who is free with bytes; JSON wants UTF-8. */
static json_t *text(const char *value)
{
    json_t *string = json_string(value);
    return string ? string : json_string("(not UTF-8)");
}

static json_t *command_of(const check_report *report, const check_result *r,
                          const report_subject *subject)
{
    char *line = NULL;
    size_t size;
    FILE *memory = open_memstream(&line, &size);
    if (!memory)
        return NULL;
    print_command(memory, report, r, subject);
    fclose(memory);
    json_t *value = text(line);
    free(line);
    return value;
}

static json_t *describe_row(const check_report *report, const check_result *r,
                            const report_subject *subject)
{
    static const char *const names[] = {
        [CHECK_PASSED] = "passed", [CHECK_FAILED] = "failed", [CHECK_HOST] = "host"};
    json_t *row =
        json_pack("{s:i, s:s, s:s, s:s, s:s}", "device", (int)r->device, "group", r->group, "dtype",
                  r->dtype, "name", r->name, "status", names[r->status]);
    if (row && r->status == CHECK_FAILED) {
        json_object_set_new(row, "message", text(r->message ? r->message : ""));
        json_object_set_new(row, "command", command_of(report, r, subject));
    }
    return row;
}

int report_json(const check_report *report, const report_subject *subject)
{
    json_t *rows = json_array(), *devices = json_array();
    for (size_t k = 0; k < report->count; k++)
        json_array_append_new(rows, describe_row(report, &report->results[k], subject));
    for (uint32_t k = 0; k < report->device_count; k++)
        json_array_append_new(devices, text(report->device_names[k]));
    json_t *whole =
        json_pack("{s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:I, s:I}", "backend", text(report->plugin),
                  "version", text(report->version), "path",
                  subject->path ? text(subject->path) : json_null(), "devices", devices, "seed",
                  (json_int_t)subject->seed, "rows", rows, "passed", (json_int_t)report->passed,
                  "failed", (json_int_t)report->failed, "host", (json_int_t)report->host);
    if (!whole || json_array_size(rows) != report->count) {
        json_decref(whole);
        return -1;
    }
    json_dumpf(whole, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(whole);
    return 0;
}
