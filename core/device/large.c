/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large blocks: a buffer each. Freed ones are kept, and serve requests that are smaller by an
 * eighth at most. What is kept is bounded by the most that was ever in use, so that a program whose
 * sizes change all the time does not hoard memory.
 */
#include "device/allocator.h"

#include "base/memory.h"

enum { GRANULE = 64 << 10, SLACK = 64 << 20 };

struct axle__large {
    axle__node node;
    axle__large *next, **link; /* of the list of live or of cached blocks */
    axle__memory memory;
};

static void link_block(axle__large **list, axle__large *large)
{
    large->next = *list;
    large->link = list;
    if (large->next)
        large->next->link = &large->next;
    *list = large;
}

static void unlink_block(axle__large *large)
{
    *large->link = large->next;
    if (large->next)
        large->next->link = large->link;
}

static void destroy(axle__allocator *allocator, axle__large *large)
{
    unlink_block(large);
    axle__memory_give(allocator, &large->memory);
    axle__free(large);
}

/* The smallest cached block that fits well. */
static axle__large *find(const axle__allocator *allocator, uint64_t size)
{
    axle__large *best = NULL;
    for (axle__large *large = allocator->cached; large; large = large->next) {
        uint64_t has = large->memory.size;
        if (has >= size && has - size <= size / 8 && (!best || has < best->memory.size))
            best = large;
    }
    return best;
}

/* Before more is reserved: let go of what is cached beyond a quarter above the peak. */
static void bound_cache(axle__allocator *allocator, uint64_t size)
{
    uint64_t peak = allocator->in_use + size;
    peak = peak > allocator->peak ? peak : allocator->peak;
    uint64_t most = peak + peak / 4 + SLACK;
    if (allocator->reserved + size > most)
        axle__large_trim(allocator, allocator->reserved + size - most);
}

static axle__large *make(axle__allocator *allocator, uint64_t size)
{
    uint64_t most = allocator->device->info.max_alloc, rounded = axle__round_up(size, GRANULE);
    if (most && rounded > most)
        rounded = size;
    axle__large *large = axle__alloc(1, sizeof(*large));
    if (!large)
        return NULL;
    bound_cache(allocator, rounded);
    if (axle__memory_take(allocator, rounded, size, &large->memory)) {
        axle__free(large);
        return NULL;
    }
    large->node.kind = AXLE__LARGE;
    large->node.block = (axle__block){
        .device = allocator->device,
        .buffer = large->memory.buffer,
        .size = large->memory.size,
        .host = large->memory.host,
    };
    return large;
}

axle__block *axle__large_alloc(axle__allocator *allocator, uint64_t size)
{
    axle__large *large = find(allocator, size);
    if (large) {
        unlink_block(large);
        allocator->cached_bytes -= large->memory.size;
    } else if (size > UINT64_MAX / 2 || !(large = make(allocator, size))) {
        return NULL;
    }
    link_block(&allocator->live, large);
    return &large->node.block;
}

void axle__large_free(axle__allocator *allocator, axle__node *node)
{
    axle__large *large = (axle__large *)node;
    unlink_block(large);
    link_block(&allocator->cached, large);
    allocator->cached_bytes += large->memory.size;
}

static axle__large *oldest(const axle__allocator *allocator)
{
    axle__large *large = allocator->cached;
    while (large && large->next)
        large = large->next;
    return large;
}

void axle__large_trim(axle__allocator *allocator, uint64_t size)
{
    for (uint64_t gone = 0; gone < size && allocator->cached;) {
        axle__large *large = oldest(allocator);
        gone += large->memory.size;
        allocator->cached_bytes -= large->memory.size;
        destroy(allocator, large);
    }
}

void axle__large_destroy(axle__allocator *allocator)
{
    axle__large_trim(allocator, UINT64_MAX);
    while (allocator->live)
        destroy(allocator, allocator->live);
}
