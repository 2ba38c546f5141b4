/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which one process alone would take samples: a loader that nobody prepared. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

int test_numbered_set(int64_t n, axle_dataset **out)
{
    const char *const name = "input";
    int code = axle_scope_push();
    if (code)
        return code;
    code = axle_device_push(axle_device_host());
    if (!code) {
        axle_tensor *numbers = axle_arange(AXLE_DTYPE_F32, 0.0, (double)n, 1.0);
        code = numbers ? axle_tensor_dataset_create(&name, &numbers, 1, out) : axle_error_code();
        axle_device_pop();
    }
    axle_scope_pop();
    return code;
}

static int append(test_order *order, axle_batch *batch)
{
    double *numbers = NULL;
    int64_t at = order->batches ? order->ends[order->batches - 1] : 0;
    axle_tensor *input = axle_batch_get(batch, "input");
    int code = test_numbers(input, &numbers);
    if (code)
        return code;
    for (int64_t k = 0; k < axle_tensor_count(input); k++)
        order->samples[at++] = (int64_t)numbers[k];
    order->ends[order->batches++] = at;
    free(numbers);
    return AXLE_OK;
}

static int read_epochs(axle_loader *loader, int64_t n, int epochs, test_order *out)
{
    axle_batch *batch;
    int code = AXLE_OK;
    out->per_epoch = axle_loader_length(loader);
    out->samples = calloc((size_t)(n * epochs + 1), sizeof(*out->samples));
    out->ends = calloc((size_t)(out->per_epoch * epochs + 1), sizeof(*out->ends));
    if (!out->samples || !out->ends)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    for (int epoch = 0; epoch < epochs && !code; epoch++) {
        while (!code && axle_loader_next(loader, &batch))
            code = append(out, batch);
        if (code)
            axle_loader_break(loader);
        else
            code = axle_loader_status(loader);
    }
    return code;
}

int test_order_read(const self_test *test, int64_t n, const axle_loader_options *options,
                    int epochs, test_order *out)
{
    axle_loader_options whole = *options;
    axle_dataset *set = NULL;
    axle_loader *loader = NULL;
    *out = (test_order){0};
    whole.batch_size *= test->size;
    int code = test_numbered_set(n, &set);
    if (!code)
        code = axle_loader_create(set, &whole, &loader);
    if (!code)
        code = read_epochs(loader, n, epochs, out);
    axle_loader_release(loader);
    axle_dataset_release(set);
    return code;
}

void test_order_free(test_order *order)
{
    free(order->samples);
    free(order->ends);
    *order = (test_order){0};
}
