/* SPDX-License-Identifier: Apache-2.0 */
#include "primitives.h"

/* Special cases stand before the primitive that would serve them, too. */
const cpu_kernel *const cpu_primitive_kernels[] = {
    &cpu_matmul_direct,      &cpu_matmul_dots,          &cpu_matmul, &cpu_conv_narrow, &cpu_conv,
    &cpu_conv_backward_data, &cpu_conv_backward_weight, NULL,
};
