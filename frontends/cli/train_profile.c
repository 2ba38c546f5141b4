/* SPDX-License-Identifier: Apache-2.0 */
/* axle train --profile: the trace, and the table at the end. */
#define _GNU_SOURCE 1
#include <stdio.h>

#include "train.h"

enum { TOP = 10 };

static const double kib = 1024.0;

static double number_of(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static void print_row(const json_t *row, FILE *to)
{
    const char *backend = json_string_value(json_object_get(row, "backend"));
    double seconds = number_of(row, "seconds");
    fprintf(to, "  %-28s %-10s %8.0f %10.2f %6.1f %9.1f\n",
            json_string_value(json_object_get(row, "name")), backend ? backend : "",
            number_of(row, "count"), seconds * 1e3, number_of(row, "share") * 100.0,
            seconds > 0.0 ? number_of(row, "bytes") / seconds / (kib * kib * kib) : 0.0);
}

static void print_group(const json_t *summary, const char *group, const char *title, FILE *to)
{
    const json_t *rows = json_object_get(summary, group), *row;
    size_t k, count = json_array_size(rows);
    if (count == 0)
        return;
    fprintf(to, "  %-28s %-10s %8s %10s %6s %9s\n", title, "backend", "count", "ms", "%", "GiB/s");
    for (k = 0; k < count && k < TOP; k++) {
        row = json_array_get(rows, k);
        print_row(row, to);
    }
    if (count > TOP)
        fprintf(to, "  and %zu more\n", count - TOP);
}

static int print_table(FILE *to)
{
    char *text;
    int code = axle_profile_summary(&text);
    if (code)
        return code;
    json_t *summary = json_loads(text, 0, NULL);
    axle_free(text);
    if (!summary)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    fprintf(to, "profile in %s\n", axle_profile_path());
    print_group(summary, "operators", "operator", to);
    print_group(summary, "fallbacks", "run by the host", to);
    print_group(summary, "transfers", "transfer", to);
    print_group(summary, "collectives", "collective", to);
    print_group(summary, "phases", "phase", to);
    json_decref(summary);
    return AXLE_OK;
}

int train_profile_begin(const train_settings *settings)
{
    return settings->profile ? axle_profile_start(settings->profile) : AXLE_OK;
}

/* With --json standard output belongs to the object. */
int train_profile_end(const train_settings *settings, int is_main)
{
    if (!settings->profile)
        return AXLE_OK;
    int code = axle_profile_stop();
    return code || !is_main ? code : print_table(settings->json ? stderr : stdout);
}
