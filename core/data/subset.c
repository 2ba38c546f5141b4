/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "axle/status.h"
#include "base/memory.h"
#include "data/dataset.h"

typedef struct subset {
    axle_dataset *whole;
    int64_t first, count;
} subset;

static int64_t subset_length(void *user)
{
    return ((subset *)user)->count;
}

static int subset_get(void *user, int64_t index, axle_batch *sample)
{
    subset *part = user;
    return part->whole->type.get(part->whole->user, part->first + index, sample);
}

static int subset_fetch(void *user, const int64_t *indices, int64_t n, axle_batch *batch)
{
    subset *part = user;
    int64_t *moved = axle__alloc((size_t)n, sizeof(*moved));
    if (!moved)
        return AXLE_ERR_NOMEM;
    for (int64_t k = 0; k < n; k++)
        moved[k] = part->first + indices[k];
    int code = part->whole->type.fetch(part->whole->user, moved, n, batch);
    axle__free(moved);
    return code;
}

static void subset_destroy(void *user)
{
    subset *part = user;
    axle_dataset_release(part->whole);
    axle__free(part);
}

int axle_subset_dataset_create(axle_dataset *dataset, int64_t first, int64_t count,
                               axle_dataset **out)
{
    int64_t length = axle_dataset_length(dataset);
    if (!dataset)
        return AXLE_ERR_INVALID;
    if (axle__dataset_is_stream(dataset))
        return axle_error_set(AXLE_ERR_UNSUPPORTED, "subset: samples of a stream have no numbers");
    if (first < 0 || count < 0 || first > length || count > length - first)
        return axle_error_set(AXLE_ERR_INDEX,
                              "subset: %" PRId64 " samples from number %" PRId64
                              " on are not among %" PRId64,
                              count, first, length);
    /* It can what the whole can, so that a loader's own collating still applies. */
    axle_dataset_class type = {
        .struct_size = sizeof(type),
        .name = dataset->type.name,
        .length = subset_length,
        .get = dataset->type.get ? subset_get : NULL,
        .fetch = dataset->type.fetch ? subset_fetch : NULL,
        .destroy = subset_destroy,
    };
    subset *part = axle__alloc(1, sizeof(*part));
    if (!part)
        return AXLE_ERR_NOMEM;
    *part = (subset){axle_dataset_retain(dataset), first, count};
    return axle__dataset_create_take(&type, part, dataset->resident, out);
}
