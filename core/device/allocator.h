/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caching allocator, inside. Three kinds of blocks share a device's memory:
 *
 *  - small ones (small.c), up to 16 KiB, of fixed sizes, cut from runs of one size each;
 *  - ranges (ranges.c), up to 8 MiB, cut from slabs to measure and joined again when free; runs are
 *    ranges, too;
 *  - large ones (large.c), with a buffer of their own, kept for reuse when free.
 *
 * All functions but those of device.h are called with the allocator's lock held. Steady state
 * allocates nothing on the host: the structs of blocks are kept like the memory they describe.
 */
#ifndef AXLE_DEVICE_ALLOCATOR_H
#define AXLE_DEVICE_ALLOCATOR_H

#include "device/device.h"

#if defined(__SANITIZE_ADDRESS__)
#define AXLE__POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AXLE__POISON 1
#endif
#endif
#ifdef AXLE__POISON
#include <sanitizer/asan_interface.h>
#endif

enum {
    AXLE__PAGE = 4096,          /* granularity of ranges */
    AXLE__SMALL_MAX = 16 << 10, /* largest small block */
    AXLE__LARGE_MIN = 8 << 20,  /* smallest large block */
    AXLE__SLAB_MIN = 1 << 20,   /* first slab of a device */
    AXLE__SLAB_MAX = 32 << 20,  /* slabs grow with what is reserved, up to this */
    AXLE__SMALL_CLASSES = 32,
    AXLE__RANGE_BINS = 64
};

typedef enum axle__block_kind {
    AXLE__SMALL,
    AXLE__RANGE,
    AXLE__LARGE,
    AXLE__IMPORTED /* none of the allocator's */
} axle__block_kind;

/* What each kind of block begins with. */
typedef struct axle__node {
    axle__block block;
    axle__block_kind kind;
} axle__node;

typedef struct axle__run axle__run;
typedef struct axle__range axle__range;
typedef struct axle__slab axle__slab;
typedef struct axle__large axle__large;
typedef struct axle__range_chunk axle__range_chunk;

/* Memory as a device hands it out. */
typedef struct axle__memory {
    axle_be_buffer *buffer;
    unsigned char *host; /* NULL where it is not host-visible */
    uint64_t size;
} axle__memory;

struct axle__allocator {
    pthread_mutex_t lock;
    axle_device *device;
    uint32_t unit_shift; /* small sizes are multiples of 1 << unit_shift, which is the alignment */
    uint64_t limit;      /* most bytes to reserve; UINT64_MAX for no limit */
    uint64_t in_use, reserved, peak;

    axle__run *runs[AXLE__SMALL_CLASSES];      /* runs with a free block */
    axle__run *full_runs[AXLE__SMALL_CLASSES]; /* those without */

    axle__slab *slabs;
    uint64_t bins_filled; /* bit per bin */
    axle__range *bins[AXLE__RANGE_BINS];
    axle__range *spare_ranges; /* structs without memory */
    axle__range_chunk *chunks; /* what structs were made in */

    axle__large *cached; /* free large blocks, the last freed first */
    axle__large *live;   /* large blocks in use */
    uint64_t cached_bytes;
};

axle__block *axle__small_alloc(axle__allocator *allocator, uint64_t size);
void axle__small_free(axle__allocator *allocator, axle__node *node);
/* Give runs without a block in use back to the ranges. */
void axle__small_trim(axle__allocator *allocator);
void axle__small_destroy(axle__allocator *allocator);

axle__block *axle__range_alloc(axle__allocator *allocator, uint64_t size);
void axle__range_free(axle__allocator *allocator, axle__node *node);
/* Give slabs without a block in use back to the device. */
void axle__range_trim(axle__allocator *allocator);
void axle__range_destroy(axle__allocator *allocator);

axle__block *axle__large_alloc(axle__allocator *allocator, uint64_t size);
void axle__large_free(axle__allocator *allocator, axle__node *node);
/* Give cached blocks back to the device, those longest unused first, until `size` bytes went. */
void axle__large_trim(axle__allocator *allocator, uint64_t size);
void axle__large_destroy(axle__allocator *allocator);

/* Without the lock. */
void axle__imported_free(axle__node *node);

/* Memory from the device: `wanted` bytes, or `least` where that much can not be had (then caches
 * are emptied and it is tried again). Records an error. */
int axle__memory_take(axle__allocator *allocator, uint64_t wanted, uint64_t least,
                      axle__memory *out);
void axle__memory_give(axle__allocator *allocator, const axle__memory *memory);

static inline uint64_t axle__round_up(uint64_t size, uint64_t to)
{
    return (size + to - 1) / to * to;
}

/* Under AddressSanitizer, bytes that nobody may touch: free blocks, and what a block has too many.
 */
static inline void axle__poison(const unsigned char *host, uint64_t size)
{
#ifdef AXLE__POISON
    if (host)
        ASAN_POISON_MEMORY_REGION(host, size);
#else
    (void)host;
    (void)size;
#endif
}

static inline void axle__unpoison(const unsigned char *host, uint64_t size)
{
#ifdef AXLE__POISON
    if (host)
        ASAN_UNPOISON_MEMORY_REGION(host, size);
#else
    (void)host;
    (void)size;
#endif
}

#endif
