/* SPDX-License-Identifier: Apache-2.0 */
/* Row of axle test: what dropout does to a sample does not depend on the number of processes. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

enum { DRAWS = 16, BATCH = 3, EACH = 7, SEED = 5 };

/* What is left of ones, batch after batch: rows of DRAWS numbers, of all processes where the loader
 * was prepared. */
typedef struct drawn {
    double *numbers;
    int64_t count, capacity;
} drawn;

static int draw(self_test *test, axle_batch *batch, int together, drawn *out)
{
    double *numbers = NULL;
    axle_tensor *ones = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(axle_batch_rows(batch), DRAWS));
    axle_tensor *rows = axle_dropout(ones, 0.5);
    if (together)
        rows = axle_gather_for_metrics(test->accelerator, rows);
    int code = test_numbers(rows, &numbers);
    if (code)
        return code;
    int64_t count = axle_tensor_count(rows);
    if (out->count + count > out->capacity)
        test_wrong(test, "more than %lld numbers were drawn", (long long)out->capacity);
    for (int64_t k = 0; k < count && out->count < out->capacity; k++)
        out->numbers[out->count++] = numbers[k];
    free(numbers);
    return AXLE_OK;
}

static int draw_epoch(self_test *test, axle_loader *loader, int together, drawn *out)
{
    axle_batch *batch;
    int code = AXLE_OK;
    axle_seed(SEED);
    while (!code && axle_loader_next(loader, &batch))
        code = draw(test, batch, together, out);
    if (code)
        axle_loader_break(loader);
    return code ? code : axle_loader_status(loader);
}

/* An epoch over n samples, together with the others or alone with batches as large. */
static int draw_all(self_test *test, int64_t n, int together, drawn *out)
{
    axle_dataset *set = NULL;
    axle_loader *loader = NULL;
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    options.batch_size = together ? BATCH : BATCH * test->size;
    out->capacity = n * DRAWS;
    out->numbers = malloc((size_t)out->capacity * sizeof(*out->numbers));
    if (!out->numbers)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    int code = test_numbered_set(n, &set);
    if (!code)
        code = axle_loader_create(set, &options, &loader);
    if (!code && together)
        code = axle_prepare(test->accelerator, loader);
    if (!code)
        code = draw_epoch(test, loader, together, out);
    axle_loader_release(loader);
    axle_dataset_release(set);
    return code;
}

static void compare(self_test *test, const drawn *together, const drawn *alone)
{
    if (together->count != alone->count)
        test_wrong(test, "%lld numbers instead of %lld", (long long)together->count,
                   (long long)alone->count);
    for (int64_t k = 0; k < together->count && k < alone->count; k++)
        if (together->numbers[k] != alone->numbers[k]) {
            test_wrong(test, "number %lld of sample %lld is %.9g instead of %.9g",
                       (long long)(k % DRAWS), (long long)(k / DRAWS), together->numbers[k],
                       alone->numbers[k]);
            return;
        }
}

int test_random(self_test *test)
{
    drawn together = {0}, alone = {0};
    axle_random_state before = axle_random_get();
    int64_t n = EACH * test->size + 1;
    int code = draw_all(test, n, 1, &together);
    if (!code)
        code = draw_all(test, n, 0, &alone);
    axle_random_state state = axle_random_get();
    axle_random_set(before);
    if (!code)
        compare(test, &together, &alone);
    if (!code)
        code = test_same(test, "number of draws", state.draw);
    if (!code)
        code = test_same(test, "seed", state.seed);
    free(together.numbers);
    free(alone.numbers);
    test_detail(test, "dropout gives samples the masks of one process");
    return code;
}
