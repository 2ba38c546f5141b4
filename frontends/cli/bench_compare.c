/* SPDX-License-Identifier: Apache-2.0 */
/* One subject on several backends: making, measuring and printing it. */
#define _GNU_SOURCE 1
#include <stdio.h>

#include "bench.h"

enum { REAL_DIGITS = 9, WORKS = 2 * BENCH_MOST_BACKENDS };

/* What came out for one backend. Seconds are for one thing that a run does. */
typedef struct outcome {
    const bench_backend *backend;
    const bench_pair *pair;
    double flops, bytes;
    double seconds, limit, first; /* limit 0: there is none; first: that of the first backend */
} outcome;

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

/* ------------------------------------------------------------------ printing */

static void print_text(const bench_settings *settings, const bench_subject *subject,
                       const outcome *o)
{
    const char *unit = subject->unit == BENCH_US ? "us" : "ms";
    printf("%-10s %-30s ", subject->what, subject->about);
    if (settings->backend_count > 1)
        printf("%-10s ", o->backend->spec);
    printf("%10.3f %s", o->seconds * subject->unit, unit);
    if (o->flops > 0.0)
        printf("   %.1f GFLOP/s", 1e-9 * o->flops / o->seconds);
    if (o->bytes > 0.0)
        printf("   %.2f GB/s", 1e-9 * o->bytes / o->seconds);
    if (o->limit > 0.0)
        printf("   %s: %.3f %s, %.2f of it", subject->limit, o->limit * subject->unit, unit,
               o->limit / o->seconds);
    if (settings->backend_count > 1)
        printf("   %.2f x %s", o->first / o->seconds, settings->backend[0].spec);
    putchar('\n');
}

static void put_real(json_t *line, const char *key, double value)
{
    json_object_set_new(line, key, json_real(value));
}

static json_t *describe(const bench_settings *settings, const bench_subject *subject,
                        const outcome *o)
{
    const axle_device *device = o->backend->device;
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:f, s:f}", "bench", subject->what,
                             "case", subject->about, "backend", axle_device_backend(device),
                             "device", axle_device_name(device), "threads", bench_threads(),
                             "repeat", (json_int_t)settings->repeat, "median_ms",
                             o->seconds * BENCH_MS, "median_us", o->seconds * BENCH_US);
    if (!line)
        return NULL;
    if (o->flops > 0.0)
        put_real(line, "gflops", 1e-9 * o->flops / o->seconds);
    if (o->bytes > 0.0) {
        put_real(line, "bytes", o->bytes);
        put_real(line, "gb_per_second", 1e-9 * o->bytes / o->seconds);
    }
    if (o->limit > 0.0) {
        json_object_set_new(line, "limit", json_string(subject->limit));
        put_real(line, "limit_ms", o->limit * BENCH_MS);
        put_real(line, "fraction_of_limit", o->limit / o->seconds);
        put_real(line, "times_limit", o->seconds / o->limit);
    }
    if (settings->backend_count > 1) {
        json_object_set_new(line, "spec", json_string(o->backend->spec));
        json_object_set_new(line, "compared_with", json_string(settings->backend[0].spec));
        put_real(line, "speed_ratio", o->first / o->seconds);
    }
    if (subject->rate)
        put_real(line, subject->rate, subject->amount / o->seconds);
    if (subject->more)
        json_object_update(line, subject->more);
    if (subject->tell)
        subject->tell(o->pair, line);
    return line;
}

static int report(const bench_settings *settings, const bench_subject *subject, const outcome *o)
{
    if (!settings->json) {
        print_text(settings, subject, o);
    } else {
        json_t *line = describe(settings, subject, o);
        if (!line)
            return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
        json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
        putchar('\n');
        json_decref(line);
    }
    fflush(stdout);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ measuring */

static int create(const bench_subject *subject, const bench_backend *backend, bench_pair *out)
{
    int code = axle_device_push(backend->device);
    if (code)
        return code;
    code = subject->create(subject, backend, out);
    axle_device_pop();
    return code;
}

/* The works of all pairs in one row; place[k] is where pair k begins. */
static int gather(const bench_pair *pair, int n, bench_work *work, int *place)
{
    int count = 0;
    for (int k = 0; k < n; k++) {
        place[k] = count;
        work[count++] = pair[k].work;
        if (pair[k].limit.run)
            work[count++] = pair[k].limit;
    }
    return count;
}

static int measure(const bench_settings *settings, const bench_subject *subject,
                   const bench_pair *pair)
{
    bench_work work[WORKS];
    double seconds[WORKS];
    int place[BENCH_MOST_BACKENDS], n = settings->backend_count;
    int count = gather(pair, n, work, place);
    int code = bench_measure(work, count, settings->repeat, seconds);
    double runs = subject->runs > 0.0 ? subject->runs : 1.0;
    double factor = subject->limit_factor > 0.0 ? subject->limit_factor : 1.0;
    for (int k = 0; k < n && !code; k++) {
        outcome o = {.backend = &settings->backend[k],
                     .pair = &pair[k],
                     .flops = pair[k].flops,
                     .bytes = pair[k].bytes,
                     .seconds = seconds[place[k]] / runs,
                     .limit = pair[k].limit.run ? seconds[place[k] + 1] * factor / runs : 0.0,
                     .first = seconds[place[0]] / runs};
        code = report(settings, subject, &o);
    }
    return code;
}

int bench_compare(const bench_settings *settings, const bench_subject *subject)
{
    bench_pair pair[BENCH_MOST_BACKENDS] = {{.work = {.run = NULL}}};
    int code = axle_scope_push();
    if (code)
        return code;
    for (int k = 0; k < settings->backend_count && !code; k++)
        code = create(subject, &settings->backend[k], &pair[k]);
    if (!code)
        code = measure(settings, subject, pair);
    for (int k = 0; k < settings->backend_count && subject->release; k++)
        subject->release(&pair[k]);
    axle_scope_pop();
    return code;
}
