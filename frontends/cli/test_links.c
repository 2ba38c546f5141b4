/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of axle test: who is there, and how fast each pair of processes talks. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "test.h"

/* ------------------------------------------------------------------ devices */

static void count_backends(self_test *test, char *text, size_t size)
{
    size_t end = 0;
    for (int k = 0; k < test->size && end < size; k++) {
        int count = 0, known = 0;
        for (int i = 0; i < test->size; i++) {
            int same = strcmp(test->ranks[i].backend, test->ranks[k].backend) == 0;
            known |= same && i < k;
            count += same;
        }
        if (!known)
            end += (size_t)snprintf(text + end, size - end, "%s%d on %s", end ? ", " : "", count,
                                    test->ranks[k].backend);
    }
}

/* A product of whole numbers, which is exact. */
int test_devices(self_test *test)
{
    enum { N = 6 };
    double a[N * N], b[N * N], expected[N * N];
    char text[TEST_TEXT];
    for (int i = 0; i < N * N; i++) {
        a[i] = (i * 5 + test->rank) % 7 - 3;
        b[i] = (i * 3) % 5 - 2;
        expected[i] = 0.0;
    }
    for (int i = 0; i < N * N; i++)
        for (int k = 0; k < N; k++)
            expected[i] += a[i / N * N + k] * b[k * N + i % N];
    axle_tensor *product = axle_matmul(test_tensor(test, AXLE_DTYPE_F32, AXLE_DIMS(N, N), a),
                                       test_tensor(test, AXLE_DTYPE_F32, AXLE_DIMS(N, N), b));
    count_backends(test, text, sizeof(text));
    test_detail(test, "%s", text);
    return test_expect(test, "a product of matrices", product, expected, N * N, 0.0);
}

/* ------------------------------------------------------------------ links */

/* A message is as many floats; with many processes the large ones are smaller. */
enum { WARM = 2, ROUNDS = 10, SMALL = 1, LARGE_TOTAL = 4 << 20, LARGE_LEAST = 256 << 10 };

/* Messages there and back; the seconds of one round. */
static int exchange(self_test *test, axle_tensor *tensor, int peer, int rounds, double *seconds)
{
    int code = AXLE_OK, first = test->rank < peer;
    double begin = clock_seconds();
    for (int k = 0; k < rounds && !code; k++) {
        code =
            first ? axle_send(test->group, tensor, peer) : axle_receive(test->group, tensor, peer);
        if (!code)
            code = first ? axle_receive(test->group, tensor, peer)
                         : axle_send(test->group, tensor, peer);
    }
    *seconds = (clock_seconds() - begin) / rounds;
    return code;
}

/* What the lower rank sends comes back to it, and is what the higher rank has in the end. */
static int check_data(self_test *test, axle_tensor *tensor, int lower, int64_t count)
{
    double *expected = malloc((size_t)count * sizeof(*expected));
    char what[TEST_NAME];
    if (!expected)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int64_t i = 0; i < count; i++)
        expected[i] = (double)((i + 1000 * lower) % 65521);
    snprintf(what, sizeof(what), "what rank %d sent", lower);
    int code = test_expect(test, what, tensor, expected, count, 0.0);
    free(expected);
    return code;
}

static axle_tensor *message_of(const self_test *test, int64_t count)
{
    if (axle_device_push(axle_device_host()))
        return NULL;
    axle_tensor *tensor = axle_empty(AXLE_DTYPE_F32, 1, &count);
    void *data;
    if (tensor && axle_tensor_data(tensor, &data) == AXLE_OK)
        for (int64_t i = 0; i < count; i++)
            ((float *)data)[i] = (float)((i + 1000 * test->rank) % 65521);
    axle_device_pop();
    return tensor;
}

static int64_t large_count(const self_test *test)
{
    int64_t count = LARGE_TOTAL / test->size;
    return count > LARGE_LEAST ? count : LARGE_LEAST;
}

static int measure(self_test *test, int peer)
{
    int lower = test->rank < peer ? test->rank : peer, higher = test->rank + peer - lower;
    int64_t count = large_count(test);
    axle_tensor *small = message_of(test, SMALL), *large = message_of(test, count);
    double seconds = 0.0;
    int code = small && large ? AXLE_OK : axle_error_code();
    test_link *link = &test->links[lower * test->size + higher];
    if (!code)
        code = exchange(test, small, peer, WARM, &seconds);
    if (!code)
        code = exchange(test, small, peer, ROUNDS, &seconds);
    link->latency_us = seconds * 1e6 / 2.0;
    if (!code)
        code = exchange(test, large, peer, 1, &seconds);
    if (!code)
        code = exchange(test, large, peer, 1, &seconds);
    link->gb_per_second = seconds > 0.0 ? 2e-9 * 4.0 * (double)count / seconds : 0.0;
    return code ? code : check_data(test, large, lower, count);
}

static int measure_all(self_test *test)
{
    int code = AXLE_OK;
    for (int a = 0; a < test->size; a++)
        for (int b = a + 1; b < test->size && !code; b++) {
            code = axle_barrier(test->group);
            if (code || (test->rank != a && test->rank != b))
                continue;
            code = axle_scope_push();
            if (code)
                break;
            code = measure(test, test->rank == a ? b : a);
            axle_scope_pop();
        }
    return code;
}

/* Each link's numbers from its lower rank to all. */
static int share(self_test *test)
{
    const int64_t count = (int64_t)test->size * test->size * 2;
    double *numbers = calloc((size_t)count, sizeof(*numbers)), *all = NULL;
    if (!numbers)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int k = test->rank * test->size; k < (test->rank + 1) * test->size; k++) {
        numbers[2 * k] = test->links[k].latency_us;
        numbers[2 * k + 1] = test->links[k].gb_per_second;
    }
    int code = axle_device_push(axle_device_host());
    axle_tensor *tensor = code ? NULL : axle_from_data(AXLE_DTYPE_F64, 1, &count, numbers);
    axle_device_pop();
    free(numbers);
    code = tensor ? axle_all_reduce(test->group, tensor, AXLE_REDUCE_SUM) : axle_error_code();
    if (!code)
        code = test_numbers(tensor, &all);
    for (int k = 0; k < test->size * test->size && !code; k++)
        test->links[k] = (test_link){all[2 * k], all[2 * k + 1]};
    free(all);
    return code;
}

/* There are two processes at least. */
static void tell(self_test *test)
{
    const test_link *best = &test->links[1], *worst = best;
    int from = 0, to = 1, pairs = 0;
    for (int a = 0; a < test->size; a++)
        for (int b = a + 1; b < test->size; b++) {
            const test_link *link = &test->links[a * test->size + b];
            pairs++;
            if (link->gb_per_second > best->gb_per_second)
                best = link;
            if (link->gb_per_second >= worst->gb_per_second)
                continue;
            worst = link;
            from = a;
            to = b;
        }
    if (pairs == 1)
        test_detail(test, "%.0f us, %.2f GB/s", best->latency_us, best->gb_per_second);
    else
        test_detail(test,
                    "%d pairs; fastest %.0f us, %.2f GB/s; slowest (%d and %d) %.0f us, %.2f GB/s",
                    pairs, best->latency_us, best->gb_per_second, from, to, worst->latency_us,
                    worst->gb_per_second);
}

int test_links(self_test *test)
{
    memset(test->links, 0, (size_t)test->size * (size_t)test->size * sizeof(*test->links));
    int code = measure_all(test);
    if (!code)
        code = share(test);
    if (!code)
        tell(test);
    return code;
}
