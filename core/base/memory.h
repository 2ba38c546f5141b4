/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the core. Every allocation of the core goes through here, so that sizes are checked for
 * overflow and tests can make the n-th one fail. Failures record AXLE_ERR_NOMEM with the size.
 */
#ifndef AXLE_BASE_MEMORY_H
#define AXLE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for `count` items of `size` bytes; NULL (and an error) on overflow or exhaustion.
 * A size of 0 gives a valid pointer. */
void *axle__alloc(size_t count, size_t size);
/* Grow or shrink, keeping the content; new bytes are undefined. `old` may be NULL and stays valid
 * on failure. */
void *axle__resize(void *old, size_t count, size_t size);
char *axle__strdup(const char *text);
/* Formatted string. */
char *axle__format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void axle__free(void *memory);

/* `size` bytes of undefined content on a boundary of `align` bytes, a power of two; for
 * axle__free(). */
void *axle__alloc_aligned(size_t size, size_t align);

/* a * b and a + b of sizes; false on overflow, and *out is untouched. */
bool axle__size_mul(size_t a, size_t b, size_t *out);
bool axle__size_add(size_t a, size_t b, size_t *out);

/* Make allocation number `n` from now (1 is the next) of this thread fail, once; 0 turns it off.
 * For tests. */
void axle__alloc_fail_at(long n);
/* Whether the failure asked for happened. */
bool axle__alloc_failed(void);

#endif
