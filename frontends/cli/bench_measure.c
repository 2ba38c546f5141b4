/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring: warm up, take turns, take medians. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"

/* A turn begins with runs that do not count. Threads of the work before it may still wait for more
 * in a loop (GCC's OpenMP does so for about 15 ms), on cores that this one's threads need, and
 * those are first spread over the cores. */
static const double warm_up_seconds = 0.1, settle_seconds = 0.03, turn_seconds = 0.04;
enum { WARM_UP_RUNS = 3, MOST_RUNS = 1 << 20 };

static int fail(void)
{
    int code = axle_error_code();
    return code ? code : axle_error_set(AXLE_ERR_INTERNAL, "the measured work failed");
}

/* Seconds that `runs` runs take together. */
static int time_runs(const bench_work *work, int64_t runs, double *seconds)
{
    int code = work->device ? axle_device_push(work->device) : AXLE_OK;
    if (code)
        return code;
    double start = clock_seconds();
    for (int64_t k = 0; k < runs && !code; k++)
        code = work->run(work->user) ? fail() : AXLE_OK;
    *seconds = clock_seconds() - start;
    if (work->device)
        axle_device_pop();
    return code;
}

/* Runs of a turn: at its beginning, and those that count. */
typedef struct pace {
    int64_t settling, counted;
} pace;

/* Long runs need no others before them. */
static pace pace_of(double run_seconds)
{
    double counted = turn_seconds / run_seconds, settling = settle_seconds / run_seconds + 1.0;
    pace p = {.settling = (int64_t)(settling < MOST_RUNS ? settling : MOST_RUNS),
              .counted = (int64_t)(counted < MOST_RUNS ? counted : MOST_RUNS)};
    return counted < 1.0 ? (pace){0, 1} : p;
}

/* Run it until it is warm. The first run may compile kernels: it says nothing of the pace, by which
 * a work of short runs would take its turns without settling. */
static int warm_up(const bench_work *work, pace *p)
{
    double spent = 0.0, last = 0.0;
    int64_t done = 0;
    int code = time_runs(work, 1, &last);
    while (!code && (done < WARM_UP_RUNS || spent < warm_up_seconds)) {
        code = time_runs(work, 1, &last);
        spent += last;
        done++;
    }
    if (!code)
        *p = pace_of(spent / (double)done);
    return code;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int64_t count)
{
    qsort(value, (size_t)count, sizeof(*value), compare);
    return (value[(count - 1) / 2] + value[count / 2]) / 2.0;
}

/* Seconds of a run. A work that is alone has settled. */
static int take_turn(const bench_work *work, int alone, const pace *p, double *seconds)
{
    int code = alone ? AXLE_OK : time_runs(work, p->settling, seconds);
    if (!code)
        code = time_runs(work, p->counted, seconds);
    *seconds /= (double)p->counted;
    return code;
}

/* `turns` has room for n * repeat numbers, `paces` for n. */
static int take_turns(const bench_work *work, int n, int64_t repeat, pace *paces, double *turns)
{
    int code = AXLE_OK;
    for (int k = 0; k < n && !code; k++)
        code = warm_up(&work[k], &paces[k]);
    for (int64_t turn = 0; turn < repeat && !code; turn++)
        for (int k = 0; k < n && !code; k++)
            code = take_turn(&work[k], n == 1, &paces[k], &turns[k * repeat + turn]);
    return code;
}

int bench_measure(const bench_work *work, int n, int64_t repeat, double *seconds)
{
    double *turns = calloc((size_t)repeat * (size_t)n, sizeof(*turns));
    pace *paces = calloc((size_t)n, sizeof(*paces));
    int code = turns && paces ? take_turns(work, n, repeat, paces, turns)
                              : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int k = 0; k < n && !code; k++)
        seconds[k] = median(turns + k * repeat, repeat);
    free(turns);
    free(paces);
    return code;
}

int64_t bench_batch_size(const bench_settings *settings, const char *model)
{
    static const struct {
        const char *model;
        int64_t size;
    } usual[] = {{"mlp", 16}, {"distilbert", 8}, {"gpt2", 4}};
    if (settings->batch_size)
        return settings->batch_size;
    for (size_t k = 0; k < sizeof(usual) / sizeof(usual[0]); k++)
        if (strcmp(usual[k].model, model) == 0)
            return usual[k].size;
    return 64;
}
