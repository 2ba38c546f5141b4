/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions without gradients; results belong to the current scope. */
#ifndef AXLE_TENSOR_REDUCE_H
#define AXLE_TENSOR_REDUCE_H

#include "tensor/run.h"

const char *axle__reduce_name(uint32_t kind);
/* Reduce the dims of `mask`. */
axle_tensor *axle__reduce(uint32_t kind, uint32_t mask, bool keepdim, double parameter,
                          axle_tensor *x);
/* The same into y, which has x's rank with 1 at the dims of `mask`. */
int axle__reduce_into(uint32_t kind, uint32_t mask, double parameter, const axle_tensor *x,
                      axle_tensor *y);
axle_tensor *axle__arg_reduce(uint32_t kind, int dim, bool keepdim, axle_tensor *x);
/* Sum a gradient over the dims along which something of these dims was repeated; g itself where
 * none. */
axle_tensor *axle__sum_to(axle_tensor *g, int rank, const int64_t *dims);
/* Dims and strides of a view over the same storage; of the current scope. */
axle_tensor *axle__reviewed(axle_tensor *x, int rank, const int64_t *dims, const int64_t *strides);

#endif
