/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "axle/ops.h"
#include "axle/status.h"
#include "base/memory.h"
#include "data/batch.h"
#include "data/dataset.h"

/* One tensor of the batch under construction. */
typedef struct joint {
    const char *name;
    int dtype, rank;             /* of a sample */
    size_t bytes;                /* of an element */
    int64_t dims[AXLE_MAX_RANK]; /* the longest of each, behind the number of samples */
    bool ragged;                 /* some sample is shorter */
} joint;

static axle_tensor *part_of(const axle_batch *sample, const char *name)
{
    return axle_batch_has(sample, name) ? axle_batch_get((axle_batch *)(uintptr_t)sample, name)
                                        : NULL;
}

/* Take sample k's dims into account. */
static int measure(joint *j, const axle_tensor *part, int64_t k)
{
    if (!part)
        return axle_error_set(AXLE_ERR_INVALID, "collate: sample %" PRId64 " has no '%s'", k,
                              j->name);
    if (axle_tensor_dtype(part) != j->dtype)
        return axle_error_set(
            AXLE_ERR_DTYPE, "collate: '%s' is %s in sample 0, %s in sample %" PRId64, j->name,
            axle_dtype_name(j->dtype), axle_dtype_name(axle_tensor_dtype(part)), k);
    if (axle_tensor_rank(part) != j->rank)
        return axle_error_set(AXLE_ERR_SHAPE,
                              "collate: '%s' has rank %d in sample 0, %d in sample %" PRId64,
                              j->name, j->rank, axle_tensor_rank(part), k);
    const int64_t *dims = axle_tensor_dims(part);
    for (int d = 0; d < j->rank; d++) {
        j->ragged |= k > 0 && dims[d] != j->dims[d + 1];
        if (k == 0 || dims[d] > j->dims[d + 1])
            j->dims[d + 1] = dims[d];
    }
    return AXLE_OK;
}

static int measure_all(joint *j, axle_batch *const *samples, int64_t n)
{
    const axle_tensor *first = part_of(samples[0], j->name);
    j->dtype = axle_tensor_dtype(first);
    j->rank = axle_tensor_rank(first);
    j->bytes = axle_dtype_size(j->dtype);
    j->dims[0] = n;
    if (j->rank >= AXLE_MAX_RANK)
        return axle_error_set(AXLE_ERR_SHAPE,
                              "collate: '%s' has rank %d, and a batch needs one more", j->name,
                              j->rank);
    int code = AXLE_OK;
    for (int64_t k = 0; !code && k < n; k++)
        code = measure(j, part_of(samples[k], j->name), k);
    return code;
}

/* The bytes of the pad as an element; the conversion is the operators'. */
static int pad_element(const joint *j, double pad, unsigned char element[8])
{
    int code = axle_device_push(axle_device_host());
    if (code)
        return code;
    code = axle_scope_push();
    if (!code) {
        axle_tensor *value = axle_full(j->dtype, AXLE_SCALAR, pad);
        code = value ? axle_tensor_read(value, element, j->bytes) : axle_error_code();
        axle_scope_pop();
    }
    axle_device_pop();
    return code;
}

static int fill(const joint *j, unsigned char *data, size_t count, double pad)
{
    unsigned char element[8];
    if (pad == 0.0) {
        memset(data, 0, count * j->bytes);
        return AXLE_OK;
    }
    int code = pad_element(j, pad, element);
    for (size_t k = 0; !code && k < count; k++)
        memcpy(data + k * j->bytes, element, j->bytes);
    return code;
}

/* Copy a row-major block of `dims` into the corner of a larger one of `room`. */
static void copy_corner(int rank, const int64_t *dims, const int64_t *room, size_t bytes,
                        const unsigned char *from, unsigned char *to)
{
    if (rank == 0) {
        memcpy(to, from, bytes);
        return;
    }
    if (rank == 1) {
        memcpy(to, from, (size_t)dims[0] * bytes);
        return;
    }
    size_t from_step = bytes, to_step = bytes;
    for (int d = 1; d < rank; d++) {
        from_step *= (size_t)dims[d];
        to_step *= (size_t)room[d];
    }
    for (int64_t k = 0; k < dims[0]; k++)
        copy_corner(rank - 1, dims + 1, room + 1, bytes, from + (size_t)k * from_step,
                    to + (size_t)k * to_step);
}

/* The elements of a sample, row-major: where they lie, or copied to *copy. */
static int elements_of(const axle_tensor *part, size_t bytes, const void **data, void **copy)
{
    if (axle_tensor_is_contiguous(part) && axle_tensor_device(part) == axle_device_host()) {
        void *address;
        int code = axle_tensor_data(part, &address);
        if (!code)
            *data = address;
        return code;
    }
    size_t size = (size_t)axle_tensor_count(part) * bytes;
    *copy = axle__alloc(size, 1);
    *data = *copy;
    return *copy ? axle_tensor_read(part, *copy, size) : AXLE_ERR_NOMEM;
}

static int copy_sample(const joint *j, const axle_tensor *part, unsigned char *row)
{
    const void *data = NULL;
    void *copy = NULL;
    if (axle_tensor_count(part) == 0)
        return AXLE_OK;
    int code = elements_of(part, j->bytes, &data, &copy);
    if (!code)
        copy_corner(j->rank, axle_tensor_dims(part), j->dims + 1, j->bytes, data, row);
    axle__free(copy);
    return code;
}

static int join(const joint *j, axle_batch *const *samples, int64_t n, double pad,
                axle_batch *batch)
{
    axle_tensor *whole;
    void *data;
    int code = axle__fetch_tensor(j->dtype, j->rank + 1, j->dims, &whole, &data);
    if (code)
        return code;
    size_t count = (size_t)axle_tensor_count(whole), row = count / (size_t)n * j->bytes;
    if (j->ragged && count)
        code = fill(j, data, count, pad);
    for (int64_t k = 0; !code && k < n; k++)
        code =
            copy_sample(j, part_of(samples[k], j->name), (unsigned char *)data + (size_t)k * row);
    if (!code)
        return axle__batch_set_take(batch, j->name, whole);
    axle_tensor_release(whole);
    return code;
}

int axle_collate_pad(axle_batch *const *samples, int64_t n, axle_batch *batch, void *pad)
{
    if (!samples || n < 1 || !batch)
        return axle_error_set(AXLE_ERR_INVALID, "collate: %" PRId64 " samples", n);
    int names = axle_batch_count(samples[0]), code = AXLE_OK;
    for (int64_t k = 1; k < n; k++)
        if (axle_batch_count(samples[k]) != names)
            return axle_error_set(AXLE_ERR_INVALID,
                                  "collate: sample 0 has %d tensors, sample %" PRId64 " has %d",
                                  names, k, axle_batch_count(samples[k]));
    for (int k = 0; !code && k < names; k++) {
        joint j = {.name = axle_batch_name(samples[0], k)};
        code = measure_all(&j, samples, n);
        if (!code)
            code = join(&j, samples, n, pad ? *(const double *)pad : 0.0, batch);
    }
    return code;
}
