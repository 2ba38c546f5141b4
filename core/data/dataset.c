/* SPDX-License-Identifier: Apache-2.0 */
#include "data/dataset.h"

#include <inttypes.h>
#include <string.h>

#include "axle/status.h"
#include "base/memory.h"
#include "data/batch.h"

static const char *name_of(const axle_dataset *dataset)
{
    return dataset->type.name ? dataset->type.name : "data set";
}

int axle_dataset_create(const axle_dataset_class *type, void *user, axle_dataset **out)
{
    if (!type || type->struct_size < offsetof(axle_dataset_class, fetch) || !type->length)
        return axle_error_set(
            AXLE_ERR_INVALID,
            "data set: the class has no length; begin with AXLE_DATASET_CLASS_INIT");
    axle_dataset *dataset = axle__alloc(1, sizeof(*dataset));
    if (!dataset)
        return AXLE_ERR_NOMEM;
    size_t known = sizeof(dataset->type);
    memcpy(&dataset->type, type, type->struct_size < known ? type->struct_size : known);
    dataset->user = user;
    axle__object_init(&dataset->object, AXLE__OBJECT_DATASET);
    if (!dataset->type.get && !dataset->type.fetch) {
        axle_error_set(AXLE_ERR_INVALID, "%s: the class has neither get nor fetch",
                       name_of(dataset));
        axle__free(dataset);
        return AXLE_ERR_INVALID;
    }
    *out = dataset;
    return AXLE_OK;
}

int axle_stream_dataset_create(const axle_stream_class *type, void *user, axle_dataset **out)
{
    if (!type || type->struct_size < offsetof(axle_stream_class, skip) || !type->open ||
        !type->next)
        return axle_error_set(AXLE_ERR_INVALID, "stream: the class has no open or no next; begin "
                                                "with AXLE_STREAM_CLASS_INIT");
    axle_dataset *dataset = axle__alloc(1, sizeof(*dataset));
    if (!dataset)
        return AXLE_ERR_NOMEM;
    size_t known = sizeof(dataset->stream);
    memcpy(&dataset->stream, type, type->struct_size < known ? type->struct_size : known);
    dataset->type.name = dataset->stream.name ? dataset->stream.name : "stream";
    dataset->type.destroy = dataset->stream.destroy;
    dataset->user = user;
    axle__object_init(&dataset->object, AXLE__OBJECT_DATASET);
    *out = dataset;
    return AXLE_OK;
}

bool axle__dataset_is_stream(const axle_dataset *dataset)
{
    return dataset && dataset->stream.next;
}

int axle__dataset_create_take(const axle_dataset_class *type, void *user, size_t resident,
                              axle_dataset **out)
{
    axle_dataset *dataset;
    int code = axle_dataset_create(type, user, &dataset);
    if (code) {
        type->destroy(user);
        return code;
    }
    dataset->resident = resident;
    *out = dataset;
    return AXLE_OK;
}

axle_dataset *axle_dataset_retain(axle_dataset *dataset)
{
    if (dataset)
        axle__object_retain(&dataset->object);
    return dataset;
}

void axle_dataset_release(axle_dataset *dataset)
{
    if (!dataset || !axle__object_release(&dataset->object))
        return;
    if (dataset->type.destroy)
        dataset->type.destroy(dataset->user);
    axle__free(dataset);
}

int64_t axle_dataset_length(const axle_dataset *dataset)
{
    if (!dataset)
        return axle_error_set(AXLE_ERR_INVALID, "data set: it is NULL");
    if (!axle__dataset_is_stream(dataset))
        return dataset->type.length(dataset->user);
    return dataset->stream.length ? dataset->stream.length(dataset->user) : AXLE_LENGTH_UNKNOWN;
}

void *axle_dataset_user(const axle_dataset *dataset, const axle_dataset_class *type)
{
    if (!dataset || !type || dataset->type.length != type->length ||
        dataset->type.get != type->get || dataset->type.fetch != type->fetch)
        return NULL;
    return dataset->user;
}

/* A callback failed: record that, unless it has recorded more itself. */
static int callback_failed(const axle_dataset *dataset, const char *callback, int64_t sample,
                           int code)
{
    if (code > 0)
        code = AXLE_ERR_INVALID;
    return axle_error_set(code, "%s: %s of sample %" PRId64 ": %s", name_of(dataset), callback,
                          sample, axle_status_text(code));
}

static int get_sample(axle_dataset *dataset, int64_t index, axle_batch **out)
{
    axle_batch *sample;
    int code = axle_batch_create(&sample);
    if (code)
        return code;
    code = dataset->type.get(dataset->user, index, sample);
    if (code) {
        axle_batch_release(sample);
        return callback_failed(dataset, "get", index, code);
    }
    *out = sample;
    return AXLE_OK;
}

/* What callbacks gave has a row for each sample. */
static int check_rows(const axle_dataset *dataset, const axle_batch *batch, int64_t n)
{
    if (axle_batch_count(batch) == 0)
        return axle_error_set(AXLE_ERR_INVALID, "%s: it gave no tensor", name_of(dataset));
    for (int k = 0; k < axle_batch_count(batch); k++) {
        const axle_tensor *tensor = axle_batch_tensor(batch, k);
        int64_t rows = axle_tensor_rank(tensor) ? axle_tensor_dims(tensor)[0] : -1;
        if (rows < 0)
            return axle_error_set(AXLE_ERR_SHAPE, "%s: '%s' is a scalar, not %" PRId64 " rows",
                                  name_of(dataset), axle_batch_name(batch, k), n);
        if (rows != n)
            return axle_error_set(AXLE_ERR_SHAPE,
                                  "%s: '%s' has %" PRId64 " rows for %" PRId64 " samples",
                                  name_of(dataset), axle_batch_name(batch, k), rows, n);
    }
    return AXLE_OK;
}

int axle__dataset_collate(const axle_dataset *dataset, axle_batch *const *samples, int64_t n,
                          axle_collate_fn collate, void *collate_user, axle_batch *batch)
{
    int code = collate ? collate(samples, n, batch, collate_user)
                       : axle_collate_pad(samples, n, batch, NULL);
    if (!code)
        return check_rows(dataset, batch, n);
    code = code < 0 ? code : AXLE_ERR_INVALID;
    return axle_error_set(code, "%s: collating: %s", name_of(dataset), axle_status_text(code));
}

static int get_and_collate(axle_dataset *dataset, const int64_t *indices, int64_t n,
                           axle_collate_fn collate, void *collate_user, axle_batch *batch)
{
    axle_batch **samples = axle__alloc((size_t)n, sizeof(*samples));
    if (!samples)
        return AXLE_ERR_NOMEM;
    int code = AXLE_OK;
    for (int64_t k = 0; !code && k < n; k++)
        code = get_sample(dataset, indices[k], &samples[k]);
    if (!code)
        code = axle__dataset_collate(dataset, samples, n, collate, collate_user, batch);
    for (int64_t k = 0; k < n; k++)
        axle_batch_release(samples[k]);
    axle__free(samples);
    return code;
}

static int fill_batch(axle_dataset *dataset, const int64_t *indices, int64_t n,
                      axle_collate_fn collate, void *collate_user, axle_batch *batch)
{
    if (!dataset->type.fetch)
        return get_and_collate(dataset, indices, n, collate, collate_user, batch);
    int code = dataset->type.fetch(dataset->user, indices, n, batch);
    return code ? callback_failed(dataset, "fetch", indices[0], code)
                : check_rows(dataset, batch, n);
}

int axle__dataset_fetch(axle_dataset *dataset, const int64_t *indices, int64_t n,
                        axle_collate_fn collate, void *collate_user, axle_batch **out)
{
    axle_batch *batch;
    int code = axle_batch_create(&batch);
    if (code)
        return code;
    code = fill_batch(dataset, indices, n, collate, collate_user, batch);
    if (code) {
        axle_batch_release(batch);
        return code;
    }
    *out = batch;
    return AXLE_OK;
}

int axle_dataset_fetch(axle_dataset *dataset, const int64_t *indices, int64_t n, axle_batch **out)
{
    if (!dataset || (!indices && n) || n < 1)
        return axle_error_set(AXLE_ERR_INVALID, "data set: fetch of %" PRId64 " samples%s", n,
                              dataset ? "" : " from NULL");
    if (axle__dataset_is_stream(dataset))
        return axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: samples of a stream have no numbers",
                              name_of(dataset));
    int64_t length = axle_dataset_length(dataset);
    for (int64_t k = 0; k < n; k++)
        if (indices[k] < 0 || indices[k] >= length)
            return axle_error_set(AXLE_ERR_INDEX, "%s: there is no sample %" PRId64 " of %" PRId64,
                                  name_of(dataset), indices[k], length);
    return axle__dataset_fetch(dataset, indices, n, NULL, NULL, out);
}
