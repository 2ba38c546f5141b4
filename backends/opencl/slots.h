/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind the backend's axle_device_api; backend.h says what each does. */
#ifndef AXLE_OPENCL_SLOTS_H
#define AXLE_OPENCL_SLOTS_H

#include "opencl.h"

/* queue.c */
axle_status ocl_queue_create(axle_be_device *device, uint32_t role, axle_be_queue **out,
                             axle_error *error);
void ocl_queue_destroy(axle_be_queue *queue);
axle_status ocl_queue_flush(axle_be_queue *queue, axle_error *error);
axle_status ocl_queue_finish(axle_be_queue *queue, axle_error *error);

/* event.c */
axle_status ocl_event_create(axle_be_device *device, axle_be_event **out, axle_error *error);
void ocl_event_destroy(axle_be_event *event);
axle_status ocl_event_record(axle_be_queue *queue, axle_be_event *event, axle_error *error);
axle_status ocl_queue_wait(axle_be_queue *queue, axle_be_event *event, axle_error *error);
axle_status ocl_event_query(axle_be_event *event, axle_error *error);
axle_status ocl_event_wait(axle_be_event *event, int64_t timeout_ns, axle_error *error);

/* memory.c */
axle_status ocl_buffer_create(axle_be_device *device, uint32_t kind, uint64_t size,
                              axle_be_buffer **out, axle_error *error);
axle_status ocl_buffer_import(axle_be_device *device, void *host, uint64_t size,
                              axle_be_buffer **out, axle_error *error);
void ocl_buffer_destroy(axle_be_buffer *buffer);
axle_status ocl_buffer_map(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                           uint64_t size, uint32_t flags, void **out, axle_error *error);
axle_status ocl_buffer_unmap(axle_be_queue *queue, axle_be_buffer *buffer, void *p,
                             axle_error *error);

/* transfer.c */
axle_status ocl_buffer_write(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                             const void *from, uint64_t size, uint32_t when, axle_error *error);
axle_status ocl_buffer_read(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset, void *to,
                            uint64_t size, uint32_t when, axle_error *error);
axle_status ocl_buffer_copy(axle_be_queue *queue, axle_be_buffer *dst, uint64_t dst_offset,
                            axle_be_buffer *src, uint64_t src_offset, uint64_t size,
                            axle_error *error);
axle_status ocl_buffer_fill(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                            uint64_t size, const void *pattern, uint32_t pattern_size,
                            axle_error *error);

/* dispatch.c */
axle_status ocl_op_query(axle_be_device *device, const axle_op_desc *desc, axle_op_info *info);
axle_status ocl_op_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                           axle_error *error);
/* The same with the candidates of a product (tune.h); 0 for all that fit. */
axle_status ocl_op_prepare_as(axle_be_device *device, const axle_op_desc *desc, uint32_t only,
                              axle_be_op **out, axle_error *error);

/* run.c */
axle_status ocl_op_run(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                       axle_error *error);
void ocl_op_release(axle_be_op *op);

#endif
