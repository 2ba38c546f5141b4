/* SPDX-License-Identifier: Apache-2.0 */
/* Sharing out what is not trained on: numbers, rows, batches, items of any kind, data sets. */
#include <string.h>

#include "axle/ops.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "group/group.h"
#include "train/accelerator.h"

void axle_split_between_processes(const axle_accelerator *accelerator, int64_t n, int64_t *first,
                                  int64_t *count)
{
    axle__range own = axle__piece_of((uint64_t)n, axle_process_index(accelerator),
                                     axle_process_count(accelerator));
    *first = (int64_t)own.first;
    *count = (int64_t)own.count;
}

/* This process's numbers, as many on each process with padding: the last one is taken again where
 * there are no more. Since ranks follow each other, what is gathered begins with all n. */
static int numbers_of(const axle_accelerator *accelerator, int64_t n, int padded, int64_t **out,
                      int64_t *count)
{
    int64_t first, processes = axle_process_count(accelerator);
    if (n < 0)
        return axle_error_set(AXLE_ERR_INVALID, "axle_split: %lld items", (long long)n);
    axle_split_between_processes(accelerator, n, &first, count);
    if (padded) {
        *count = n / processes + (n % processes != 0);
        first = axle_process_index(accelerator) * *count;
    }
    int64_t *numbers = axle__alloc((size_t)*count + 1, sizeof(*numbers));
    if (!numbers)
        return axle_error_code();
    for (int64_t k = 0; k < *count; k++)
        numbers[k] = first + k < n ? first + k : n - 1;
    *out = numbers;
    return AXLE_OK;
}

int axle_split_items(const axle_accelerator *accelerator, const void *items, int64_t n, size_t size,
                     int padded, void **out, int64_t *count)
{
    int64_t *numbers, own;
    int status = numbers_of(accelerator, n, padded, &numbers, &own);
    if (status)
        return status;
    unsigned char *part = axle__alloc((size_t)own + 1, size ? size : 1);
    for (int64_t k = 0; part && k < own; k++)
        memcpy(part + (size_t)k * size, (const char *)items + (size_t)numbers[k] * size, size);
    axle__free(numbers);
    if (!part)
        return axle_error_code();
    *out = part;
    *count = own;
    return AXLE_OK;
}

axle_tensor *axle_split_rows(const axle_accelerator *accelerator, axle_tensor *tensor, int padded)
{
    int64_t *numbers, own, first, count;
    if (!tensor)
        return NULL;
    if (axle_tensor_rank(tensor) == 0) {
        axle_error_set(AXLE_ERR_SHAPE, "axle_split_rows: a scalar has no rows");
        return NULL;
    }
    int64_t n = axle_tensor_dim(tensor, 0);
    axle_split_between_processes(accelerator, n, &first, &count);
    if (!padded)
        return axle_slice(tensor, 0, first, first + count, 1);
    if (numbers_of(accelerator, n, padded, &numbers, &own))
        return NULL;
    axle_tensor *index = NULL;
    if (axle_device_push(axle_tensor_device(tensor)) == AXLE_OK) {
        index = axle_from_data(AXLE_DTYPE_I64, 1, &own, numbers);
        axle_device_pop();
    }
    axle__free(numbers);
    return index ? axle_index_select(tensor, 0, index) : NULL;
}

int axle_split_batch(const axle_accelerator *accelerator, const axle_batch *batch, int padded,
                     axle_batch **out)
{
    axle_batch *part;
    int status = axle_batch_create(&part);
    if (status)
        return status;
    for (int k = 0; k < axle_batch_count(batch) && !status; k++) {
        axle_tensor *rows = axle_split_rows(accelerator, axle_batch_tensor(batch, k), padded);
        status = rows ? axle_batch_set(part, axle_batch_name(batch, k), rows) : axle_error_code();
    }
    if (status)
        axle_batch_release(part);
    else
        *out = part;
    return status;
}

/* ------------------------------------------------------------------ data sets */

typedef struct share {
    axle_dataset *whole; /* retained */
    int64_t *numbers, count;
} share;

static int64_t share_length(void *user)
{
    return ((share *)user)->count;
}

static int share_fetch(void *user, const int64_t *indices, int64_t n, axle_batch *batch)
{
    const share *s = user;
    axle_batch *fetched = NULL;
    int64_t *moved = axle__alloc((size_t)n + 1, sizeof(*moved));
    if (!moved)
        return axle_error_code();
    for (int64_t k = 0; k < n; k++)
        moved[k] = s->numbers[indices[k]];
    int status = axle_dataset_fetch(s->whole, moved, n, &fetched);
    axle__free(moved);
    for (int k = 0; !status && k < axle_batch_count(fetched); k++)
        status = axle_batch_set(batch, axle_batch_name(fetched, k), axle_batch_tensor(fetched, k));
    axle_batch_release(fetched);
    return status;
}

static void share_destroy(void *user)
{
    share *s = user;
    axle_dataset_release(s->whole);
    axle__free(s->numbers);
    axle__free(s);
}

int axle_split_dataset(const axle_accelerator *accelerator, axle_dataset *dataset, int padded,
                       axle_dataset **out)
{
    int64_t first, count, n = axle_dataset_length(dataset);
    if (axle__dataset_is_stream(dataset))
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "axle_split_dataset: samples of a stream have no numbers");
    axle_split_between_processes(accelerator, n, &first, &count);
    if (!padded)
        return axle_subset_dataset_create(dataset, first, count, out);
    axle_dataset_class type = AXLE_DATASET_CLASS_INIT;
    type.name = "share";
    type.length = share_length;
    type.fetch = share_fetch;
    type.destroy = share_destroy;
    share *s = axle__alloc(1, sizeof(*s));
    int status = s ? numbers_of(accelerator, n, padded, &s->numbers, &s->count) : axle_error_code();
    if (status) {
        axle__free(s);
        return status;
    }
    s->whole = axle_dataset_retain(dataset);
    status = axle_dataset_create(&type, s, out);
    if (status)
        share_destroy(s);
    return status;
}
