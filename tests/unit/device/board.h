/* SPDX-License-Identifier: Apache-2.0 */
/* A device made of plain memory, for tests of what the core does with one. */
#ifndef AXLE_TESTS_UNIT_BOARD_H
#define AXLE_TESTS_UNIT_BOARD_H

#include <stdatomic.h>

#include "unit/unit.h"

#include "base/settings.h"
#include "device/device.h"

struct axle_be_buffer {
    unsigned char *data;
    uint64_t size;
};

typedef struct board {
    axle_plugin plugin;
    axle_device_api api;
    axle_device device;
} board;

/* Of the one board that a test has. */
static uint64_t board_capacity, board_used;
static int board_made, board_live, board_finished, board_written, board_read, board_mapped;
static axle_status board_status; /* what calls on the queue answer */

static inline axle_status board_create_buffer(axle_be_device *device, uint32_t kind, uint64_t size,
                                              axle_be_buffer **out, axle_error *error)
{
    (void)device;
    (void)kind;
    if (board_used + size > board_capacity) {
        snprintf(error->message, error->message_capacity, "the board is full");
        return AXLE_ERR_NOMEM;
    }
    axle_be_buffer *buffer = malloc(sizeof(*buffer));
    buffer->data = aligned_alloc(64, (size + 63) / 64 * 64);
    buffer->size = size;
    board_used += size;
    board_made++;
    board_live++;
    *out = buffer;
    return AXLE_OK;
}

static inline void board_destroy_buffer(axle_be_buffer *buffer)
{
    board_used -= buffer->size;
    board_live--;
    free(buffer->data);
    free(buffer);
}

static inline axle_status board_map(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                                    uint64_t size, uint32_t flags, void **out, axle_error *error)
{
    (void)queue;
    (void)flags;
    (void)error;
    assert_true(offset + size <= buffer->size);
    board_mapped++;
    *out = buffer->data + offset;
    return board_status;
}

static inline axle_status board_unmap(axle_be_queue *queue, axle_be_buffer *buffer, void *mapped,
                                      axle_error *error)
{
    (void)queue;
    (void)buffer;
    (void)mapped;
    (void)error;
    board_mapped--;
    return AXLE_OK;
}

static inline axle_status board_write(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                                      const void *data, uint64_t size, uint32_t when,
                                      axle_error *error)
{
    (void)queue;
    (void)error;
    assert_true(offset + size <= buffer->size);
    assert_int_equal(when, AXLE_HOST_DURING_CALL);
    memcpy(buffer->data + offset, data, size);
    board_written++;
    return board_status;
}

static inline axle_status board_read_back(axle_be_queue *queue, axle_be_buffer *buffer,
                                          uint64_t offset, void *data, uint64_t size, uint32_t when,
                                          axle_error *error)
{
    (void)queue;
    assert_true(offset + size <= buffer->size);
    assert_int_equal(when, AXLE_HOST_DURING_CALL);
    if (board_status != AXLE_OK) {
        snprintf(error->message, error->message_capacity, "index 7 is outside [0, 5)");
        error->native_code = 42;
        return board_status;
    }
    memcpy(data, buffer->data + offset, size);
    board_read++;
    return AXLE_OK;
}

static inline axle_status board_finish(axle_be_queue *queue, axle_error *error)
{
    (void)queue;
    (void)error;
    board_finished++;
    return board_status;
}

/* A host-visible, synchronous board with that much memory; change what a test wants before
 * board_start(). */
static inline void board_init(board *board, uint64_t capacity)
{
    memset(board, 0, sizeof(*board));
    board_capacity = capacity;
    board_used = 0;
    board_made = board_live = board_finished = board_written = board_read = board_mapped = 0;
    board_status = AXLE_OK;
    board->plugin.struct_size = sizeof(board->plugin);
    board->plugin.name = "board";
    board->api.struct_size = sizeof(board->api);
    board->api.buffer_create = board_create_buffer;
    board->api.buffer_destroy = board_destroy_buffer;
    board->api.buffer_map = board_map;
    board->api.buffer_unmap = board_unmap;
    board->api.write = board_write;
    board->api.read = board_read_back;
    board->api.queue_finish = board_finish;
    board->device.plugin = &board->plugin;
    board->device.api = &board->api;
    board->device.synchronous = true;
    board->device.info.caps = AXLE_CAP_HOST_VISIBLE;
    pthread_mutex_init(&board->device.queue_lock, NULL);
}

static inline void board_start(board *board)
{
    axle__settings_reset();
    if (axle__allocator_create(&board->device, &board->device.allocator))
        fail_msg("%s", axle_error_message());
}

static inline void board_stop(board *board)
{
    axle__allocator_destroy(board->device.allocator);
    pthread_mutex_destroy(&board->device.queue_lock);
    assert_int_equal(board_live, 0);
    assert_int_equal(board_used, 0);
}

#endif
