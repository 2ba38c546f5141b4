/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend that misbehaves on request, so that tests can see how the core takes it. It computes
 * copies, fills and a few unary and binary functions of f32 in plain memory; everything else it
 * declines. settings.h says what can be asked of it.
 */
#ifndef AXLE_FAKE_FAKE_H
#define AXLE_FAKE_FAKE_H

#include "axle/backend.h"
#include "axle/backend_ops.h"

#include "settings.h"

struct axle_be_device {
    uint32_t index;
};

struct axle_be_buffer {
    unsigned char *data;
    uint64_t size;
    int borrowed;
};

/* plugin.c */
axle_status fake_fail(axle_error *error, axle_status code, const char *format, ...)
    AXLE_PRINTF(3, 4);

/* "crash", "abort", "slow" or "hang"; anything else does nothing. */
void fake_misbehave(const char *how);

/* memory.c */
axle_status fake_buffer_create(axle_be_device *device, uint32_t kind, uint64_t size,
                               axle_be_buffer **out, axle_error *error);
axle_status fake_buffer_import(axle_be_device *device, void *host, uint64_t size,
                               axle_be_buffer **out, axle_error *error);
void fake_buffer_destroy(axle_be_buffer *buffer);
axle_status fake_buffer_map(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                            uint64_t size, uint32_t flags, void **out, axle_error *error);
axle_status fake_buffer_unmap(axle_be_queue *queue, axle_be_buffer *buffer, void *p,
                              axle_error *error);
axle_status fake_write(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                       const void *from, uint64_t size, uint32_t when, axle_error *error);
axle_status fake_read(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset, void *to,
                      uint64_t size, uint32_t when, axle_error *error);
axle_status fake_copy(axle_be_queue *queue, axle_be_buffer *dst, uint64_t dst_offset,
                      axle_be_buffer *src, uint64_t src_offset, uint64_t size, axle_error *error);
axle_status fake_fill(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset, uint64_t size,
                      const void *pattern, uint32_t pattern_size, axle_error *error);

/* queue.c: work is kept until something waits for it. */
axle_status fake_queue_create(axle_be_device *device, uint32_t role, axle_be_queue **out,
                              axle_error *error);
void fake_queue_destroy(axle_be_queue *queue);
axle_status fake_queue_finish(axle_be_queue *queue, axle_error *error);
axle_status fake_event_create(axle_be_device *device, axle_be_event **out, axle_error *error);
void fake_event_destroy(axle_be_event *event);
axle_status fake_event_record(axle_be_queue *queue, axle_be_event *event, axle_error *error);
axle_status fake_queue_wait(axle_be_queue *queue, axle_be_event *event, axle_error *error);
axle_status fake_event_query(axle_be_event *event, axle_error *error);
axle_status fake_event_wait(axle_be_event *event, int64_t timeout_ns, axle_error *error);
/* Do what every queue holds: what it works on is about to go. */
void fake_queues_drain(void);
/* Keep a call for later; a NULL queue runs it at once. */
axle_status fake_queue_push(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                            axle_error *error);

/* ops.c */
axle_status fake_op_query(axle_be_device *device, const axle_op_desc *desc, axle_op_info *info);
axle_status fake_op_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                            axle_error *error);
axle_status fake_op_run(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                        axle_error *error);
void fake_op_release(axle_be_op *op);
/* Do the work of a call. */
axle_status fake_op_execute(axle_be_op *op, const axle_op_args *args, axle_error *error);

#endif
