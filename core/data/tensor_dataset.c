/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "axle/status.h"
#include "base/memory.h"
#include "data/batch.h"
#include "data/dataset.h"

typedef struct column {
    char *name;
    axle_tensor *tensor; /* row-major, on the host */
    size_t row;          /* bytes */
} column;

typedef struct rows {
    int64_t length;
    int count;
    column *columns;
    size_t row; /* bytes, of all columns */
} rows;

static int64_t rows_length(void *user)
{
    return ((rows *)user)->length;
}

static int fetch_column(const column *c, const int64_t *indices, int64_t n, axle_batch *batch)
{
    int64_t dims[AXLE_MAX_RANK];
    int rank = axle_tensor_rank(c->tensor);
    memcpy(dims, axle_tensor_dims(c->tensor), (size_t)rank * sizeof(*dims));
    dims[0] = n;
    axle_tensor *part;
    void *to, *from = NULL;
    int code = axle__fetch_tensor(axle_tensor_dtype(c->tensor), rank, dims, &part, &to);
    if (code)
        return code;
    if (c->row)
        code = axle_tensor_data(c->tensor, &from);
    if (code) {
        axle_tensor_release(part);
        return code;
    }
    for (int64_t k = 0; c->row && k < n; k++)
        memcpy((char *)to + (size_t)k * c->row, (const char *)from + (size_t)indices[k] * c->row,
               c->row);
    return axle__batch_set_take(batch, c->name, part);
}

static int rows_fetch(void *user, const int64_t *indices, int64_t n, axle_batch *batch)
{
    const rows *set = user;
    int code = AXLE_OK;
    for (int k = 0; !code && k < set->count; k++)
        code = fetch_column(&set->columns[k], indices, n, batch);
    return code;
}

static void rows_destroy(void *user)
{
    rows *set = user;
    for (int k = 0; k < set->count; k++) {
        axle_tensor_release(set->columns[k].tensor);
        axle__free(set->columns[k].name);
    }
    axle__free(set->columns);
    axle__free(set);
}

static const axle_dataset_class rows_class = {
    .struct_size = sizeof(axle_dataset_class),
    .name = "tensors",
    .length = rows_length,
    .fetch = rows_fetch,
    .destroy = rows_destroy,
};

/* The tensor itself where its rows can be copied as they lie, else a copy. */
static int to_host(axle_tensor *tensor, axle_tensor **out)
{
    if (axle_tensor_device(tensor) == axle_device_host() && axle_tensor_is_contiguous(tensor)) {
        *out = axle_tensor_retain(tensor);
        return AXLE_OK;
    }
    axle_tensor *copy;
    void *data;
    int code = axle_tensor_create(axle_device_host(), axle_tensor_dtype(tensor),
                                  axle_tensor_rank(tensor), axle_tensor_dims(tensor), &copy);
    if (code)
        return code;
    size_t size = (size_t)axle_tensor_count(tensor) * axle_dtype_size(axle_tensor_dtype(tensor));
    code = axle_tensor_data(copy, &data);
    if (!code && size)
        code = axle_tensor_read(tensor, data, size);
    if (code) {
        axle_tensor_release(copy);
        return code;
    }
    *out = copy;
    return AXLE_OK;
}

static int check_tensor(const char *name, const axle_tensor *tensor, int64_t length)
{
    if (!name || !tensor)
        return axle_error_set(AXLE_ERR_INVALID, "tensors: %s is NULL", name ? name : "a name");
    if (axle_tensor_rank(tensor) == 0)
        return axle_error_set(AXLE_ERR_SHAPE, "tensors: '%s' is a scalar and has no rows", name);
    if (length >= 0 && axle_tensor_dims(tensor)[0] != length)
        return axle_error_set(AXLE_ERR_SHAPE,
                              "tensors: '%s' has %" PRId64 " rows, those before have %" PRId64,
                              name, axle_tensor_dims(tensor)[0], length);
    return AXLE_OK;
}

static int add_column(rows *set, const char *name, axle_tensor *tensor)
{
    column *c = &set->columns[set->count];
    int code = check_tensor(name, tensor, set->count ? set->length : -1);
    if (!code)
        code = to_host(tensor, &c->tensor);
    if (code)
        return code;
    set->count++;
    set->length = axle_tensor_dims(tensor)[0];
    c->row = set->length ? (size_t)(axle_tensor_count(tensor) / set->length) *
                               axle_dtype_size(axle_tensor_dtype(tensor))
                         : 0;
    set->row += c->row;
    c->name = axle__strdup(name);
    return c->name ? AXLE_OK : AXLE_ERR_NOMEM;
}

int axle_tensor_dataset_create(const char *const *names, axle_tensor *const *tensors, int n,
                               axle_dataset **out)
{
    if (!names || !tensors || n < 1)
        return axle_error_set(AXLE_ERR_INVALID, "tensors: a data set of %d", n);
    rows *set = axle__alloc(1, sizeof(*set));
    if (!set)
        return AXLE_ERR_NOMEM;
    set->columns = axle__alloc((size_t)n, sizeof(*set->columns));
    int code = set->columns ? AXLE_OK : AXLE_ERR_NOMEM;
    for (int k = 0; !code && k < n; k++)
        code = add_column(set, names[k], tensors[k]);
    if (code) {
        rows_destroy(set);
        return code;
    }
    return axle__dataset_create_take(&rows_class, set, set->row, out);
}
