/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of axle test: triggers, who goes first, and the small helpers of a loop. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

/* ------------------------------------------------------------------ triggers */

static int expect_trigger(self_test *test, const char *when, int rank, int expected)
{
    int set = -1;
    int code = axle_check_trigger(test->accelerator, &set);
    if (!code && set != expected)
        test_wrong(test, "%s rank %d set the trigger it is %d", when, rank, set);
    return code;
}

int test_trigger(self_test *test)
{
    int code = expect_trigger(test, "before", 0, 0);
    for (int rank = 0; rank < test->size && !code; rank++) {
        if (test->rank == rank)
            axle_set_trigger(test->accelerator);
        code = expect_trigger(test, "after", rank, 1);
        if (!code)
            code = expect_trigger(test, "twice after", rank, 0);
    }
    test_detail(test, "set on one process, seen once on all");
    return code;
}

/* ------------------------------------------------------------------ who goes first */

/* A file on each host that the first process of the host makes and the others write to. */
enum { PATH_SIZE = 512, PAUSE_MS = 100 };

static int choose_name(self_test *test, char *path)
{
    char own[TEST_NAME];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    size_t size = (size_t)snprintf(own, sizeof(own), "axle-test-%ld-%lld%09ld", (long)getpid(),
                                   (long long)now.tv_sec, now.tv_nsec) +
                  1;
    void *name = own;
    int code = axle_broadcast_bytes(test->group, &name, &size, 0);
    if (code)
        return code;
    const char *folder = getenv("TMPDIR");
    snprintf(path, PATH_SIZE, "%s/%.*s", folder && *folder ? folder : "/tmp", (int)size,
             (const char *)name);
    if (test->rank != 0)
        axle_free(name);
    return AXLE_OK;
}

/* The first one comes late on purpose. */
static void write_mark(self_test *test, const char *path, int is_first)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    if (is_first)
        nanosleep(&pause, NULL);
    int file =
        open(path, O_WRONLY | O_APPEND | O_CLOEXEC | (is_first ? O_CREAT | O_EXCL : 0), 0600);
    if (file < 0 && errno == ENOENT)
        test_wrong(test, "came before the process that goes first");
    else if (file < 0 || write(file, is_first ? "m" : "o", 1) != 1)
        test_wrong(test, "%s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
}

static void read_marks(self_test *test, const char *path, int others)
{
    char marks[4096];
    FILE *file = fopen(path, "re");
    size_t count = file ? fread(marks, 1, sizeof(marks), file) : 0;
    if (file)
        fclose(file);
    unlink(path);
    if (count != (size_t)others + 1 || marks[0] != 'm')
        test_wrong(test, "%s has %zu marks instead of %d, the first is '%c'", path, count,
                   others + 1, count ? marks[0] : '-');
}

static int take_turns(self_test *test, int local)
{
    char path[PATH_SIZE];
    int is_first = local ? axle_is_local_main_process(test->accelerator)
                         : axle_is_main_process(test->accelerator);
    int code = choose_name(test, path);
    if (!code)
        code = axle_main_process_first_begin(test->accelerator, local);
    if (code)
        return code;
    write_mark(test, path, is_first);
    code = axle_main_process_first_end(test->accelerator, local);
    if (!code)
        code = axle_wait_for_everyone(test->accelerator);
    if (!code && is_first)
        read_marks(test, path, axle_group_local_size(test->group) - 1);
    return code;
}

/* Where there are several hosts, files tell of each host's turns alone. */
int test_main_first(self_test *test)
{
    int one_host = axle_group_local_size(test->group) == test->size;
    int code = take_turns(test, 1);
    if (!code && one_host)
        code = take_turns(test, 0);
    test_detail(test, one_host ? "the others wait" : "the others wait, on each host");
    return code;
}

/* ------------------------------------------------------------------ helpers */

/* Rank r brings P - r rows of r + 1. */
static int check_padding(self_test *test)
{
    size_t square = (size_t)test->size * (size_t)test->size;
    double *expected = malloc(square * sizeof(*expected));
    int64_t rows = test->size - test->rank;
    if (!expected)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int rank = 0; rank < test->size; rank++)
        for (int k = 0; k < test->size; k++)
            expected[rank * test->size + k] = k < test->size - rank ? rank + 1.0 : -1.0;
    axle_tensor *tensor = axle_full(AXLE_DTYPE_F32, 1, &rows, test->rank + 1.0);
    axle_tensor *padded = axle_pad_across_processes(test->accelerator, tensor, 0, -1.0, 0);
    axle_tensor *all = axle_accelerator_gather(test->accelerator, padded);
    int code =
        test_expect(test, "rows padded with -1 and gathered", all, expected, (int64_t)square, 0.0);
    free(expected);
    return code;
}

static int check_reduce(self_test *test)
{
    double own[2] = {test->rank + 1.0, test->rank + 3.0}, n = test->size;
    const double sums[2] = {n * (n + 1.0) / 2.0, n * (n + 5.0) / 2.0};
    axle_tensor *tensor = test_tensor(test, AXLE_DTYPE_F32, AXLE_DIMS(2), own);
    axle_tensor *sum = axle_accelerator_reduce(test->accelerator, tensor, AXLE_REDUCE_SUM);
    int code = test_expect(test, "a reduced copy", sum, sums, 2, 0.0);
    return code ? code : test_expect(test, "what was copied", tensor, own, 2, 0.0);
}

/* Values r weighted by r. */
static int check_mean(self_test *test)
{
    double weights = 0.0, sum = 0.0, mean = 0.0;
    for (int rank = 0; rank < test->size; rank++) {
        weights += rank;
        sum += (double)rank * rank;
    }
    int code = axle_weighted_mean(test->accelerator, test->rank, test->rank, &mean);
    double expected = weights > 0.0 ? sum / weights : 0.0;
    if (!code && fabs(mean - expected) > 1e-12 * (1.0 + expected))
        test_wrong(test, "the weighted mean is %.17g instead of %.17g", mean, expected);
    return code;
}

int test_helpers(self_test *test)
{
    int code = check_padding(test);
    if (!code)
        code = check_reduce(test);
    if (!code)
        code = check_mean(test);
    test_detail(test, "padding, a reduced copy, a weighted mean");
    return code;
}
