/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A oneDNN primitive in two stages: a plan says what to run and what that needs, which is cheap;
 * compiling it generates the code. A compiled plan runs with pointers.
 */
#ifndef AXLE_ONEDNN_PLAN_H
#define AXLE_ONEDNN_PLAN_H

#include "axle/backend.h"
#include "compat.h"

typedef struct dnn_plan dnn_plan;

dnnl_status_t dnn_plan_matmul(const dnn_matmul_spec *spec, dnn_plan **out);
dnnl_status_t dnn_plan_conv(const dnn_conv_spec *spec, dnn_plan **out);

/* A copy between two layouts, and between a layout and the one that `plan` chose for an operand, in
 * either direction. */
dnnl_status_t dnn_plan_reorder(const dnn_layout *from, const dnn_layout *to, dnn_plan **out);
dnnl_status_t dnn_plan_reorder_to(const dnn_layout *from, const dnn_plan *plan, int operand,
                                  dnn_plan **out);
dnnl_status_t dnn_plan_reorder_from(const dnn_plan *plan, int operand, const dnn_layout *to,
                                    dnn_plan **out);

void dnn_plan_release(dnn_plan *plan);

const char *dnn_plan_impl(const dnn_plan *plan);
/* Whether oneDNN would run plain C++ code, which is slower by orders of magnitude. */
int dnn_plan_is_slow(const dnn_plan *plan);
/* Bytes of scratch memory that a run needs. */
uint64_t dnn_plan_scratch(const dnn_plan *plan);
/* Bytes of an operand, and whether it lies as `layout` says. */
uint64_t dnn_plan_size(const dnn_plan *plan, int operand);
int dnn_plan_matches(const dnn_plan *plan, int operand, const dnn_layout *layout);

/* Generate the code. A plan must be compiled before it runs. */
dnnl_status_t dnn_plan_compile(dnn_plan *plan);
/* May be called from several threads at once. A reorder goes from DNN_SRC to DNN_DST. `data` has
 * DNN_OPERANDS pointers, `scratch` dnn_plan_scratch() bytes aligned to 64. */
dnnl_status_t dnn_run(dnn_plan *plan, void *const *data, void *scratch);

/* The AXLE_* code that says what a dnnl_status_t means. */
axle_status dnn_axle_status(dnnl_status_t status);

#endif
