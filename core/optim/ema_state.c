/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Averages as bytes. In the order of bytes of the machine:
 *
 *     "AXLEEMA1", updates (i64), seen (i64), number of averages (i64), and for each
 *     length of its path (i64), the path, element type (i64), rank (i64), dims (i64 each), elements
 */
#include <string.h>

#include "base/memory.h"
#include "optim/ema.h"
#include "tensor/elementwise.h"

static const char magic[8] = {'A', 'X', 'L', 'E', 'E', 'M', 'A', '1'};

static size_t bytes_of(const axle_tensor *tensor)
{
    return (size_t)tensor->count * axle_dtype_size((int)axle__dtype(tensor));
}

/* ------------------------------------------------------------------ export */

static unsigned char *put(unsigned char *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static unsigned char *put_number(unsigned char *at, int64_t number)
{
    return put(at, &number, sizeof(number));
}

static size_t size_of(const axle_ema *ema)
{
    size_t size = sizeof(magic) + 3 * sizeof(int64_t);
    for (int k = 0; k < ema->count; k++) {
        const axle__averaged *item = &ema->item[k];
        size += (3 + (size_t)axle__rank(item->average)) * sizeof(int64_t);
        size += strlen(item->path) + bytes_of(item->average);
    }
    return size;
}

static int put_item(unsigned char **at, const axle__averaged *item)
{
    const axle_tensor *average = item->average;
    size_t length = strlen(item->path), size = bytes_of(average);
    *at = put_number(*at, (int64_t)length);
    *at = put(*at, item->path, length);
    *at = put_number(*at, (int64_t)axle__dtype(average));
    *at = put_number(*at, axle__rank(average));
    *at = put(*at, average->view.dim, (size_t)axle__rank(average) * sizeof(int64_t));
    int status = axle_tensor_read(average, *at, size);
    *at += size;
    return status;
}

int axle_ema_export(const axle_ema *ema, void **bytes, size_t *size)
{
    if (ema->swapped)
        return axle_error_set(AXLE_ERR_STATE, "axle_ema_export: the module holds the averages; "
                                              "swap them back first");
    size_t total = size_of(ema);
    unsigned char *data = axle__alloc(1, total), *at = data;
    if (!data)
        return axle_error_code();
    at = put(at, magic, sizeof(magic));
    at = put_number(at, ema->updates);
    at = put_number(at, ema->seen);
    at = put_number(at, ema->count);
    int status = AXLE_OK;
    for (int k = 0; k < ema->count && !status; k++)
        status = put_item(&at, &ema->item[k]);
    if (status) {
        axle__free(data);
        return status;
    }
    *bytes = data;
    *size = total;
    return AXLE_OK;
}

/* ------------------------------------------------------------------ import */

/* What is left to read. Once it is too short, it is so for good. */
struct source {
    const unsigned char *at;
    size_t left;
    bool torn;
};

static const unsigned char *take(struct source *source, size_t size)
{
    if (size > source->left)
        source->torn = true;
    if (source->torn)
        return NULL;
    const unsigned char *at = source->at;
    source->at += size;
    source->left -= size;
    return at;
}

static int64_t take_number(struct source *source)
{
    const unsigned char *at = take(source, sizeof(int64_t));
    int64_t number = -1;
    if (at)
        memcpy(&number, at, sizeof(number));
    return number;
}

static int torn(void)
{
    return axle_error_set(AXLE_ERR_FORMAT, "axle_ema_import: the bytes are no averages, or not all "
                                           "of them");
}

static int misfit(const axle__averaged *item)
{
    return axle_error_set(AXLE_ERR_SHAPE,
                          "axle_ema_import: the averages are not those of this module; the first "
                          "that differs is '%s'",
                          item->path);
}

/* Check an item's head; *data is its elements. */
static int take_item(struct source *source, const axle__averaged *item, const unsigned char **data)
{
    int64_t length = take_number(source);
    const unsigned char *path = length < 0 ? NULL : take(source, (size_t)length);
    int64_t dtype = take_number(source), rank = take_number(source);
    if (source->torn || !path || rank < 0 || rank > AXLE_MAX_RANK)
        return torn();
    const unsigned char *dims = take(source, (size_t)rank * sizeof(int64_t));
    if (!dims)
        return torn();
    const axle_tensor *average = item->average;
    if ((size_t)length != strlen(item->path) || memcmp(path, item->path, (size_t)length) != 0 ||
        dtype != (int64_t)axle__dtype(average) || rank != axle__rank(average) ||
        memcmp(dims, average->view.dim, (size_t)rank * sizeof(int64_t)) != 0)
        return misfit(item);
    *data = take(source, bytes_of(average));
    return *data ? AXLE_OK : torn();
}

/* All is checked before anything is written. */
static int take_all(axle_ema *ema, struct source *source, const unsigned char **data)
{
    const unsigned char *head = take(source, sizeof(magic));
    if (!head || memcmp(head, magic, sizeof(magic)) != 0)
        return torn();
    int64_t updates = take_number(source), seen = take_number(source), count = take_number(source);
    if (source->torn || updates < 0)
        return torn();
    if (count != ema->count)
        return axle_error_set(AXLE_ERR_SHAPE, "axle_ema_import: %lld averages for %d parameters",
                              (long long)count, ema->count);
    int status = AXLE_OK;
    for (int k = 0; k < ema->count && !status; k++)
        status = take_item(source, &ema->item[k], &data[k]);
    if (!status && source->left > 0)
        status = torn();
    for (int k = 0; k < ema->count && !status; k++)
        status = axle_tensor_write(ema->item[k].average, data[k], bytes_of(ema->item[k].average));
    if (!status) {
        ema->updates = updates;
        ema->seen = seen;
    }
    return status;
}

int axle_ema_import(axle_ema *ema, const void *bytes, size_t size)
{
    struct source source = {.at = bytes, .left = size};
    if (ema->swapped)
        return axle_error_set(AXLE_ERR_STATE, "axle_ema_import: the module holds the averages; "
                                              "swap them back first");
    int status = axle__ema_lay_out(ema);
    const unsigned char **data = axle__alloc((size_t)ema->count + 1, sizeof(*data));
    if (!status)
        status = data ? take_all(ema, &source, data) : axle_error_code();
    axle__free((void *)data);
    return status;
}
