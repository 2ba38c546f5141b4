/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepared operators by description: what op_prepare made, or the decision that the host does it.
 * The cache is bounded; entries in use are never dropped.
 */
#ifndef AXLE_DEVICE_OP_CACHE_H
#define AXLE_DEVICE_OP_CACHE_H

#include "device/dispatch.h"

enum { AXLE__ROUTE_DEVICE = 1, AXLE__ROUTE_CONTIGUOUS = 2, AXLE__ROUTE_HOST = 3 };

/* Words of a key: head, attributes, and rank, dims and strides of each operand. */
enum { AXLE__KEY_WORDS = 4 + 24 + (AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT) * (1 + 2 * AXLE_MAX_RANK) };

typedef struct axle__op_key {
    uint64_t hash;
    uint32_t words;
    uint64_t word[AXLE__KEY_WORDS];
} axle__op_key;

typedef struct axle__op_entry {
    struct axle__op_entry *next; /* of its bucket */
    uint64_t hash;
    uint32_t words;
    uint32_t users; /* runs under way; guarded by the cache's lock */
    bool recent;    /* used since the clock's hand came by */
    int route;      /* AXLE__ROUTE_* */
    axle_device *device;
    axle_be_op *op; /* route device */
    uint64_t workspace_size;
    uint32_t layout;
    char impl[64]; /* what op_query called it */
    uint64_t word[];
} axle__op_entry;

/* False where the attributes are too large for a key. */
bool axle__op_key_make(axle__op_key *key, const axle__call *call);

/* The entry of a key with one user more; NULL if there is none. */
axle__op_entry *axle__op_cache_find(axle__op_cache *cache, const axle__op_key *key);
/* A new entry of that key, not yet in the cache, with one user; NULL when memory runs out. */
axle__op_entry *axle__op_entry_create(axle_device *device, const axle__op_key *key);
/* Put it there. Where another thread was faster, its entry is returned and ours released. */
axle__op_entry *axle__op_cache_insert(axle__op_cache *cache, axle__op_entry *entry);
/* Free an entry that never came into the cache. */
void axle__op_cache_discard(axle__op_entry *entry);
/* One user less. */
void axle__op_cache_leave(axle__op_cache *cache, axle__op_entry *entry);

#endif
