/* SPDX-License-Identifier: Apache-2.0 */
/* A 64-bit hash of bytes, the same on every machine; against accidents, not against malice. */
#ifndef AXLE_BASE_HASH_H
#define AXLE_BASE_HASH_H

#include <stdint.h>

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/). To go on from an earlier hash, pass it as
 * `before`; to begin, AXLE__HASH_START. */
#define AXLE__HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t axle__hash(uint64_t before, const void *data, uint64_t size);

#endif
