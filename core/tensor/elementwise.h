/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise operators without gradients. Results belong to the current scope; a result's layout
 * follows its operands where they are dense, so that channels-last data stays so.
 */
#ifndef AXLE_TENSOR_ELEMENTWISE_H
#define AXLE_TENSOR_ELEMENTWISE_H

#include "tensor/run.h"

/* Run an elementwise call over `out` and n inputs that broadcast to it. `ordered`: elements are
 * numbered (random draws), so dims may not be reordered. */
int axle__elementwise(axle__call *call, axle_tensor *out, axle_tensor *const *in, int n,
                      bool ordered);
/* A tensor for the result: dims as given, layout that of the first input of those dims that is
 * dense. */
axle_tensor *axle__elementwise_result(const char *who, int dtype, int rank, const int64_t *dims,
                                      axle_tensor *const *in, int n);

/* What UNARY_BACKWARD needs of a kind: 'X', 'Y', 'N' neither; 'Z' zero gradient, 'B' boolean
 * result. */
char axle__unary_saves(uint32_t kind);
const char *axle__unary_name(uint32_t kind);
bool axle__binary_is_boolean(uint32_t kind);
const char *axle__binary_name(uint32_t kind);

axle_tensor *axle__unary(uint32_t kind, double alpha, double beta, axle_tensor *x);
axle_tensor *axle__unary_backward(uint32_t kind, double alpha, double beta, axle_tensor *dy,
                                  axle_tensor *saved);
axle_tensor *axle__binary(uint32_t kind, double alpha, axle_tensor *a, axle_tensor *b);
/* a + alpha * b written to a, which b broadcasts to. */
int axle__add_into(axle_tensor *a, axle_tensor *b, double alpha);
axle_tensor *axle__choose(axle_tensor *condition, axle_tensor *a, axle_tensor *b);

/* Copy values; dims are equal, dtypes and devices may differ. */
int axle__copy_into(axle_tensor *to, const axle_tensor *from);
int axle__fill(axle_tensor *tensor, double value);
/* Rank 0, in the dtype and on the device of another tensor. */
axle_tensor *axle__constant(const axle_tensor *like, double value);
/* A row-major copy with that dtype. */
axle_tensor *axle__copy(const char *who, axle_tensor *x, int dtype);
/* x, or a row-major copy where it is not row-major. */
axle_tensor *axle__row_major(const char *who, axle_tensor *x);

#endif
