/* SPDX-License-Identifier: Apache-2.0 */
/* axle bench: measuring, and reporting what was measured. */
#ifndef AXLE_CLI_BENCH_H
#define AXLE_CLI_BENCH_H

#include <jansson.h>

#include "axle/axle.h"
#include "command.h"

typedef struct bench_settings {
    int json, model; /* model: position in axle_image_model_names(), -1: not given */
    int64_t batch_size, repeat, parameters;
    option_list shapes;
} bench_settings;

/* Something to measure: does it once, to its end. Returns 0 on success. */
typedef struct bench_work {
    int (*run)(void *user);
    void *user;
} bench_work;

/* Seconds a run, medians over the repetitions. */
typedef struct bench_times {
    double subject, limit; /* limit 0: there is none */
} bench_times;

/*
 * Run `subject` and, unless its run is NULL, `limit` in turns, `repeat` times each, after warming
 * up; short ones many times in each turn.
 */
int bench_measure(bench_work subject, bench_work limit, int64_t repeat, bench_times *out);

/* Seconds to milliseconds and microseconds. */
enum { BENCH_MS = 1000, BENCH_US = 1000000 };

/*
 * Print one result. `what` ("matmul") and `about` ("512x768x768") name it; times are printed in
 * `unit`; `limit` says what the limit is; `more` are further members, consumed, NULL is fine.
 */
int bench_report(const bench_settings *settings, const char *what, const char *about, int unit,
                 bench_times times, const char *limit, json_t *more);

/* Threads that operators use. */
int bench_threads(void);

/* The kinds of benchmark. They return AXLE_OK or an error code with Axle's error recorded. */
int bench_matmul(const bench_settings *settings);
int bench_dispatch(const bench_settings *settings);
int bench_step(const bench_settings *settings);
int bench_optimizer(const bench_settings *settings);

/* ------------------------------------------------------------------ oneDNN called directly */

/* A workload of the module axle-bench-onednn.so; work.run is NULL where there is no such module. */
bench_work bench_direct_create(const char *what, const int64_t sizes[3]);
void bench_direct_release(bench_work work);

#endif
