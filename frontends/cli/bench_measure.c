/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring: warm up, take turns, take medians. */
#define _GNU_SOURCE 1
#include <stdlib.h>

#include <string.h>

#include "bench.h"
#include "clock.h"

static const double warm_up_seconds = 0.1, turn_seconds = 0.02;
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

/* Run it until it is warm; *runs is how many runs make a turn. */
static int warm_up(const bench_work *work, int64_t *runs)
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
    double wanted = turn_seconds / (spent / (double)done);
    *runs = wanted < 1.0 ? 1 : wanted > MOST_RUNS ? MOST_RUNS : (int64_t)wanted;
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

/* `turns` has room for n * repeat numbers, `runs` for n. */
static int take_turns(const bench_work *work, int n, int64_t repeat, int64_t *runs, double *turns)
{
    int code = AXLE_OK;
    for (int k = 0; k < n && !code; k++)
        code = warm_up(&work[k], &runs[k]);
    for (int64_t turn = 0; turn < repeat && !code; turn++)
        for (int k = 0; k < n && !code; k++) {
            double *seconds = &turns[k * repeat + turn];
            code = time_runs(&work[k], runs[k], seconds);
            *seconds /= (double)runs[k];
        }
    return code;
}

int bench_measure(const bench_work *work, int n, int64_t repeat, double *seconds)
{
    double *turns = calloc((size_t)repeat * (size_t)n, sizeof(*turns));
    int64_t *runs = calloc((size_t)n, sizeof(*runs));
    int code = turns && runs ? take_turns(work, n, repeat, runs, turns)
                             : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int k = 0; k < n && !code; k++)
        seconds[k] = median(turns + k * repeat, repeat);
    free(turns);
    free(runs);
    return code;
}

int64_t bench_batch_size(const bench_settings *settings, const char *model)
{
    if (settings->batch_size)
        return settings->batch_size;
    return strcmp(model, "mlp") == 0 ? 16 : 64;
}
