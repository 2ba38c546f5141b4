/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring: warm up, take turns, take medians. */
#define _GNU_SOURCE 1
#include <stdlib.h>

#include "bench.h"
#include "clock.h"

static const double warm_up_seconds = 0.1, turn_seconds = 0.02;
enum { WARM_UP_RUNS = 3, MOST_RUNS = 1 << 20 };

static int fail(void)
{
    int code = axle_error_code();
    return code ? code : axle_error_set(AXLE_ERR_INTERNAL, "the measured work failed");
}

/* Run it until it is warm; *runs is how many runs make a turn. */
static int warm_up(bench_work work, int64_t *runs)
{
    double start = clock_seconds(), now = start;
    int64_t done = 0;
    while (done < WARM_UP_RUNS || now - start < warm_up_seconds) {
        if (work.run(work.user))
            return fail();
        done++;
        now = clock_seconds();
    }
    double wanted = turn_seconds / ((now - start) / (double)done);
    *runs = wanted < 1.0 ? 1 : wanted > MOST_RUNS ? MOST_RUNS : (int64_t)wanted;
    return AXLE_OK;
}

/* Seconds a run of one turn. */
static int take_turn(bench_work work, int64_t runs, double *seconds)
{
    double start = clock_seconds();
    for (int64_t k = 0; k < runs; k++)
        if (work.run(work.user))
            return fail();
    *seconds = (clock_seconds() - start) / (double)runs;
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

/* `seconds` has room for 2 * repeat numbers. */
static int take_turns(bench_work subject, bench_work limit, int64_t repeat, double *seconds,
                      bench_times *out)
{
    int64_t subject_runs, limit_runs = 0;
    int code = warm_up(subject, &subject_runs);
    if (!code && limit.run)
        code = warm_up(limit, &limit_runs);
    for (int64_t k = 0; k < repeat && !code; k++) {
        code = take_turn(subject, subject_runs, &seconds[k]);
        if (!code && limit.run)
            code = take_turn(limit, limit_runs, &seconds[repeat + k]);
    }
    if (code)
        return code;
    out->subject = median(seconds, repeat);
    out->limit = limit.run ? median(seconds + repeat, repeat) : 0.0;
    return AXLE_OK;
}

int bench_measure(bench_work subject, bench_work limit, int64_t repeat, bench_times *out)
{
    double *seconds = calloc((size_t)repeat * 2, sizeof(*seconds));
    if (!seconds)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    int code = take_turns(subject, limit, repeat, seconds, out);
    free(seconds);
    return code;
}
