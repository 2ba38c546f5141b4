/* SPDX-License-Identifier: Apache-2.0 */
/* An open device with a queue, the one under test or the reference, and calls that do without the
 * slots it lacks, as the core does. */
#ifndef AXLE_CHECK_MACHINE_H
#define AXLE_CHECK_MACHINE_H

#include "axle/backend.h"
#include "axle/backend_ops.h"
#include "note.h"

typedef struct machine {
    const axle_plugin *plugin;
    axle_device_info info;
    axle_be_device *device;
    const axle_device_api *api;
    axle_be_queue *queue; /* NULL where there is one implicit queue */
} machine;

/* An axle_error with room for a message. */
typedef struct error_room {
    axle_error error;
    char text[256];
} error_room;
axle_error *error_room_init(error_room *room);
/* Note a failed call, with what it says of itself. Returns 0. */
int error_room_fail(note *n, const error_room *room, const char *doing, axle_status status);

int machine_open(machine *m, const axle_plugin *plugin, uint32_t index, note *n);
void machine_close(machine *m);

#define MACHINE_HAS(m, slot) AXLE_HAS((m)->api, axle_device_api, slot)

int machine_queue_create(const machine *m, axle_be_queue **out, note *n);
void machine_queue_destroy(const machine *m, axle_be_queue *queue);
int machine_finish(const machine *m, axle_be_queue *queue, note *n);
/* The status alone. */
axle_status machine_finish_status(const machine *m, axle_be_queue *queue, error_room *room);

int machine_buffer_create(const machine *m, uint32_t kind, uint64_t size, axle_be_buffer **out,
                          note *n);
void machine_buffer_destroy(const machine *m, axle_be_buffer *buffer);
int machine_write(const machine *m, axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                  const void *from, uint64_t size, note *n);
int machine_read(const machine *m, axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                 void *to, uint64_t size, note *n);

/* What the device makes of an operator; support is AXLE_SUPPORT_NO where it cannot be asked. */
axle_op_info machine_query(const machine *m, const axle_op_desc *desc);

#endif
