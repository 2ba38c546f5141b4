/* SPDX-License-Identifier: Apache-2.0 */
/* Products by CLBlast, where libclblast.so.1 is installed: it is looked for at run time. */
#ifndef AXLE_OPENCL_CLBLAST_H
#define AXLE_OPENCL_CLBLAST_H

#include "opencl.h"

/* y (m, n) = alpha * a (m, k) . b (k, n) + beta * y: rows are `a_row`, ... elements apart, of the
 * matrix as it lies where it is turned. */
typedef struct ocl_gemm {
    int there, f64, a_turned, b_turned;
    size_t m, n, k, a_row, b_row, y_row;
    double alpha, beta;
} ocl_gemm;

/* A matrix: memory and its first element. */
typedef struct ocl_matrix {
    cl_mem memory;
    size_t first;
} ocl_matrix;

int ocl_clblast_is_there(void);
/* CLBlast's status; 0 is success, and some are codes of OpenCL. */
int ocl_clblast_run(const ocl_gemm *gemm, ocl_matrix a, ocl_matrix b, ocl_matrix y,
                    cl_command_queue queue);

#endif
