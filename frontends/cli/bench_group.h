/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmarks of several processes. All do the same number of runs, each begins together, and counts
 * as long as it takes on the slowest process; rank 0 prints.
 */
#ifndef AXLE_CLI_BENCH_GROUP_H
#define AXLE_CLI_BENCH_GROUP_H

#include "bench.h"

enum { BENCH_GROUP_WORKS = 6 };

/* Join the job; a job of one is an error that says how to start more. */
int bench_group_begin(const char *what, axle_group **out);
/* Seconds of a run: those that pass, and those which the threads of this process keep cores busy.
 */
typedef struct bench_time {
    double wall, busy;
} bench_time;
/* Let `n` works take turns, `repeat` times each, after warming up, `runs` runs a turn. time[k] has
 * the medians of work k's times for a run. */
int bench_group_measure(axle_group *group, const bench_work *work, int n, int64_t repeat,
                        int64_t runs, bench_time *time);
/* The median; sorts them. */
double bench_median(double *value, int64_t count);
/* A line of JSON of rank 0, which begins with what every line has; `more` is taken over. */
int bench_group_json(const bench_settings *settings, axle_group *group, const char *what,
                     const char *about, const axle_device *device, json_t *more);

#endif
