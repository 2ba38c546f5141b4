/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <string.h>

#include "axle/status.h"

axle_error *error_room_init(error_room *room)
{
    *room = (error_room){.error = {.struct_size = sizeof(room->error)}};
    room->error.message = room->text;
    room->error.message_capacity = sizeof(room->text);
    return &room->error;
}

int error_room_fail(note *n, const error_room *room, const char *doing, axle_status status)
{
    return note_fail(n, "%s: %s%s%s", doing, axle_status_text(status), *room->text ? ": " : "",
                     room->text);
}

/* ------------------------------------------------------------------ devices and queues */

static int find_api(machine *m, note *n)
{
    m->api = m->plugin->device_api(m->device);
    if (!m->api)
        return note_fail(n, "device_api gives no table");
    if (!MACHINE_HAS(m, buffer_create) || !MACHINE_HAS(m, buffer_destroy) ||
        (!MACHINE_HAS(m, buffer_map) && !(MACHINE_HAS(m, read) && MACHINE_HAS(m, write))))
        return note_fail(n, "the device's table lacks buffer_create, buffer_destroy, or both "
                            "buffer_map and the pair of read and write");
    return 1;
}

int machine_open(machine *m, const axle_plugin *plugin, uint32_t index, note *n)
{
    error_room room;
    *m = (machine){.plugin = plugin, .info = {.struct_size = sizeof(m->info)}};
    axle_status status = plugin->device_info(index, &m->info, error_room_init(&room));
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "device_info", status);
    status = plugin->device_open(index, &m->device, error_room_init(&room));
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "device_open", status);
    if (find_api(m, n) && machine_queue_create(m, &m->queue, n))
        return 1;
    machine_close(m);
    return 0;
}

void machine_close(machine *m)
{
    if (m->api)
        machine_queue_destroy(m, m->queue);
    if (m->device && AXLE_HAS(m->plugin, axle_plugin, device_close))
        m->plugin->device_close(m->device);
    *m = (machine){0};
}

int machine_queue_create(const machine *m, axle_be_queue **out, note *n)
{
    error_room room;
    *out = NULL;
    if (!MACHINE_HAS(m, queue_create))
        return 1;
    const axle_status status = m->api->queue_create(m->device, 0, out, error_room_init(&room));
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "queue_create", status);
    return *out ? 1 : note_fail(n, "queue_create succeeds without a queue");
}

void machine_queue_destroy(const machine *m, axle_be_queue *queue)
{
    if (queue && MACHINE_HAS(m, queue_destroy))
        m->api->queue_destroy(queue);
}

axle_status machine_finish_status(const machine *m, axle_be_queue *queue, error_room *room)
{
    error_room_init(room);
    return MACHINE_HAS(m, queue_finish) ? m->api->queue_finish(queue, &room->error) : AXLE_OK;
}

int machine_finish(const machine *m, axle_be_queue *queue, note *n)
{
    error_room room;
    const axle_status status = machine_finish_status(m, queue, &room);
    return status == AXLE_OK ? 1 : error_room_fail(n, &room, "queue_finish", status);
}

/* ------------------------------------------------------------------ memory */

int machine_buffer_create(const machine *m, uint32_t kind, uint64_t size, axle_be_buffer **out,
                          note *n)
{
    error_room room;
    const axle_status status =
        m->api->buffer_create(m->device, kind, size, out, error_room_init(&room));
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "buffer_create", status);
    return *out ? 1 : note_fail(n, "buffer_create succeeds without a buffer");
}

void machine_buffer_destroy(const machine *m, axle_be_buffer *buffer)
{
    if (buffer)
        m->api->buffer_destroy(buffer);
}

static int move_mapped(const machine *m, axle_be_queue *queue, axle_be_buffer *buffer,
                       uint64_t offset, void *to, const void *from, uint64_t size, note *n)
{
    error_room room;
    void *mapped = NULL;
    axle_status status =
        m->api->buffer_map(queue, buffer, offset, size, to ? AXLE_MAP_READ : AXLE_MAP_WRITE,
                           &mapped, error_room_init(&room));
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "buffer_map", status);
    memcpy(to ? to : mapped, to ? mapped : from, (size_t)size);
    if (MACHINE_HAS(m, buffer_unmap))
        status = m->api->buffer_unmap(queue, buffer, mapped, error_room_init(&room));
    return status == AXLE_OK ? 1 : error_room_fail(n, &room, "buffer_unmap", status);
}

int machine_write(const machine *m, axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                  const void *from, uint64_t size, note *n)
{
    error_room room;
    if (!MACHINE_HAS(m, write))
        return move_mapped(m, queue, buffer, offset, NULL, from, size, n);
    const axle_status status = m->api->write(queue, buffer, offset, from, size,
                                             AXLE_HOST_DURING_CALL, error_room_init(&room));
    return status == AXLE_OK ? 1 : error_room_fail(n, &room, "write", status);
}

int machine_read(const machine *m, axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                 void *to, uint64_t size, note *n)
{
    error_room room;
    if (!MACHINE_HAS(m, read))
        return move_mapped(m, queue, buffer, offset, to, NULL, size, n);
    const axle_status status = m->api->read(queue, buffer, offset, to, size, AXLE_HOST_DURING_CALL,
                                            error_room_init(&room));
    return status == AXLE_OK ? 1 : error_room_fail(n, &room, "read", status);
}

/* ------------------------------------------------------------------ operators */

axle_op_info machine_query(const machine *m, const axle_op_desc *desc)
{
    axle_op_info info = {.struct_size = sizeof(info)};
    if (!MACHINE_HAS(m, op_query) || !MACHINE_HAS(m, op_prepare) || !MACHINE_HAS(m, op_run) ||
        m->api->op_query(m->device, desc, &info) != AXLE_OK)
        info.support = AXLE_SUPPORT_NO;
    return info;
}
