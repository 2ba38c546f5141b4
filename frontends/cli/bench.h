/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axle bench: measuring, and reporting what was measured. A kind of benchmark describes subjects:
 * what to make on a backend, and what its numbers mean. bench_compare() makes a subject on every
 * backend that was asked for, lets all of them take turns, and prints a line for each.
 */
#ifndef AXLE_CLI_BENCH_H
#define AXLE_CLI_BENCH_H

#include <jansson.h>

#include "axle/axle.h"
#include "command.h"

enum { BENCH_MOST_BACKENDS = 8, BENCH_MOST_NUMBERS = 9 };

/* A backend to measure on; `spec` NULL is that which AXLE_BACKEND chooses. */
typedef struct bench_backend {
    const char *spec;
    axle_device *device;
} bench_backend;

typedef struct bench_settings {
    int json, direct, model, dtype; /* model: position in all_model_names(), -1: not given */
    int precision;                  /* position in bench_precisions() */
    int64_t batch_size, length, hidden, repeat, parameters;
    option_list shapes, ops, backends;
    bench_backend backend[BENCH_MOST_BACKENDS]; /* of `backends`, open */
    int backend_count;
} bench_settings;

/* ------------------------------------------------------------------ measuring */

/* Something to measure: does it once, to its end. Returns 0 on success. `device` is made the
 * current one around it, unless it is NULL. */
typedef struct bench_work {
    int (*run)(void *user);
    void *user;
    axle_device *device;
} bench_work;

/*
 * Let `n` works take turns, `repeat` times each, after warming up; short ones run many times in
 * each turn, which begins with runs that do not count. seconds[k] is the median of work k's times
 * for a run.
 */
int bench_measure(const bench_work *work, int n, int64_t repeat, double *seconds);

/* Types of products. */
const char *const *bench_precisions(void);

/* Samples a batch for a model: what was asked for, else what is usual. */
int64_t bench_batch_size(const bench_settings *settings, const char *model);

/* Seconds to milliseconds and microseconds. */
enum { BENCH_MS = 1000, BENCH_US = 1000000 };

typedef struct bench_subject bench_subject;

/* Work on one backend and, unless its run is NULL, what limits it. */
typedef struct bench_pair {
    bench_work work, limit;
    double flops, bytes; /* of one thing that the work does; 0: not told */
} bench_pair;

struct bench_subject {
    const char *what, *about; /* "matmul", "512x768x768" */
    int unit;                 /* of printed times: BENCH_MS or BENCH_US */
    const void *params;
    /* Make the work; the backend's device is the current one. */
    int (*create)(const bench_subject *subject, const bench_backend *backend, bench_pair *out);
    /* Also after a failed create; `pair` begins empty. NULL: nothing to release. */
    void (*release)(bench_pair *pair);
    double runs;         /* things that one run does; 0 is 1 */
    const char *limit;   /* what the limit is */
    double limit_factor; /* the limit's time counts so many times; 0 is 1 */
    const char *rate;    /* member that tells `amount` a second, or NULL */
    double amount;
    json_t *more; /* further members, borrowed, or NULL */
    /* Add members that are known when all is measured, or NULL. */
    void (*tell)(const bench_pair *pair, json_t *line);
};

/* Measure it on the backends of the settings and print the results. */
int bench_compare(const bench_settings *settings, const bench_subject *subject);

/* The numbers of a shape "64x3x3", from `least` to `most` of them, all positive; their count, or a
 * negative error code. `form` is for the message. */
int bench_parse_shape(const char *text, int least, int most, const char *form, int64_t *out);

/* Element type of the settings. */
int bench_dtype(const bench_settings *settings);
const char *const *bench_dtypes(void);

/* Threads that operators use. */
int bench_threads(void);

/* ------------------------------------------------------------------ kinds */

/* X(name): they return AXLE_OK or an error code with Axle's error recorded. */
#define BENCH_LIST(X) X(matmul) X(conv) X(op) X(dispatch) X(step) X(optimizer) X(start)
/* Those about several processes. */
#define BENCH_GROUP_LIST(X) X(allreduce) X(overlap) X(processes)
#define BENCH_DECLARE(name) int bench_##name(const bench_settings *settings);
BENCH_LIST(BENCH_DECLARE)
BENCH_GROUP_LIST(BENCH_DECLARE)
#undef BENCH_DECLARE

/* Names for --op. */
const char *const *bench_op_names(void);

/* An optimizer ("sgd", "adam" or "rmsprop") over one parameter of that many elements, on the
 * current device. */
int bench_optimizer_create(const char *name, int64_t elements, axle_optimizer **out);

/* ------------------------------------------------------------------ libraries called directly */

/* The module axle-bench-NAME.so; NULL where there is none. */
void *bench_module_open(const char *name);
/* Store the address of a function of it in *function; whether there is one. */
int bench_module_find(void *library, const char *name, void *function);

/* A workload of the module axle-bench-onednn.so; work.run is NULL where there is no such module. */
bench_work bench_direct_create(const char *what, const int64_t sizes[3]);
void bench_direct_release(bench_work work);

#endif
