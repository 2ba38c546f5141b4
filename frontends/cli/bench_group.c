/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "bench_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

enum { WARM_UP_RUNS = 2, REAL_DIGITS = 9 };

int bench_group_begin(const char *what, axle_group **out)
{
    axle_group *group;
    int code = axle_group_join(&group);
    if (code)
        return code;
    if (axle_group_size(group) > 1) {
        *out = group;
        return AXLE_OK;
    }
    axle_group_leave(group);
    return axle_error_set(AXLE_ERR_STATE,
                          "it needs several processes: axle launch -n 2 axle bench %s", what);
}

/* The largest of all processes. */
static int slowest(axle_group *group, double *seconds)
{
    int code = axle_scope_push();
    if (code)
        return code;
    code = axle_device_push(axle_device_host());
    if (!code) {
        axle_tensor *all = axle_scalar(AXLE_DTYPE_F64, *seconds);
        code = all ? axle_all_reduce(group, all, AXLE_REDUCE_MAX) : axle_error_code();
        if (!code)
            code = axle_tensor_item(all, seconds);
        axle_device_pop();
    }
    axle_scope_pop();
    return code;
}

static double busy_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int take_turn(axle_group *group, const bench_work *work, int64_t runs, double *wall,
                     double *busy)
{
    int code = axle_barrier(group);
    double start = clock_seconds(), busy_start = busy_seconds();
    for (int64_t k = 0; k < runs && !code; k++)
        if (work->run(work->user))
            code = axle_error_code()
                       ? axle_error_code()
                       : axle_error_set(AXLE_ERR_INTERNAL, "the measured work failed");
    *wall = (clock_seconds() - start) / (double)runs;
    *busy = (busy_seconds() - busy_start) / (double)runs;
    return code ? code : slowest(group, wall);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *value, int64_t count)
{
    qsort(value, (size_t)count, sizeof(*value), compare);
    return (value[(count - 1) / 2] + value[count / 2]) / 2.0;
}

int bench_group_measure(axle_group *group, const bench_work *work, int n, int64_t repeat,
                        int64_t runs, bench_time *time)
{
    size_t turns = (size_t)n * (size_t)repeat;
    double *wall = calloc(2 * turns, sizeof(*wall)), *busy = wall + turns, ignored[2];
    int code = wall ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int k = 0; k < n && !code; k++)
        code = take_turn(group, &work[k], WARM_UP_RUNS, &ignored[0], &ignored[1]);
    for (int64_t turn = 0; turn < repeat && !code; turn++)
        for (int k = 0; k < n && !code; k++)
            code = take_turn(group, &work[k], runs, &wall[k * repeat + turn],
                             &busy[k * repeat + turn]);
    for (int k = 0; k < n && !code; k++)
        time[k] = (bench_time){bench_median(wall + k * repeat, repeat),
                               bench_median(busy + k * repeat, repeat)};
    free(wall);
    return code;
}

int bench_group_json(const bench_settings *settings, axle_group *group, const char *what,
                     const char *about, const axle_device *device, json_t *more)
{
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:I}", "bench", what, "case", about,
                             "backend", axle_device_backend(device), "device",
                             axle_device_name(device), "threads", bench_threads(), "processes",
                             axle_group_size(group), "repeat", (json_int_t)settings->repeat);
    int failed = !line || !more || json_object_update(line, more);
    if (!failed) {
        json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
        putchar('\n');
        fflush(stdout);
    }
    json_decref(line);
    json_decref(more);
    return failed ? axle_error_set(AXLE_ERR_NOMEM, "out of memory") : AXLE_OK;
}
