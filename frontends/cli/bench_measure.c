/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring: warm up, take turns, take medians. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "clock.h"

static const double warm_up_seconds = 0.1, turn_seconds = 0.02;
enum { WARM_UP_RUNS = 3, MOST_RUNS = 1 << 20 };

/* Threads of a runtime wait in a loop for more work before they sleep: those of GCC's OpenMP for
 * about 15 ms, on cores that the next work needs. */
enum { PAUSE_MS = 40 };

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

/* How long a run takes, and how many make a turn. */
typedef struct pace {
    double seconds;
    int64_t runs;
} pace;

/* Run it until it is warm. */
static int warm_up(const bench_work *work, pace *p)
{
    double spent = 0.0, last = 0.0;
    int64_t done = 0;
    while (done < WARM_UP_RUNS || spent < warm_up_seconds) {
        int code = time_runs(work, 1, &last);
        if (code)
            return code;
        spent += last;
        done++;
    }
    p->seconds = spent / (double)done;
    double wanted = turn_seconds / p->seconds;
    p->runs = wanted < 1.0 ? 1 : wanted > MOST_RUNS ? MOST_RUNS : (int64_t)wanted;
    return AXLE_OK;
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

/* Let the threads of the last turn fall asleep, then bring caches back; long runs do not notice
 * those. */
static int settle(const bench_work *work, const pace *p)
{
    double ignored;
    nanosleep(&(struct timespec){0, PAUSE_MS * 1000000L}, NULL);
    return p->seconds < turn_seconds ? time_runs(work, 1, &ignored) : AXLE_OK;
}

/* A work alone needs no pause. */
static int take_turn(const bench_work *work, int alone, const pace *p, double *seconds)
{
    int code = alone ? AXLE_OK : settle(work, p);
    if (!code)
        code = time_runs(work, p->runs, seconds);
    *seconds /= (double)p->runs;
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
    if (settings->batch_size)
        return settings->batch_size;
    return strcmp(model, "mlp") == 0 ? 16 : 64;
}
