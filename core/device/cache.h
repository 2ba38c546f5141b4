/* SPDX-License-Identifier: Apache-2.0 */
/* The blob cache on disk, where backends keep compiled kernels; see axle_host in axle/backend.h. */
#ifndef AXLE_DEVICE_CACHE_H
#define AXLE_DEVICE_CACHE_H

#include "axle/backend.h"

axle_status axle__cache_get(const void *key, uint64_t key_size, void **blob, uint64_t *size);
axle_status axle__cache_put(const void *key, uint64_t key_size, const void *blob, uint64_t size);
void axle__cache_drop(const void *key, uint64_t key_size);

/* Most bytes that the folder holds; for tests. */
void axle__cache_set_limit(uint64_t bytes);

#endif
