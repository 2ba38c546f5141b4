/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges: blocks of whole pages, cut from slabs. A free range lies in a bin by its size; a request
 * takes the first that fits from its own bin or any from the next filled one, and gives back what
 * it does not need. Freed ranges join their free neighbours at once. (Masmano, Ripoll, Crespo and
 * Real, "TLSF: a new dynamic memory allocator for real-time systems", 2004, whose headers here lie
 * outside the memory.)
 */
#include "device/allocator.h"

#include "base/memory.h"

enum { CHUNK_RANGES = 64, TRIES = 8 };

struct axle__range {
    axle__node node;
    axle__range *left, *right; /* neighbours in the slab */
    axle__range *next, **link; /* others of the bin */
    axle__slab *slab;
    bool free;
};

struct axle__slab {
    axle__slab *next;
    axle__memory memory;
    axle__range *first;
};

struct axle__range_chunk {
    axle__range_chunk *next;
    axle__range range[CHUNK_RANGES];
};

/* ------------------------------------------------------------------ structs */

static axle__range *take_struct(axle__allocator *allocator)
{
    if (!allocator->spare_ranges) {
        axle__range_chunk *chunk = axle__alloc(1, sizeof(*chunk));
        if (!chunk)
            return NULL;
        chunk->next = allocator->chunks;
        allocator->chunks = chunk;
        for (int k = 0; k < CHUNK_RANGES; k++) {
            chunk->range[k].next = allocator->spare_ranges;
            allocator->spare_ranges = &chunk->range[k];
        }
    }
    axle__range *range = allocator->spare_ranges;
    allocator->spare_ranges = range->next;
    *range = (axle__range){.node.kind = AXLE__RANGE};
    return range;
}

static void give_struct(axle__allocator *allocator, axle__range *range)
{
    range->next = allocator->spare_ranges;
    allocator->spare_ranges = range;
}

/* ------------------------------------------------------------------ bins */

/* Bins 0 to 6 hold 1 to 7 pages, those above a quarter of an octave each. */
static uint32_t bin_of(uint64_t size)
{
    uint64_t pages = size / AXLE__PAGE;
    if (pages < 8)
        return (uint32_t)pages - 1;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(pages);
    return 7 + (octave - 3) * 4 + (uint32_t)(pages >> (octave - 2) & 3);
}

static void put_in_bin(axle__allocator *allocator, axle__range *range)
{
    uint32_t bin = bin_of(range->node.block.size);
    range->free = true;
    range->next = allocator->bins[bin];
    range->link = &allocator->bins[bin];
    if (range->next)
        range->next->link = &range->next;
    allocator->bins[bin] = range;
    allocator->bins_filled |= UINT64_C(1) << bin;
}

static void take_from_bin(axle__allocator *allocator, axle__range *range)
{
    range->free = false;
    *range->link = range->next;
    if (range->next)
        range->next->link = range->link;
    else if (range->link == &allocator->bins[bin_of(range->node.block.size)])
        allocator->bins_filled &= ~(UINT64_C(1) << bin_of(range->node.block.size));
}

static axle__range *find(axle__allocator *allocator, uint64_t size)
{
    uint32_t bin = bin_of(size);
    axle__range *range = allocator->bins[bin];
    for (int tries = 0; range && tries < TRIES; tries++, range = range->next)
        if (range->node.block.size >= size)
            return range;
    uint64_t above = allocator->bins_filled & ~((UINT64_C(2) << bin) - 1);
    return above ? allocator->bins[__builtin_ctzll(above)] : NULL;
}

/* ------------------------------------------------------------------ slabs */

/* A new slab is as large as all that is reserved: small programs stay small, large ones get few
 * slabs. */
static uint64_t slab_size(const axle__allocator *allocator, uint64_t least)
{
    uint64_t most = allocator->device->info.max_alloc, size = allocator->reserved;
    size = size < AXLE__SLAB_MIN ? AXLE__SLAB_MIN : size > AXLE__SLAB_MAX ? AXLE__SLAB_MAX : size;
    size = axle__round_up(size, AXLE__PAGE);
    if (most && size > most)
        size = most / AXLE__PAGE * AXLE__PAGE;
    return size > least ? size : least;
}

static axle__range *make_slab(axle__allocator *allocator, uint64_t least)
{
    axle__slab *slab = axle__alloc(1, sizeof(*slab));
    axle__range *range = slab ? take_struct(allocator) : NULL;
    if (!range || axle__memory_take(allocator, slab_size(allocator, least), least, &slab->memory)) {
        if (range)
            give_struct(allocator, range);
        axle__free(slab);
        return NULL;
    }
    range->slab = slab;
    range->node.block = (axle__block){
        .device = allocator->device,
        .buffer = slab->memory.buffer,
        .size = slab->memory.size,
        .host = slab->memory.host,
    };
    slab->first = range;
    slab->next = allocator->slabs;
    allocator->slabs = slab;
    put_in_bin(allocator, range);
    return range;
}

/* ------------------------------------------------------------------ blocks */

/* Cut `range` to `size`; `rest` becomes what is left. */
static void cut(axle__allocator *allocator, axle__range *range, uint64_t size, axle__range *rest)
{
    axle__block *block = &range->node.block;
    rest->node.block = *block;
    rest->node.block.offset += size;
    rest->node.block.size -= size;
    if (block->host)
        rest->node.block.host += size;
    block->size = size;
    rest->slab = range->slab;
    rest->left = range;
    rest->right = range->right;
    if (rest->right)
        rest->right->left = rest;
    range->right = rest;
    put_in_bin(allocator, rest);
}

axle__block *axle__range_alloc(axle__allocator *allocator, uint64_t size)
{
    size = axle__round_up(size, AXLE__PAGE);
    axle__range *rest = take_struct(allocator);
    axle__range *range = rest ? find(allocator, size) : NULL;
    if (rest && !range)
        range = make_slab(allocator, size);
    if (range)
        take_from_bin(allocator, range);
    if (range && range->node.block.size > size)
        cut(allocator, range, size, rest);
    else if (rest)
        give_struct(allocator, rest);
    return range ? &range->node.block : NULL;
}

/* Let `range` swallow its right neighbour, which is in no bin. */
static void join(axle__allocator *allocator, axle__range *range)
{
    axle__range *right = range->right;
    range->node.block.size += right->node.block.size;
    range->right = right->right;
    if (range->right)
        range->right->left = range;
    give_struct(allocator, right);
}

void axle__range_free(axle__allocator *allocator, axle__node *node)
{
    axle__range *range = (axle__range *)node;
    if (range->right && range->right->free) {
        take_from_bin(allocator, range->right);
        join(allocator, range);
    }
    if (range->left && range->left->free) {
        range = range->left;
        take_from_bin(allocator, range);
        join(allocator, range);
    }
    put_in_bin(allocator, range);
}

void axle__range_trim(axle__allocator *allocator)
{
    for (axle__slab **at = &allocator->slabs; *at;) {
        axle__slab *slab = *at;
        if (!slab->first->free || slab->first->right) {
            at = &slab->next;
            continue;
        }
        *at = slab->next;
        take_from_bin(allocator, slab->first);
        give_struct(allocator, slab->first);
        axle__memory_give(allocator, &slab->memory);
        axle__free(slab);
    }
}

void axle__range_destroy(axle__allocator *allocator)
{
    while (allocator->slabs) {
        axle__slab *slab = allocator->slabs;
        allocator->slabs = slab->next;
        axle__memory_give(allocator, &slab->memory);
        axle__free(slab);
    }
    while (allocator->chunks) {
        axle__range_chunk *chunk = allocator->chunks;
        allocator->chunks = chunk->next;
        axle__free(chunk);
    }
}
