/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 0's table of small values. Starts zeroed; one thread uses it. */
#ifndef AXLE_JOB_STORE_H
#define AXLE_JOB_STORE_H

#include <stddef.h>

typedef struct axle__store_entry {
    char *key;
    unsigned char *value;
    size_t size;
} axle__store_entry;

typedef struct axle__store {
    axle__store_entry *entries; /* in the order of keys */
    size_t count, capacity, bytes;
} axle__store;

/* AXLE_ERR_INVALID where the key has a value; AXLE_ERR_NOMEM also where the table holds as much as
 * it may. */
int axle__store_set(axle__store *store, const char *key, const void *value, size_t size);
/* NULL where there is none. */
const axle__store_entry *axle__store_find(const axle__store *store, const char *key);
void axle__store_free(axle__store *store);

#endif
