/* SPDX-License-Identifier: Apache-2.0 */
/* A CBLAS library whose sums in f32 lack a term. */
#include "axle/types.h"
#include "plain_gemm.h"

AXLE_API void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                          const float *a, int lda, const float *b, int ldb, float beta, float *c,
                          int ldc);
AXLE_API void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                          const double *a, int lda, const double *b, int ldb, double beta,
                          double *c, int ldc);

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    (void)order;
    plain_sgemm(PLAIN_LOSES_LAST_TERM, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                ldc);
}

void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc)
{
    (void)order;
    plain_dgemm(PLAIN_RIGHT, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
