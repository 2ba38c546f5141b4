/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this backend share. The structs are ours to define: Axle sees pointers only. */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <axle/backend.h>
#include <axle/backend_ops.h>

extern const axle_host *template_host; /* Axle's services: memory, threads, log, options */

/* An open device. Replace: the context and the handles of your driver. */
struct axle_be_device {
    uint32_t index;
};

/* A piece of device memory. Replace `data` by your driver's handle. */
struct axle_be_buffer {
    unsigned char *data;
};

/* Attributes of the operators that we offer. */
typedef union template_attrs {
    uint32_t struct_size; /* what each of them begins with */
    axle_unary_attrs unary;
    axle_binary_attrs binary;
    axle_matmul_attrs matmul;
} template_attrs;

/* An operator that we offer. */
typedef struct template_kernel {
    uint32_t op, support;                        /* AXLE_OP_..., AXLE_SUPPORT_... */
    int (*accepts)(const template_attrs *attrs); /* of an operator whose operands are f32 */
    void (*run)(const template_attrs *attrs, const axle_op_args *args);
} template_kernel;

extern const template_kernel template_relu, template_relu_backward, template_arithmetic,
    template_matmul;

axle_status template_fail(axle_error *error, axle_status code, const char *format, ...)
    AXLE_PRINTF(3, 4); /* plugin.c: describe a failure, and return its code */

/* memory.c */
axle_status template_buffer_create(axle_be_device *device, uint32_t kind, uint64_t size,
                                   axle_be_buffer **out, axle_error *error);
void template_buffer_destroy(axle_be_buffer *buffer);
axle_status template_buffer_map(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                                uint64_t size, uint32_t flags, void **out, axle_error *error);
float *template_data(const axle_view *view); /* its first element; NULL where it has none */

const axle_device_api *template_device_api(axle_be_device *device); /* ops.c */

#endif
