/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the 2.x and 3.x series of oneDNN say differently; nothing outside compat.c asks which of
 * them it is. Version 2 keeps memory descriptors by value and describes an operation before it
 * makes a primitive descriptor of it; version 3 keeps pointers and has one step. Here memory
 * descriptors are pointers in both.
 */
#ifndef AXLE_ONEDNN_COMPAT_H
#define AXLE_ONEDNN_COMPAT_H

#include "axle/types.h"

#include <dnnl.h>

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t dnn_md;
typedef const_dnnl_memory_desc_t dnn_const_md;
#else
typedef dnnl_memory_desc_t *dnn_md;
typedef const dnnl_memory_desc_t *dnn_const_md;
#endif

/* Where the elements of an operand lie: by strides, or wherever oneDNN likes (`any`). */
typedef struct dnn_layout {
    int rank; /* 0: there is no such operand */
    int any;
    dnnl_data_type_t type;
    dnnl_dims_t dim, stride;
} dnn_layout;

/* One step applied to the result: dnnl_sum adds alpha times what the destination held, dnnl_eltwise
 * applies `algorithm`. */
typedef struct dnn_post_op {
    dnnl_primitive_kind_t kind;
    dnnl_alg_kind_t algorithm;
    float alpha, beta;
} dnn_post_op;

enum { DNN_MAX_POST_OPS = 4 };

typedef struct dnn_post_ops {
    int count;
    dnn_post_op op[DNN_MAX_POST_OPS];
} dnn_post_ops;

/* bias may have rank 0. */
typedef struct dnn_matmul_spec {
    dnn_layout src, weights, bias, dst;
    dnn_post_ops post;
    int skip; /* how many implementations to pass over, in oneDNN's order of preference */
} dnn_matmul_spec;

enum { DNN_CONV_FORWARD, DNN_CONV_BACKWARD_DATA, DNN_CONV_BACKWARD_WEIGHTS };

/* The three convolutions name their operands alike: src (N, C, in...), weights, bias, dst. */
typedef struct dnn_conv_spec {
    int kind;
    dnn_layout src, weights, bias, dst;
    dnnl_dims_t stride, dilation, pad_left, pad_right; /* dilation 0 is dense */
    dnn_post_ops post;
    int skip; /* as above */
} dnn_conv_spec;

/* Operands of a primitive, in the order in which all arrays name them. */
enum { DNN_SRC, DNN_WEIGHTS, DNN_BIAS, DNN_DST, DNN_OPERANDS };

/* The engine of this process, made by the first caller; NULL where oneDNN cannot serve. */
dnnl_engine_t dnn_engine(void);
/* Its stream, once there is an engine. */
dnnl_stream_t dnn_stream(void);
const char *dnn_isa_name(void);
/* Whether the CPU multiplies bf16 itself. */
int dnn_has_bf16(void);

dnnl_status_t dnn_md_create(const dnn_layout *layout, dnn_md *out);
dnnl_status_t dnn_md_clone(dnn_const_md md, dnn_md *out);
void dnn_md_destroy(dnn_md md);

dnnl_status_t dnn_post_op_append(dnnl_post_ops_t ops, const dnn_post_op *op);

/* Primitive descriptors; md has DNN_OPERANDS entries, NULL where there is no such operand. Backward
 * convolutions take the descriptor of their forward pass as a hint. */
dnnl_status_t dnn_matmul_desc(const dnn_matmul_spec *spec, dnn_md *md, dnnl_primitive_attr_t attr,
                              dnnl_primitive_desc_t *out);
dnnl_status_t dnn_conv_desc(const dnn_conv_spec *spec, dnn_md *md, dnnl_primitive_attr_t attr,
                            dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out);

#endif
