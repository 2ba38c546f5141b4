/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CBLAS library. It is opened when a device is, not linked: libraries such as OpenBLAS start
 * threads as soon as they are loaded, and most programs only look whether the backend is there.
 */
#ifndef AXLE_OPENBLAS_LIBRARY_H
#define AXLE_OPENBLAS_LIBRARY_H

#include "blas.h"

/* Values of CBLAS's enumerations, which all libraries share. */
enum { BLAS_ROW_MAJOR = 101, BLAS_NO_TRANS = 111, BLAS_TRANS = 112 };

typedef void (*blas_sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                              const float *a, int lda, const float *b, int ldb, float beta,
                              float *c, int ldc);
typedef void (*blas_dgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k,
                              double alpha, const double *a, int lda, const double *b, int ldb,
                              double beta, double *c, int ldc);

struct blas_library {
    const char *name;
    blas_sgemm_fn sgemm;
    blas_dgemm_fn dgemm;
    void (*set_threads)(int count); /* NULL: the library has no such function */
    char advice[256];               /* what its user should know, or "" */
};

/* The name or path that would be opened: the option openblas.library, else what configure found. */
const char *blas_library_name(const axle_host *host);

/* The library of this process, opened and checked at the first call. What failed once fails again,
 * for the same reason. */
axle_status blas_library_open(const axle_host *host, const blas_library **out, axle_error *error);

/* Log the library's advice, once. */
void blas_library_advise(const axle_host *host, const blas_library *library);

#endif
