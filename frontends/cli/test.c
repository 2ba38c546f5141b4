/* SPDX-License-Identifier: Apache-2.0 */
/* axle test: does this cluster do what training needs? */
#define _GNU_SOURCE 1
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "interrupt.h"

typedef struct test_settings {
    int64_t timeout, repeat;
    int json;
} test_settings;

static const test_settings defaults = {.repeat = 1};

enum { MOST_SECONDS = 86400, MOST_ROUNDS = 1000000, USUAL_SECONDS = 60 };

#define TEST_OPTION(label, type, field, ...)                                                       \
    CLI_OPTION(label, type, test_settings, field, __VA_ARGS__)

static const cli_option options[] = {
    TEST_OPTION("timeout", INTEGER, timeout, .value = "S", .low = 1, .high = MOST_SECONDS,
                .unset = "AXLE_TIMEOUT, else 60",
                .help = "seconds that a process waits for the others"),
    TEST_OPTION("repeat", INTEGER, repeat, .value = "N", .low = 1, .high = MOST_ROUNDS,
                .help = "rounds of all rows, up to the first failure"),
    TEST_OPTION("json", FLAG, json, .help = "print one JSON object"),
    CLI_OPTION_END,
};

const test_row test_rows[] = {
    {"devices", "each process computes right", test_devices, 1},
    {"links", "each pair of processes talks", test_links, 2},
    {"all_reduce", "sum, mean, max, min", test_all_reduce, 1},
    {"reduce_scatter", "parts of a sum", test_reduce_scatter, 1},
    {"all_gather", "rows of all to all", test_all_gather, 1},
    {"gather", "rows of all to one", test_gather, 1},
    {"broadcast", "from one to all", test_broadcast, 1},
    {"scatter", "parts from one", test_scatter, 1},
    {"bytes", "bytes from one to all", test_bytes, 1},
    {"equal bits", "sums are equal bit by bit", test_equal_bits, 1},
    {"differences", "different calls are an error on all", test_differences, 2},
    {"helpers", "padding, reduce, weighted mean", test_helpers, 1},
    {"trigger", "a flag that all see", test_trigger, 1},
    {"main first", "the main process goes first", test_main_first, 1},
    {"split", "items over processes", test_split, 1},
    {"loader", "global batches", test_loader, 1},
    {"random", "masks of dropout", test_random, 1},
    {"training", "equal to one process", test_training, 1},
    {"accumulation", "equal to one process", test_accumulation, 1},
    {"sharding", "the optimizer shared out", test_sharding, 1},
};
const int test_row_count = sizeof(test_rows) / sizeof(test_rows[0]);
_Static_assert(sizeof(test_rows) / sizeof(test_rows[0]) <= TEST_MOST_ROWS, "too many rows");

/* ------------------------------------------------------------------ telling each other */

/* One record of bytes of each process to all; `all` has room for them. */
static int gather_records(self_test *test, const void *own, void *all, size_t size)
{
    int code = axle_scope_push();
    if (code)
        return code;
    code = axle_device_push(axle_device_host());
    axle_tensor *record =
        code ? NULL : axle_from_data(AXLE_DTYPE_U8, AXLE_DIMS(1, (int64_t)size), own);
    axle_device_pop();
    axle_tensor *records = axle_all_gather(test->group, record);
    code = records ? axle_tensor_read(records, all, size * (size_t)test->size) : axle_error_code();
    axle_scope_pop();
    return code;
}

static int meet(self_test *test)
{
    test_rank own = {.host = "?"};
    gethostname(own.host, sizeof(own.host) - 1);
    snprintf(own.backend, sizeof(own.backend), "%s", axle_device_backend(test->device));
    snprintf(own.device, sizeof(own.device), "%s", axle_device_name(test->device));
    size_t size = (size_t)test->size;
    test->ranks = calloc(size, sizeof(*test->ranks));
    test->links = calloc(size * size, sizeof(*test->links));
    if (!test->ranks || !test->links)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    return gather_records(test, &own, test->ranks, sizeof(own));
}

static int begin(self_test *test)
{
    axle_accelerator_options options = AXLE_ACCELERATOR_OPTIONS_INIT;
    options.quiet = 1;
    options.accumulate = 1;
    options.precision = "no"; /* what it checks holds to the last digit */
    int code = axle_accelerator_create(&options, &test->accelerator);
    if (code)
        return code;
    test->group = axle_accelerator_group(test->accelerator);
    test->device = axle_accelerator_device(test->accelerator);
    test->rank = axle_group_rank(test->group);
    test->size = axle_group_size(test->group);
    return meet(test);
}

static void end(self_test *test)
{
    axle_accelerator_release(test->accelerator);
    free(test->ranks);
    free(test->links);
}

/* ------------------------------------------------------------------ running rows */

static int add_failure(test_result *result, int rank, const char *text)
{
    test_failure *grown =
        realloc(result->failures, ((size_t)result->failure_count + 1) * sizeof(*grown));
    result->status = TEST_FAILED;
    if (!grown)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    result->failures = grown;
    test_failure *failure = &grown[result->failure_count++];
    failure->rank = rank;
    snprintf(failure->text, sizeof(failure->text), "%s", text);
    return AXLE_OK;
}

/* What any process found wrong fails the row on all. */
static int judge(self_test *test, test_result *result)
{
    char *all = calloc((size_t)test->size, TEST_TEXT);
    int code = all ? gather_records(test, test->wrong, all, TEST_TEXT)
                   : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int rank = 0; rank < test->size && !code; rank++)
        if (all[rank * TEST_TEXT])
            code = add_failure(result, rank, all + rank * TEST_TEXT);
    free(all);
    return code;
}

/* Returns an error where the processes are no longer in step, so that the next row makes no sense;
 * it is this process's failure, too. */
static int run_row(self_test *test, const test_row *row, test_result *result)
{
    if (test->size < row->least) {
        result->status = TEST_SKIPPED;
        snprintf(result->detail, sizeof(result->detail), "needs %d processes", row->least);
        return AXLE_OK;
    }
    test->wrong[0] = test->detail[0] = '\0';
    double start = clock_seconds();
    int code = axle_scope_push();
    if (!code) {
        code = row->run(test);
        axle_scope_pop();
    }
    if (!code)
        code = judge(test, result);
    result->seconds += clock_seconds() - start;
    snprintf(result->detail, sizeof(result->detail), "%s", test->detail);
    if (code)
        add_failure(result, test->rank, axle_error_message());
    return code;
}

static void print_row(const self_test *test, const test_settings *settings, const test_row *row,
                      const test_result *result, int is_last)
{
    int counts = is_last || result->status == TEST_FAILED;
    if (test->rank == 0 && !settings->json && counts)
        test_print_row(row, result);
}

static int count_failed(const test_result *results)
{
    int failed = 0;
    for (int k = 0; k < test_row_count; k++)
        failed += results[k].status == TEST_FAILED;
    return failed;
}

/* Rows that were not reached stay skipped. */
static int run_rounds(self_test *test, const test_settings *settings, test_result *results,
                      int64_t *rounds)
{
    int code = AXLE_OK;
    for (int k = 0; k < test_row_count; k++) {
        results[k].status = TEST_SKIPPED;
        snprintf(results[k].detail, sizeof(results[k].detail), "not reached");
    }
    while (*rounds < settings->repeat && !code && count_failed(results) == 0) {
        int is_last = ++*rounds == settings->repeat;
        for (int k = 0; k < test_row_count && !code; k++) {
            results[k].status = TEST_PASSED;
            code = run_row(test, &test_rows[k], &results[k]);
            print_row(test, settings, &test_rows[k], &results[k], is_last);
            if (!code && interrupt_signal())
                return axle_error_set(AXLE_ERR_INTERRUPTED, "interrupted");
        }
    }
    return code;
}

/* ------------------------------------------------------------------ the command */

static int report(const self_test *test, const test_settings *settings, const test_result *results,
                  int64_t rounds, double seconds)
{
    if (test->rank != 0)
        return 0;
    if (settings->json)
        return test_print_json(test, results, rounds, seconds);
    test_print_sum(results, seconds);
    return 0;
}

static int run_test(self_test *test, const test_settings *settings, test_result *results)
{
    double start = clock_seconds();
    int64_t rounds = 0;
    if (test->rank == 0 && !settings->json)
        test_print_head(test);
    int code = run_rounds(test, settings, results, &rounds);
    int exit_code = code || count_failed(results) ? EXIT_FAILED : EXIT_DONE;
    if (code && (test->rank > 0 || interrupt_signal()))
        command_failed(&test_command, NULL);
    axle_error_clear();
    if (report(test, settings, results, rounds, clock_seconds() - start))
        return command_error(&test_command, "out of memory");
    return interrupt_signal() ? EXIT_SIGNAL + interrupt_signal() : exit_code;
}

static int run(const void *given, const int *operands, int n)
{
    const test_settings *settings = given;
    self_test test = {0};
    test_result results[TEST_MOST_ROWS] = {0};
    char seconds[24];
    (void)operands, (void)n;
    snprintf(seconds, sizeof(seconds), "%lld",
             (long long)(settings->timeout ? settings->timeout : USUAL_SECONDS));
    setenv("AXLE_TIMEOUT", seconds, settings->timeout != 0);
    interrupt_catch();
    int code =
        begin(&test) ? command_failed(&test_command, NULL) : run_test(&test, settings, results);
    end(&test);
    for (int k = 0; k < test_row_count; k++)
        free(results[k].failures);
    return code;
}

const command test_command = {
    .name = "test",
    .summary = "check that the processes of a job work together, and how fast they talk",
    .about = "Check devices, links, collectives, loading and training, as one process or under\n"
             "axle launch: 'axle launch -n 4 axle test'. The first process prints the report.",
    .options = options,
    .defaults = &defaults,
    .settings_size = sizeof(defaults),
    .run = run,
};
