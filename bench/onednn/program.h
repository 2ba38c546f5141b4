/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence of oneDNN primitives and plain functions, built once and run many times. Errors stick:
 * once a step of building fails the rest does nothing, and program_status() tells.
 */
#ifndef AXLE_BENCH_ONEDNN_PROGRAM_H
#define AXLE_BENCH_ONEDNN_PROGRAM_H

#include <dnnl.h>
#include <stddef.h>

enum { PROGRAM_MAX_STEPS = 40, PROGRAM_MAX_MEMORIES = 80, PROGRAM_MAX_ARGS = 6 };

/* Version 2 keeps descriptors by value, version 3 behind pointers. */
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t program_desc;
#else
typedef const dnnl_memory_desc_t *program_desc;
#endif

typedef struct program program;

/* A function among the primitives. */
typedef void (*program_fn)(void *user);

program *program_create(void);
void program_release(program *p);
dnnl_status_t program_status(const program *p);
dnnl_status_t program_run(program *p);

/* Zeroed memory that the program owns; NULL once building failed. */
float *program_floats(program *p, size_t count);
/* A tensor of f32. With data NULL the program allocates it. Descriptors live as long as the
 * program. */
dnnl_memory_t program_tensor(program *p, int rank, const dnnl_dim_t *dims, dnnl_format_tag_t tag,
                             float *data);
/* A descriptor alone; dnnl_format_tag_any is allowed. */
program_desc program_layout(program *p, int rank, const dnnl_dim_t *dims, dnnl_format_tag_t tag);
program_desc program_desc_of(program *p, dnnl_memory_t memory);
void *program_data(program *p, dnnl_memory_t memory);
/* Memory for an operand of a primitive in the layout that the primitive wants. */
dnnl_memory_t program_operand(program *p, dnnl_primitive_desc_t desc, dnnl_query_t query);

/* `relu` applies relu to the result. bias NULL: none. Layouts may be `any`. */
dnnl_primitive_desc_t program_matmul(program *p, program_desc src, program_desc weights,
                                     program_desc bias, program_desc dst, int relu);
/* 5x5 kernels, stride 1, padding 2, then relu. */
dnnl_primitive_desc_t program_conv_forward(program *p, program_desc src, program_desc weights,
                                           program_desc bias, program_desc dst);
dnnl_primitive_desc_t program_conv_data(program *p, program_desc src, program_desc weights,
                                        program_desc dst, dnnl_primitive_desc_t forward);
dnnl_primitive_desc_t program_conv_weights(program *p, program_desc src, program_desc weights,
                                           program_desc bias, program_desc dst,
                                           dnnl_primitive_desc_t forward);
/* Maximum over 2x2, stride 2. */
dnnl_primitive_desc_t program_pool_forward(program *p, program_desc src, program_desc dst);
dnnl_primitive_desc_t program_pool_backward(program *p, program_desc src, program_desc dst,
                                            dnnl_primitive_desc_t forward);
/* Gradient of relu, from its result. */
dnnl_primitive_desc_t program_relu_backward(program *p, program_desc data);

typedef struct program_arg {
    int arg;
    dnnl_memory_t memory;
} program_arg;

/* Append a step that runs the primitive with the arguments, ended by {0, NULL}. */
void program_add(program *p, dnnl_primitive_desc_t desc, const program_arg *args);
/* Append a copy from one layout to another; none if the layouts are equal and memory is the same.
 */
void program_add_reorder(program *p, dnnl_memory_t from, dnnl_memory_t to);
void program_add_function(program *p, program_fn fn, void *user);

#endif
