/* SPDX-License-Identifier: Apache-2.0 */
/* The blob cache on disk, where backends keep compiled kernels; see axle_host in axle/backend.h. */
#ifndef AXLE_DEVICE_CACHE_H
#define AXLE_DEVICE_CACHE_H

#include "axle/backend.h"

axle_status axle__cache_get(const void *key, uint64_t key_size, void **blob, uint64_t *size);
axle_status axle__cache_put(const void *key, uint64_t key_size, const void *blob, uint64_t size);
void axle__cache_drop(const void *key, uint64_t key_size);

/* `file` is for axle__cache_unlock(), also where it was waited in vain. */
axle_status axle__cache_lock(const void *key, uint64_t key_size, int *file);
void axle__cache_unlock(int file);

/* Most bytes that the folder holds, and how long a lock is waited for; for tests. */
void axle__cache_set_limit(uint64_t bytes);
void axle__cache_set_patience(uint64_t milliseconds);

#endif
