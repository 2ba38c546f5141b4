/* SPDX-License-Identifier: Apache-2.0 */
/* All OpenMP kernels. */
#include "kernel.h"

const cpu_kernel *const cpu_openmp_kernels[] = {
#define KERNEL_ENTRY(name) &cpu_kernel_##name,
    KERNEL_LIST(KERNEL_ENTRY)
#undef KERNEL_ENTRY
        NULL,
};
