/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axle test: a self-test of the processes of a job. Every process runs the same rows; a row does
 * all its collectives whatever it finds, so that the processes stay in step, and notes the first
 * thing that is wrong. After each row the processes tell each other what they noted.
 */
#ifndef AXLE_CLI_TEST_H
#define AXLE_CLI_TEST_H

#include "axle/axle.h"
#include "command.h"

enum { TEST_TEXT = 400, TEST_NAME = 64, TEST_MOST_ROWS = 32 };

/* A process of the job. */
typedef struct test_rank {
    char host[TEST_NAME], backend[TEST_NAME], device[2 * TEST_NAME];
} test_rank;

/* Between two processes, as the first of them measured it. */
typedef struct test_link {
    double latency_us, gb_per_second; /* 0: not measured */
} test_link;

typedef struct self_test {
    axle_accelerator *accelerator;
    axle_group *group;
    axle_device *device;
    int rank, size;
    test_rank *ranks; /* size */
    test_link *links; /* size * size: from the lower rank to the higher */
    /* Of the row under way, on this process. */
    char wrong[TEST_TEXT], detail[TEST_TEXT];
} self_test;

/* A row returns AXLE_OK, or the error of a call that should not fail. */
typedef int (*test_row_fn)(self_test *test);

typedef struct test_row {
    const char *name, *about;
    test_row_fn run;
    int least; /* processes that it needs */
} test_row;

enum { TEST_PASSED, TEST_FAILED, TEST_SKIPPED };

typedef struct test_failure {
    int rank;
    char text[TEST_TEXT];
} test_failure;

typedef struct test_result {
    int status;
    double seconds;
    char detail[TEST_TEXT];
    test_failure *failures; /* in the order of ranks */
    int failure_count;
} test_result;

/* ------------------------------------------------------------------ the rows */

extern const test_row test_rows[];
extern const int test_row_count;

int test_devices(self_test *test);
int test_links(self_test *test);
int test_all_reduce(self_test *test);
int test_reduce_scatter(self_test *test);
int test_all_gather(self_test *test);
int test_gather(self_test *test);
int test_broadcast(self_test *test);
int test_scatter(self_test *test);
int test_bytes(self_test *test);
int test_equal_bits(self_test *test);
int test_differences(self_test *test);
int test_helpers(self_test *test);
int test_split(self_test *test);
int test_loader(self_test *test);
int test_random(self_test *test);
int test_training(self_test *test);
int test_accumulation(self_test *test);
int test_sharding(self_test *test);
int test_trigger(self_test *test);
int test_main_first(self_test *test);

/* ------------------------------------------------------------------ what rows share */

/* Note what is wrong, unless something was noted before. */
void test_wrong(self_test *test, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What the row tells where all is well. */
void test_detail(self_test *test, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A tensor of the current scope on this process's device, or on the host where the device does not
 * know the type. */
axle_tensor *test_tensor(const self_test *test, int dtype, int rank, const int64_t *dims,
                         const double *values);
/* Elements as doubles; for free(). */
int test_numbers(axle_tensor *tensor, double **out);
/* Note where elements are not as expected, after rounding to the tensor's type. `tolerance` is
 * relative, and absolute below 1. A missing tensor is the recorded error. */
int test_expect(self_test *test, const char *what, axle_tensor *got, const double *expected,
                int64_t count, double tolerance);
/* Note it where a number is not the same on all processes. */
int test_same(self_test *test, const char *what, uint64_t number);

/* Samples of global batches in the order in which one process alone would take them. */
typedef struct test_order {
    int64_t *samples; /* epochs * n at most */
    int64_t *ends;    /* where in `samples` each batch ends */
    int64_t batches;
    int64_t per_epoch; /* batches */
} test_order;

/* options->batch_size is that of one of the processes. */
int test_order_read(const self_test *test, int64_t n, const axle_loader_options *options,
                    int epochs, test_order *out);
void test_order_free(test_order *order);
/* The numbers 0 to n - 1 as "input". */
int test_numbered_set(int64_t n, axle_dataset **out);

/* ------------------------------------------------------------------ the report */

void test_print_head(const self_test *test);
void test_print_row(const test_row *row, const test_result *result);
void test_print_sum(const test_result *results, double seconds);
/* Returns -1 when memory runs out. */
int test_print_json(const self_test *test, const test_result *results, int64_t rounds,
                    double seconds);

#endif
