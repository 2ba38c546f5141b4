/* SPDX-License-Identifier: Apache-2.0 */
#include "data/batch.h"

#include <stdio.h>
#include <string.h>

#include "axle/ops.h"
#include "axle/status.h"
#include "base/memory.h"

typedef struct item {
    char *name;
    axle_tensor *tensor;
} item;

/* Nearly all batches fit into what is there from the start. */
enum { FIRST_ROOM = 4 };

struct axle_batch {
    item *items;
    int count, room;
    int64_t weight; /* -1: all rows */
    axle__batch_place place;
    item first[FIRST_ROOM];
};

int axle_batch_create(axle_batch **out)
{
    axle_batch *batch = axle__alloc(1, sizeof(*batch));
    if (!batch)
        return AXLE_ERR_NOMEM;
    batch->items = batch->first;
    batch->room = FIRST_ROOM;
    batch->weight = -1;
    *out = batch;
    return AXLE_OK;
}

void axle_batch_release(axle_batch *batch)
{
    if (!batch)
        return;
    for (int k = 0; k < batch->count; k++) {
        axle_tensor_release(batch->items[k].tensor);
        axle__free(batch->items[k].name);
    }
    if (batch->items != batch->first)
        axle__free(batch->items);
    axle__free(batch);
}

static item *find(const axle_batch *batch, const char *name)
{
    for (int k = 0; k < batch->count; k++)
        if (strcmp(batch->items[k].name, name) == 0)
            return &batch->items[k];
    return NULL;
}

static int make_room(axle_batch *batch)
{
    if (batch->count < batch->room)
        return AXLE_OK;
    item *old = batch->items == batch->first ? NULL : batch->items;
    item *items = axle__resize(old, (size_t)batch->room * 2, sizeof(*items));
    if (!items)
        return AXLE_ERR_NOMEM;
    if (!old)
        memcpy(items, batch->first, sizeof(batch->first));
    batch->items = items;
    batch->room *= 2;
    return AXLE_OK;
}

static int append(axle_batch *batch, const char *name, axle_tensor *tensor)
{
    int code = make_room(batch);
    char *copy = code ? NULL : axle__strdup(name);
    if (!copy)
        return AXLE_ERR_NOMEM;
    batch->items[batch->count++] = (item){copy, axle_tensor_retain(tensor)};
    return AXLE_OK;
}

int axle_batch_set(axle_batch *batch, const char *name, axle_tensor *tensor)
{
    if (!batch || !name || !tensor)
        return axle_error_set(AXLE_ERR_INVALID, "batch: %s is NULL",
                              !batch  ? "the batch"
                              : !name ? "a name"
                                      : name);
    item *old = find(batch, name);
    if (!old)
        return append(batch, name, tensor);
    axle_tensor_retain(tensor);
    axle_tensor_release(old->tensor);
    old->tensor = tensor;
    return AXLE_OK;
}

int axle__batch_set_take(axle_batch *batch, const char *name, axle_tensor *tensor)
{
    int code = axle_batch_set(batch, name, tensor);
    axle_tensor_release(tensor);
    return code;
}

/* The names, for a message. */
static void list_names(const axle_batch *batch, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < batch->count && used < size; k++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", k ? ", " : "", batch->items[k].name);
}

axle_tensor *axle_batch_get(axle_batch *batch, const char *name)
{
    if (!batch || !name) {
        axle_error_set(AXLE_ERR_INVALID, "batch: %s is NULL", batch ? "the name" : "the batch");
        return NULL;
    }
    item *found = find(batch, name);
    if (found)
        return found->tensor;
    char names[256];
    list_names(batch, names, sizeof(names));
    axle_error_set(AXLE_ERR_NOT_FOUND, "batch: there is no '%s', but %s", name,
                   batch->count ? names : "nothing");
    return NULL;
}

int axle_batch_has(const axle_batch *batch, const char *name)
{
    return batch && name && find(batch, name) != NULL;
}

int axle_batch_count(const axle_batch *batch)
{
    return batch ? batch->count : 0;
}

static const item *item_at(const axle_batch *batch, int k)
{
    if (batch && k >= 0 && k < batch->count)
        return &batch->items[k];
    axle_error_set(AXLE_ERR_INDEX, "batch: there is no tensor number %d of %d", k,
                   axle_batch_count(batch));
    return NULL;
}

const char *axle_batch_name(const axle_batch *batch, int k)
{
    const item *found = item_at(batch, k);
    return found ? found->name : NULL;
}

axle_tensor *axle_batch_tensor(const axle_batch *batch, int k)
{
    const item *found = item_at(batch, k);
    return found ? found->tensor : NULL;
}

int64_t axle_batch_rows(const axle_batch *batch)
{
    if (!batch || batch->count == 0 || axle_tensor_rank(batch->items[0].tensor) == 0)
        return 0;
    return axle_tensor_dims(batch->items[0].tensor)[0];
}

int64_t axle_batch_weight(const axle_batch *batch)
{
    return batch->weight < 0 ? axle_batch_rows(batch) : batch->weight;
}

void axle__batch_set_weight(axle_batch *batch, int64_t weight)
{
    batch->weight = weight;
}

axle__batch_place axle__batch_get_place(const axle_batch *batch)
{
    return batch->place;
}

void axle__batch_set_place(axle_batch *batch, axle__batch_place place)
{
    batch->place = place;
}

int axle__batch_to_device(axle_batch *batch, axle_device *device)
{
    for (int k = 0; k < batch->count; k++) {
        item *one = &batch->items[k];
        if (axle_tensor_device(one->tensor) == device)
            continue;
        axle_tensor *placed = axle_to_device(one->tensor, device);
        if (!placed)
            return axle_error_code() ? axle_error_code() : AXLE_ERR_DEVICE;
        axle_tensor_retain(placed);
        axle_tensor_release(one->tensor);
        one->tensor = placed;
    }
    return AXLE_OK;
}
