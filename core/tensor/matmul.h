/* SPDX-License-Identifier: Apache-2.0 */
/* Products of views, without gradients. */
#ifndef AXLE_TENSOR_MATMUL_H
#define AXLE_TENSOR_MATMUL_H

#include "tensor/run.h"

/* A view with two dims swapped. */
axle_view axle__view_swapped(const axle_view *view, int a, int b);

/* y = activation(a . b + bias): a (..., M, K), b (..., K, N), y (..., M, N) of one rank; a and b
 * broadcast over the leading dims; bias NULL or broadcast to y. Merges leading dims where it can.
 */
int axle__product(axle_device *device, const axle_view *a, const axle_view *b,
                  const axle_view *bias, const axle_view *y, uint32_t activation);

#endif
