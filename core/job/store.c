/* SPDX-License-Identifier: Apache-2.0 */
#include "job/store.h"

#include <stdbool.h>
#include <string.h>

#include "axle/status.h"
#include "base/memory.h"

enum { MOST_BYTES = 256 << 20 };

/* Where `key` is, or would be. */
static size_t position(const axle__store *store, const char *key, bool *found)
{
    size_t low = 0, high = store->count;
    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(store->entries[middle].key, key);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(axle__store *store)
{
    if (store->count < store->capacity)
        return true;
    size_t capacity = store->capacity ? 2 * store->capacity : 32;
    axle__store_entry *entries = axle__resize(store->entries, capacity, sizeof(*entries));
    if (!entries)
        return false;
    store->entries = entries;
    store->capacity = capacity;
    return true;
}

int axle__store_set(axle__store *store, const char *key, const void *value, size_t size)
{
    bool found;
    size_t at = position(store, key, &found), bytes = size + strlen(key) + 1;
    if (found)
        return axle_error_set(AXLE_ERR_INVALID, "key '%s' has a value", key);
    if (bytes > MOST_BYTES - store->bytes)
        return axle_error_set(AXLE_ERR_NOMEM, "key '%s': the store is full, with %zu bytes", key,
                              store->bytes);
    axle__store_entry entry = {axle__strdup(key), axle__alloc(size, 1), size};
    if (!entry.key || !entry.value || !make_room(store)) {
        axle__free(entry.key);
        axle__free(entry.value);
        return AXLE_ERR_NOMEM;
    }
    if (size > 0)
        memcpy(entry.value, value, size);
    memmove(store->entries + at + 1, store->entries + at,
            (store->count - at) * sizeof(store->entries[0]));
    store->entries[at] = entry;
    store->count++;
    store->bytes += bytes;
    return AXLE_OK;
}

const axle__store_entry *axle__store_find(const axle__store *store, const char *key)
{
    bool found;
    size_t at = position(store, key, &found);
    return found ? &store->entries[at] : NULL;
}

void axle__store_free(axle__store *store)
{
    for (size_t k = 0; k < store->count; k++) {
        axle__free(store->entries[k].key);
        axle__free(store->entries[k].value);
    }
    axle__free(store->entries);
    *store = (axle__store){0};
}
