/* SPDX-License-Identifier: Apache-2.0 */
/* Results of operators over pictures (N, C, spatial...), which may be stored channels-last. */
#ifndef AXLE_TENSOR_LAYOUT_H
#define AXLE_TENSOR_LAYOUT_H

#include "tensor/tensor.h"

/* Whether a tensor is stored channels-last and not row-major as well. */
bool axle__is_channels_last(const axle_tensor *x);
/* A result of these dims in the given layout (AXLE_LAYOUT_*), of the current scope. */
axle_tensor *axle__picture_result(const char *who, axle_device *device, int dtype, int rank,
                                  const int64_t *dims, uint32_t layout);
/* AXLE_LAYOUT_* of a tensor. */
uint32_t axle__layout_of(const axle_tensor *x);

#endif
