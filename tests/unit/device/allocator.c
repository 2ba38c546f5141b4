/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "device/allocator.h"

#include <pthread.h>

#include "base/memory.h"
#include "unit/device/board.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

static board here;

static axle_device_stats stats_of(const axle_device *device)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    axle__allocator_stats(device->allocator, &stats);
    return stats;
}

static void blocks_have_size_and_alignment(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1,       63,      64,    65,         500, 513,
                                     4096,    16384,   16385, 100000,     MIB, 8 * MIB - 1,
                                     8 * MIB, 9999999, 0,     8 * MIB + 1};
    board_init(&here, UINT64_MAX);
    board_start(&here);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        axle__block *block = axle__block_alloc(&here.device, sizes[k]);
        assert_non_null(block);
        assert_true(block->size >= sizes[k]);
        assert_true(block->size <= sizes[k] + sizes[k] / 4 + 4096);
        assert_int_equal(block->offset % 64, 0);
        assert_ptr_equal(block->host, block->buffer->data + block->offset);
        memset(block->host, 1, sizes[k]);
        axle__block_free(block);
    }
    axle__block_free(NULL);
    board_stop(&here);
}

static void devices_alignment_is_kept(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    here.device.info.base_align = 1024;
    board_start(&here);
    for (uint64_t size = 1; size < 100000; size = size * 3 + 1)
        for (int k = 0; k < 3; k++)
            assert_int_equal(axle__block_alloc(&here.device, size)->offset % 1024, 0);
    board_stop(&here);
}

/* Numbers for sizes and choices; any will do. */
static uint32_t next_number(uint32_t *number)
{
    return (*number = *number * 1664525u + 1013904223u) >> 8;
}

static uint64_t next_size(uint32_t *number)
{
    static const uint64_t limits[] = {64, 1000, 20000, 300000, 3 * MIB, 10 * MIB};
    uint64_t limit = limits[next_number(number) % 6];
    return 1 + next_number(number) % limit;
}

enum { SLOTS = 64 };

typedef struct slot {
    axle__block *block;
    uint64_t size;
    unsigned char mark;
} slot;

/* Ends and middle carry the mark, so that an overlap shows without touching every byte. */
static void mark(slot *slot)
{
    slot->block->host[0] = slot->mark;
    slot->block->host[slot->size / 2] = slot->mark;
    slot->block->host[slot->size - 1] = slot->mark;
}

static int is_marked(const slot *slot)
{
    return slot->block->host[0] == slot->mark && slot->block->host[slot->size / 2] == slot->mark &&
           slot->block->host[slot->size - 1] == slot->mark;
}

/* Allocate and free at random; returns the number of marks that were lost. */
static int exercise(axle_device *device, uint32_t seed, int rounds)
{
    slot slots[SLOTS] = {{NULL, 0, 0}};
    int lost = 0;
    for (int round = 0; round < rounds; round++) {
        slot *slot = &slots[next_number(&seed) % SLOTS];
        if (slot->block) {
            lost += !is_marked(slot);
            axle__block_free(slot->block);
            slot->block = NULL;
        } else {
            slot->size = next_size(&seed);
            slot->mark = (unsigned char)next_number(&seed);
            slot->block = axle__block_alloc(device, slot->size);
            mark(slot);
        }
    }
    for (int k = 0; k < SLOTS; k++)
        if (slots[k].block) {
            lost += !is_marked(&slots[k]);
            axle__block_free(slots[k].block);
        }
    return lost;
}

static void blocks_never_overlap(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    board_start(&here);
    for (uint32_t seed = 1; seed <= 5; seed++)
        assert_int_equal(exercise(&here.device, seed, 4000), 0);
    assert_int_equal(stats_of(&here.device).bytes_in_use, 0);
    axle__allocator_trim(here.device.allocator);
    assert_int_equal(stats_of(&here.device).bytes_reserved, 0);
    assert_int_equal(board_live, 0);
    board_stop(&here);
}

static void *exercise_thread(void *arg)
{
    static atomic_uint seeds = 77;
    uint32_t seed = atomic_fetch_add(&seeds, 1);
    return (void *)(intptr_t)exercise(arg, seed, 2000);
}

static void threads_share_it(void **state)
{
    (void)state;
    pthread_t threads[4];
    board_init(&here, UINT64_MAX);
    board_start(&here);
    for (int k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, exercise_thread, &here.device), 0);
    for (int k = 0; k < 4; k++) {
        void *lost;
        pthread_join(threads[k], &lost);
        assert_null(lost);
    }
    assert_int_equal(stats_of(&here.device).bytes_in_use, 0);
    board_stop(&here);
}

static void steady_state_reserves_nothing(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    board_start(&here);
    exercise(&here.device, 9, 3000);
    int made = board_made;
    axle__alloc_fail_at(1);
    exercise(&here.device, 9, 3000);
    assert_false(axle__alloc_failed());
    axle__alloc_fail_at(0);
    assert_int_equal(board_made, made);
    board_stop(&here);
}

static void freed_block_is_used_again(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {64, 1000, 100000, 5 * MIB, 20 * MIB};
    board_init(&here, UINT64_MAX);
    board_start(&here);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        axle__block *block = axle__block_alloc(&here.device, sizes[k]);
        unsigned char *host = block->host;
        axle__block_free(block);
        block = axle__block_alloc(&here.device, sizes[k]);
        assert_ptr_equal(block->host, host);
        axle__block_free(block);
    }
    board_stop(&here);
}

static void large_block_fits_closely(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    board_start(&here);
    axle__block *block = axle__block_alloc(&here.device, 16 * MIB);
    axle_be_buffer *buffer = block->buffer;
    axle__block_free(block);
    block = axle__block_alloc(&here.device, 15 * MIB);
    assert_ptr_equal(block->buffer, buffer);
    axle__block_free(block);
    block = axle__block_alloc(&here.device, 12 * MIB);
    assert_ptr_not_equal(block->buffer, buffer);
    axle__block_free(block);
    board_stop(&here);
}

static void changing_sizes_do_not_hoard(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    board_start(&here);
    for (uint64_t size = 10 * MIB; size < 200 * (uint64_t)MIB; size += size / 6)
        axle__block_free(axle__block_alloc(&here.device, size));
    axle_device_stats stats = stats_of(&here.device);
    assert_true(stats.bytes_reserved <= stats.bytes_peak + stats.bytes_peak / 4 + 64 * MIB);
    board_stop(&here);
}

static void books_are_kept(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    board_start(&here);
    axle__block *a = axle__block_alloc(&here.device, 64);
    axle__block *b = axle__block_alloc(&here.device, 10 * MIB);
    axle_device_stats stats = stats_of(&here.device);
    assert_int_equal(stats.bytes_in_use, a->size + b->size);
    assert_int_equal(stats.bytes_peak, stats.bytes_in_use);
    assert_int_equal(stats.bytes_reserved, board_used);
    uint64_t peak = stats.bytes_peak, small = a->size;
    axle__block_free(b);
    stats = stats_of(&here.device);
    assert_int_equal(stats.bytes_in_use, small);
    assert_int_equal(stats.bytes_peak, peak);
    axle__allocator_trim(here.device.allocator);
    assert_true(stats_of(&here.device).bytes_reserved < peak);
    axle__block_free(a);
    board_stop(&here);
}

static void full_device_empties_caches(void **state)
{
    (void)state;
    board_init(&here, 40 * MIB);
    board_start(&here);
    axle__block_free(axle__block_alloc(&here.device, 30 * MIB));
    axle__block *small = axle__block_alloc(&here.device, 100);
    axle__block *large = axle__block_alloc(&here.device, 20 * MIB);
    assert_non_null(small);
    assert_non_null(large);
    assert_null(axle__block_alloc(&here.device, 25 * MIB));
    unit_expect_error(AXLE_ERR_NOMEM, "25.00 MiB asked for, 20.00 MiB in use: the board is full");
    axle__block_free(large);
    large = axle__block_alloc(&here.device, 25 * MIB);
    assert_non_null(large);
    assert_int_equal(axle_error_code(), AXLE_OK);
    axle__block_free(large);
    axle__block_free(small);
    board_stop(&here);
}

static void small_device_is_used_up(void **state)
{
    (void)state;
    board_init(&here, MIB / 2);
    board_start(&here);
    axle__block *a = axle__block_alloc(&here.device, 200 * KIB);
    axle__block *b = axle__block_alloc(&here.device, 200 * KIB);
    assert_non_null(a);
    assert_non_null(b);
    assert_null(axle__block_alloc(&here.device, 200 * KIB));
    unit_expect_error(AXLE_ERR_NOMEM, "the board is full");
    axle__block_free(a);
    axle__block_free(b);
    board_stop(&here);
}

static void limit_is_kept(void **state)
{
    (void)state;
    setenv("AXLE_MEMORY_LIMIT", "16", 1);
    board_init(&here, UINT64_MAX);
    board_start(&here);
    axle__block *a = axle__block_alloc(&here.device, 10 * MIB);
    assert_non_null(a);
    assert_null(axle__block_alloc(&here.device, 10 * MIB));
    unit_expect_error(AXLE_ERR_NOMEM, "AXLE_MEMORY_LIMIT");
    axle__block *b = axle__block_alloc(&here.device, 4 * MIB);
    assert_non_null(b);
    assert_true(stats_of(&here.device).bytes_reserved <= 16 * MIB);
    axle__block_free(a);
    axle__block_free(b);
    board_stop(&here);
    unsetenv("AXLE_MEMORY_LIMIT");
    axle__settings_reset();
}

static void largest_buffer_bounds_blocks(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    here.device.info.max_alloc = 3 * MIB + 100;
    board_start(&here);
    assert_null(axle__block_alloc(&here.device, 4 * MIB));
    unit_expect_error(AXLE_ERR_NOMEM,
                      "4.00 MiB asked for, but the device's largest buffer is 3.00");
    axle__block *whole = axle__block_alloc(&here.device, 3 * MIB + 100);
    assert_non_null(whole);
    for (int k = 0; k < 100; k++)
        assert_true(axle__block_alloc(&here.device, 100 * KIB)->buffer->size <= 3 * MIB + 100);
    board_stop(&here);
}

static void tiny_buffers_serve(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    here.device.info.max_alloc = 5000;
    board_start(&here);
    static const uint64_t sizes[] = {1, 64, 4999, 5000};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        axle__block *block = axle__block_alloc(&here.device, sizes[k]);
        assert_non_null(block);
        assert_true(block->buffer->size <= 5000);
        axle__block_free(block);
    }
    board_stop(&here);
}

static void hidden_memory_has_no_address(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    here.device.info.caps = 0;
    board_start(&here);
    assert_false(here.device.host_visible);
    static const uint64_t sizes[] = {64, 100000, 9 * MIB};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        assert_null(axle__block_alloc(&here.device, sizes[k])->host);
    board_stop(&here);
}

static void failed_mapping_leaks_nothing(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    board_start(&here);
    board_status = AXLE_ERR_DEVICE;
    assert_null(axle__block_alloc(&here.device, 64));
    unit_expect_error(AXLE_ERR_DEVICE, "board: can not make a buffer");
    assert_int_equal(board_live, 0);
    board_stop(&here);
}

static void failing_allocation_is_an_error(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {64, 5000, 100000, 9 * MIB};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (long n = 1;; n++) {
            board_init(&here, UINT64_MAX);
            axle__alloc_fail_at(n);
            int code = axle__allocator_create(&here.device, &here.device.allocator);
            axle__block *block = code == AXLE_OK ? axle__block_alloc(&here.device, sizes[k]) : NULL;
            bool failed = axle__alloc_failed();
            axle__alloc_fail_at(0);
            if (!block)
                unit_expect_error(AXLE_ERR_NOMEM, "out of memory");
            if (code == AXLE_OK)
                board_stop(&here);
            axle_error_clear();
            if (!failed)
                break;
        }
}

#ifdef AXLE__POISON
static void stray_access_is_seen(void **state)
{
    (void)state;
    board_init(&here, UINT64_MAX);
    board_start(&here);
    static const uint64_t sizes[] = {40, 100000, 9 * MIB + 8};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        axle__block *block = axle__block_alloc(&here.device, sizes[k]);
        unsigned char *host = block->host;
        assert_false(__asan_address_is_poisoned(host));
        assert_false(__asan_address_is_poisoned(host + sizes[k] - 1));
        assert_true(__asan_address_is_poisoned(host + sizes[k]));
        axle__block_free(block);
        assert_true(__asan_address_is_poisoned(host));
    }
    board_stop(&here);
}
#endif

static const struct CMUnitTest tests[] = {
    UNIT("a block has at least the size asked for, aligned to 64 bytes",
         blocks_have_size_and_alignment),
    UNIT("a device's wider alignment is kept", devices_alignment_is_kept),
    UNIT("blocks never overlap, and trimming gives everything back", blocks_never_overlap),
    UNIT("several threads share it", threads_share_it),
    UNIT("what ran once runs again without new memory", steady_state_reserves_nothing),
    UNIT("a freed block is used again", freed_block_is_used_again),
    UNIT("a large block is used again for sizes an eighth smaller at most",
         large_block_fits_closely),
    UNIT("changing sizes do not hoard memory", changing_sizes_do_not_hoard),
    UNIT("statistics count what is in use, reserved, and was at most", books_are_kept),
    UNIT("a full device empties caches and tries again", full_device_empties_caches),
    UNIT("a small device is used up to what fits", small_device_is_used_up),
    UNIT("AXLE_MEMORY_LIMIT is kept", limit_is_kept),
    UNIT("no buffer is larger than the device's largest", largest_buffer_bounds_blocks),
    UNIT("a device of tiny buffers serves", tiny_buffers_serve),
    UNIT("memory that the host does not see has no address", hidden_memory_has_no_address),
    UNIT("a mapping that fails is an error and leaks nothing", failed_mapping_leaks_nothing),
    UNIT("every failing allocation gives an error", failing_allocation_is_an_error),
#ifdef AXLE__POISON
    UNIT("AddressSanitizer sees access to free or surplus bytes", stray_access_is_seen),
#endif
};
UNIT_MAIN(tests)
