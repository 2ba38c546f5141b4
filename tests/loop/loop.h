/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What users of a training loop rely on, check by check, in a job of any number of processes. Each
 * topic is a file with a table of checks; README.md lists them in words. All processes run all
 * checks in the same order; the main one tells, as TAP, what came of each on all of them.
 */
#ifndef AXLE_TESTS_LOOP_H
#define AXLE_TESTS_LOOP_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/axle.h"

typedef struct loop_check {
    const char *number; /* in README.md */
    const char *name;
    int (*run)(void); /* 0, or what EXPECT returns */
} loop_check;

/* Topics; tables end with an entry without a name. */
extern const loop_check loop_state[];
extern const loop_check loop_split[];
extern const loop_check loop_loading[];
extern const loop_check loop_streams[];
extern const loop_check loop_equality[];
extern const loop_check loop_accumulation[];
extern const loop_check loop_collectives[];
extern const loop_check loop_uneven[];
extern const loop_check loop_precision[];
extern const loop_check loop_checkpoints[];

extern int loop_rank, loop_size; /* of this process; of the job */

int loop_failed(const char *file, int line, const char *what);
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return loop_failed(__FILE__, __LINE__, #condition);                                    \
    } while (0)
/* A call that fails with that code and says that; the error is forgotten. */
int loop_refused(int status, int code, const char *part);

/* Quiet, with these options (NULL: the defaults). */
int loop_open(const axle_accelerator_options *options, axle_accelerator **out);
/* Numbers 0..n-1 as "input", i64. */
int loop_numbers(int64_t n, const axle_loader_options *options, axle_loader **out);
/* Options of a loader. */
axle_loader_options loop_loading_options(int64_t batch, int shuffle, uint64_t seed, int workers);
/* x as "input" and 2 x + 3 as "target", (n, 1), in the default element type. */
int loop_line(int64_t n, const axle_loader_options *options, axle_loader **out);
/* Numbers in the order in which an epoch gives them. */
enum { LOOP_MOST = 600 };
typedef struct loop_seen {
    int64_t ids[LOOP_MOST], count, steps;
    int64_t ends[LOOP_MOST]; /* of the global batches */
} loop_seen;
/* The rest of an epoch, gathered from all processes. */
int loop_gather_epoch(axle_accelerator *acc, axle_loader *loader, loop_seen *out);
/* The same of a loader that nobody prepared. */
int loop_read_epoch(axle_loader *loader, loop_seen *out);
/* Whether each of 0..n-1 is there once. */
int loop_is_whole(const loop_seen *seen, int64_t n);
/* A parameter of one element, f64, with an optimizer of its own: SGD, rate 1. */
int loop_weight(double value, double momentum, axle_tensor **weight, axle_optimizer **optimizer);
/* The path that the main process has, on all. */
int loop_share_path(axle_accelerator *acc, char *path, size_t size);
/* A new folder of the main process's host, whose name all get; and its end. */
int loop_folder(axle_accelerator *acc, char *path, size_t size);
int loop_remove_folder(axle_accelerator *acc, const char *path);
/* Let them go; returns 0. */
int loop_close(axle_accelerator *acc, axle_optimizer *opt, axle_tensor *weight);
/* A linear map of fixed beginnings that is to learn that line, with SGD, rate 0.1. */
int loop_learner(axle_module **net, axle_optimizer **opt);
/* Weight and bias that it came to over the loader, alike on all processes; lets all but the
 * accelerator go, which may be NULL. */
int loop_learned(axle_accelerator *acc, axle_module *net, axle_optimizer *opt, axle_loader *loader,
                 double out[2]);
/* The only element of a tensor. */
double loop_item(const axle_tensor *tensor);
/* w * x, a loss. */
axle_tensor *loop_product(axle_tensor *weight, double x);
/* Whether numbers are equal to that relative difference. */
bool loop_near(double a, double b, double tolerance);

#endif
