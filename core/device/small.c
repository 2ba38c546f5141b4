/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small blocks. Sizes come in classes, four between each power of two and the next, so that at most
 * a fifth of a block is waste. A run is a piece of memory for blocks of one class; their structs
 * are made with it, and allocating is taking one from the run's free list.
 */
#include "device/allocator.h"

#include "base/memory.h"

enum { RUN_BYTES = 64 << 10, RUN_BLOCKS_MIN = 8 };

typedef struct small_block {
    axle__node node;
    axle__run *run;
} small_block;

struct axle__run {
    axle__run *next, **link; /* `link` is what points here */
    axle__block *range;      /* the run's memory */
    axle__block *free;       /* chained by block.link */
    uint32_t class, count, used;
    small_block block[];
};

/* The class of a number of units, and the units of a class: 1 to 8, then 10, 12, 14, 16, 20 ... */
static uint32_t class_of(uint64_t units)
{
    if (units <= 8)
        return (uint32_t)units - 1;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(units - 1);
    return 8 + (octave - 3) * 4 + (uint32_t)((units - 1) >> (octave - 2)) - 4;
}

static uint64_t units_of(uint32_t class)
{
    if (class < 8)
        return class + 1;
    uint32_t octave = 3 + (class - 8) / 4, step = (class - 8) % 4;
    return (uint64_t)(5 + step) << (octave - 2);
}

static void link_run(axle__run **list, axle__run *run)
{
    run->next = *list;
    run->link = list;
    if (run->next)
        run->next->link = &run->next;
    *list = run;
}

static void unlink_run(axle__run *run)
{
    *run->link = run->next;
    if (run->next)
        run->next->link = run->link;
}

static void fill_run(axle__run *run, uint64_t size)
{
    const axle__block *range = run->range;
    for (uint32_t k = run->count; k-- > 0;) {
        small_block *small = &run->block[k];
        small->run = run;
        small->node.kind = AXLE__SMALL;
        small->node.block = (axle__block){
            .device = range->device,
            .buffer = range->buffer,
            .offset = range->offset + k * size,
            .size = size,
            .host = range->host ? range->host + k * size : NULL,
            .link = run->free,
        };
        run->free = &small->node.block;
    }
}

static axle__run *make_run(axle__allocator *allocator, uint32_t class)
{
    uint64_t size = units_of(class) << allocator->unit_shift;
    uint64_t count = RUN_BYTES / size > RUN_BLOCKS_MIN ? RUN_BYTES / size : RUN_BLOCKS_MIN;
    axle__run *run = axle__alloc(1, sizeof(*run) + count * sizeof(small_block));
    if (!run)
        return NULL;
    run->range = axle__range_alloc(allocator, count * size);
    if (!run->range) {
        axle__free(run);
        return NULL;
    }
    run->class = class;
    run->count = (uint32_t)count;
    fill_run(run, size);
    link_run(&allocator->runs[class], run);
    return run;
}

axle__block *axle__small_alloc(axle__allocator *allocator, uint64_t size)
{
    uint64_t unit = UINT64_C(1) << allocator->unit_shift;
    uint32_t class = class_of((size + unit - 1) >> allocator->unit_shift);
    axle__run *run = allocator->runs[class];
    if (!run && !(run = make_run(allocator, class)))
        return NULL;
    axle__block *block = run->free;
    run->free = block->link;
    run->used++;
    if (!run->free) {
        unlink_run(run);
        link_run(&allocator->full_runs[class], run);
    }
    return block;
}

void axle__small_free(axle__allocator *allocator, axle__node *node)
{
    axle__run *run = ((small_block *)node)->run;
    if (!run->free) {
        unlink_run(run);
        link_run(&allocator->runs[run->class], run);
    }
    node->block.link = run->free;
    run->free = &node->block;
    run->used--;
}

static void destroy_run(axle__allocator *allocator, axle__run *run)
{
    unlink_run(run);
    axle__range_free(allocator, (axle__node *)run->range);
    axle__free(run);
}

void axle__small_trim(axle__allocator *allocator)
{
    for (uint32_t class = 0; class < AXLE__SMALL_CLASSES; class ++)
        for (axle__run *run = allocator->runs[class], *next; run; run = next) {
            next = run->next;
            if (run->used == 0)
                destroy_run(allocator, run);
        }
}

/* Blocks still in use go, too: the device is closing. */
void axle__small_destroy(axle__allocator *allocator)
{
    for (uint32_t class = 0; class < AXLE__SMALL_CLASSES; class ++) {
        while (allocator->runs[class])
            destroy_run(allocator, allocator->runs[class]);
        while (allocator->full_runs[class])
            destroy_run(allocator, allocator->full_runs[class]);
    }
}
