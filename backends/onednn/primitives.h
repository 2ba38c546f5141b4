/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that cpu_primitive_kernels lists. */
#ifndef AXLE_ONEDNN_PRIMITIVES_H
#define AXLE_ONEDNN_PRIMITIVES_H

#include "cpu.h"

extern const cpu_kernel cpu_matmul_direct;
extern const cpu_kernel cpu_matmul_dots;
extern const cpu_kernel cpu_matmul;
extern const cpu_kernel cpu_conv_narrow;
extern const cpu_kernel cpu_conv;
extern const cpu_kernel cpu_conv_backward_data;
extern const cpu_kernel cpu_conv_backward_weight;

#endif
