/* SPDX-License-Identifier: Apache-2.0 */
/* A data set for tests: sample i is the number i, under "input". */
#ifndef AXLE_TESTS_UNIT_DATA_SETS_H
#define AXLE_TESTS_UNIT_DATA_SETS_H

#include "files.h"

#include <stdatomic.h>
#include <time.h>

#include "axle/data.h"

/* Starts zeroed, but for the length. */
typedef struct numbers {
    int64_t length;
    int64_t fail_at;    /* this sample fails, if it is not 0 */
    long delay_us;      /* of each fetch */
    atomic_int fetches; /* begun */
    atomic_int gone;    /* destroyed */
} numbers;

static inline void sleep_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static inline int64_t numbers_length(void *user)
{
    return ((numbers *)user)->length;
}

static inline axle_tensor *numbers_tensor(int rank, const int64_t *dims, const int64_t *values)
{
    axle_tensor *tensor;
    void *data;
    if (axle_tensor_create(axle_device_host(), AXLE_DTYPE_I64, rank, dims, &tensor))
        return NULL;
    if (axle_tensor_data(tensor, &data)) {
        axle_tensor_release(tensor);
        return NULL;
    }
    if (axle_tensor_count(tensor))
        memcpy(data, values, (size_t)axle_tensor_count(tensor) * sizeof(int64_t));
    return tensor;
}

static inline int numbers_give(axle_batch *batch, axle_tensor *tensor)
{
    int code = tensor ? axle_batch_set(batch, "input", tensor) : axle_error_code();
    axle_tensor_release(tensor);
    return code;
}

static inline int numbers_check(numbers *set, int64_t index)
{
    if (set->fail_at && index == set->fail_at)
        return axle_error_set(AXLE_ERR_IO, "sample %d cannot be read", (int)index);
    return AXLE_OK;
}

static inline int numbers_get(void *user, int64_t index, axle_batch *sample)
{
    numbers *set = user;
    atomic_fetch_add(&set->fetches, 1);
    int code = numbers_check(set, index);
    return code ? code : numbers_give(sample, numbers_tensor(0, NULL, &index));
}

static inline int numbers_fetch(void *user, const int64_t *indices, int64_t n, axle_batch *batch)
{
    numbers *set = user;
    atomic_fetch_add(&set->fetches, 1);
    if (set->delay_us)
        sleep_us(set->delay_us);
    for (int64_t k = 0; k < n; k++)
        if (numbers_check(set, indices[k]))
            return axle_error_code();
    return numbers_give(batch, numbers_tensor(1, &n, indices));
}

static inline void numbers_destroy(void *user)
{
    atomic_fetch_add(&((numbers *)user)->gone, 1);
}

static const axle_dataset_class numbers_class = {
    .struct_size = sizeof(axle_dataset_class),
    .name = "numbers",
    .length = numbers_length,
    .fetch = numbers_fetch,
    .destroy = numbers_destroy,
};

/* The same, one sample at a time. */
static const axle_dataset_class numbers_get_class = {
    .struct_size = sizeof(axle_dataset_class),
    .name = "numbers",
    .length = numbers_length,
    .get = numbers_get,
    .destroy = numbers_destroy,
};

static inline const int64_t *numbers_of(axle_batch *batch)
{
    void *data;
    assert_ok(axle_tensor_data(axle_batch_get(batch, "input"), &data));
    return data;
}

/* The numbers of an epoch's next batches, at most `most` of them, in order; returns how many
 * numbers. */
static inline int64_t collect(axle_loader *loader, int64_t most, int64_t *out)
{
    axle_batch *batch;
    int64_t count = 0;
    for (int64_t k = 0; k < most && axle_loader_next(loader, &batch); k++) {
        memcpy(out + count, numbers_of(batch), (size_t)axle_batch_rows(batch) * sizeof(*out));
        count += axle_batch_weight(batch);
    }
    return count;
}

/* All of 0..n-1, in any order. */
static inline void assert_each_once(const int64_t *values, int64_t n)
{
    char *seen = calloc(1, (size_t)n);
    for (int64_t k = 0; k < n; k++) {
        assert_in_range(values[k], 0, n - 1);
        assert_false(seen[values[k]]++);
    }
    free(seen);
}

#endif
