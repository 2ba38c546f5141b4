/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of axle test: each sample once, and the same global batches as one process has. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

/* ------------------------------------------------------------------ items */

static int split_items(self_test *test, int64_t n)
{
    int64_t first, count, at = 0;
    double *all = NULL;
    axle_split_between_processes(test->accelerator, n, &first, &count);
    const double own[2] = {(double)first, (double)count};
    axle_tensor *part = test_tensor(test, AXLE_DTYPE_F32, AXLE_DIMS(1, 2), own);
    int code = test_numbers(axle_accelerator_gather(test->accelerator, part), &all);
    for (int k = 0; k < test->size && !code; k++) {
        int64_t share = n / test->size + (k < n % test->size);
        if ((int64_t)all[2 * k] != at || (int64_t)all[2 * k + 1] != share)
            test_wrong(
                test, "of %lld items rank %d has %.0f from %.0f on instead of %lld from %lld on",
                (long long)n, k, all[2 * k + 1], all[2 * k], (long long)share, (long long)at);
        at += share;
    }
    free(all);
    return code;
}

int test_split(self_test *test)
{
    const int64_t counts[] = {2 * test->size, 2 * test->size - 1, 17, 1, 0};
    int code = AXLE_OK;
    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]) && !code; k++)
        code = split_items(test, counts[k]);
    test_detail(test, "each item on one process");
    return code;
}

/* ------------------------------------------------------------------ loaders */

typedef struct loading {
    int64_t each, more; /* n = each * processes + more */
    int64_t batch_size;
    int shuffle, drop_last, workers;
} loading;

static const loading loadings[] = {
    {32, 0, 8, 0, 0, 0}, {32, 0, 8, 1, 0, 2}, {0, 99, 8, 1, 0, 0}, {0, 512, 16, 0, 0, 1},
    {10, 1, 5, 0, 1, 0}, {0, 3, 1, 0, 0, 0},  {0, 7, 2, 1, 0, 0},  {0, 22, 4, 1, 0, 4},
};
enum { LOADINGS = sizeof(loadings) / sizeof(loadings[0]), EPOCHS = 2, SEED = 11 };

/* A loader over the numbers, of this process's share; two references for the caller. */
static int open_loader(self_test *test, int64_t n, const axle_loader_options *options,
                       axle_loader **out)
{
    axle_dataset *set = NULL;
    int code = test_numbered_set(n, &set);
    if (!code)
        code = axle_loader_create(set, options, out);
    if (!code)
        code = axle_prepare(test->accelerator, *out);
    axle_dataset_release(set);
    return code;
}

/* What all processes hold of a batch, against the batch of one process. */
static int check_batch(self_test *test, const char *what, axle_batch *batch,
                       const test_order *order, int64_t number)
{
    axle_tensor *own = axle_batch_get(batch, "input");
    axle_tensor *all = axle_gather_for_metrics(test->accelerator, own);
    if (!all || number >= order->batches)
        return all ? AXLE_OK : axle_error_code();
    int64_t first = number ? order->ends[number - 1] : 0, count = order->ends[number] - first;
    char name[2 * TEST_NAME];
    double *expected = malloc((size_t)(count + 1) * sizeof(*expected));
    if (!expected)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int64_t k = 0; k < count; k++)
        expected[k] = (double)order->samples[first + k];
    snprintf(name, sizeof(name), "%s, global batch %lld", what, (long long)number);
    int code = test_expect(test, name, all, expected, count, 0.0);
    free(expected);
    return code;
}

static int run_epochs(self_test *test, const char *what, axle_loader *loader,
                      const test_order *order)
{
    axle_batch *batch;
    int64_t number = 0;
    int code = AXLE_OK;
    for (int epoch = 0; epoch < EPOCHS && !code; epoch++) {
        while (!code && axle_loader_next(loader, &batch))
            code = check_batch(test, what, batch, order, number++);
        if (code)
            axle_loader_break(loader);
        else
            code = axle_loader_status(loader);
    }
    if (number != order->batches && !code)
        test_wrong(test, "%s: %lld batches instead of %lld", what, (long long)number,
                   (long long)order->batches);
    return code;
}

static int check_loading(self_test *test, const loading *loading)
{
    int64_t n = loading->each * test->size + loading->more;
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = loading->batch_size;
    options.shuffle = loading->shuffle;
    options.drop_last = loading->drop_last;
    options.workers = loading->workers;
    options.seed = SEED;
    char what[TEST_NAME];
    snprintf(what, sizeof(what), "%lld samples by %lld%s%s", (long long)n,
             (long long)options.batch_size, options.shuffle ? ", shuffled" : "",
             options.drop_last ? ", last dropped" : "");
    axle_loader *loader = NULL;
    test_order order;
    int code = test_order_read(test, n, &options, EPOCHS, &order);
    if (!code)
        code = open_loader(test, n, &options, &loader);
    if (!code)
        code = run_epochs(test, what, loader, &order);
    axle_loader_release(loader);
    test_order_free(&order);
    return code;
}

int test_loader(self_test *test)
{
    int code = AXLE_OK;
    for (int k = 0; k < LOADINGS && !code; k++)
        code = check_loading(test, &loadings[k]);
    test_detail(test, "each sample once, in the batches of one process");
    return code;
}
