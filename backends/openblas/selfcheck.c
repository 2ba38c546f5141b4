/* SPDX-License-Identifier: Apache-2.0 */
#include "selfcheck.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Rows and columns are this much longer in memory than they are. */
enum { GAP = 3 };

/* Sizes around the tiles of kernels, which are powers of two and three times those, and some that
 * leave a rest in every direction. Large enough, too, for libraries that have kernels of their own
 * for small products. */
static const int sizes[][3] = {
    {1, 1, 1},     {2, 3, 4},    {1, 17, 5},   {17, 1, 33},   {8, 8, 8},
    {16, 4, 1},    {31, 29, 37}, {48, 33, 65}, {33, 40, 384}, {129, 3, 520},
    {96, 101, 49}, {3, 515, 64}, {515, 3, 9},
};

static const double factors[][2] = {{1, 0}, {2, 0}, {1, 1}, {-1, 3}}; /* alpha, beta */

typedef struct trial {
    const blas_library *library;
    uint32_t dtype;
    int trans_a, trans_b, m, n, k, lda, ldb, ldc;
    double alpha, beta;
    double *a, *b, *c, *before; /* as f64; c is what the library gave */
    float *a32, *b32, *c32;
} trial;

/* Whole numbers from -4 to 4 in no order. */
static double number(uint32_t seed, uint32_t i)
{
    uint32_t x = (i + 1) * UINT32_C(2654435761) + seed * UINT32_C(40503);
    x ^= x >> 15;
    x *= UINT32_C(2246822519);
    x ^= x >> 13;
    return (double)(x % 9) - 4;
}

static size_t count_a(const trial *t)
{
    return (size_t)(t->trans_a == BLAS_TRANS ? t->k : t->m) * (size_t)t->lda;
}

static size_t count_b(const trial *t)
{
    return (size_t)(t->trans_b == BLAS_TRANS ? t->n : t->k) * (size_t)t->ldb;
}

static size_t count_c(const trial *t)
{
    return (size_t)t->m * (size_t)t->ldc;
}

/* What c holds must have no influence where beta is 0, and what lies in the gaps never. */
static void fill(trial *t)
{
    for (size_t i = 0; i < count_a(t); i++) {
        const size_t width = (size_t)t->lda - GAP;
        t->a[i] = i % (size_t)t->lda < width ? number(1, (uint32_t)i) : NAN;
        t->a32[i] = (float)t->a[i];
    }
    for (size_t i = 0; i < count_b(t); i++) {
        const size_t width = (size_t)t->ldb - GAP;
        t->b[i] = i % (size_t)t->ldb < width ? number(2, (uint32_t)i) : NAN;
        t->b32[i] = (float)t->b[i];
    }
    for (size_t i = 0; i < count_c(t); i++) {
        const int inside = i % (size_t)t->ldc < (size_t)t->n;
        t->before[i] = inside ? number(3, (uint32_t)i) : 77;
        if (inside && t->beta == 0)
            t->before[i] = NAN;
        t->c[i] = t->before[i];
        t->c32[i] = (float)t->before[i];
    }
}

static void multiply(trial *t)
{
    if (t->dtype == AXLE_DTYPE_F64) {
        t->library->dgemm(BLAS_ROW_MAJOR, t->trans_a, t->trans_b, t->m, t->n, t->k, t->alpha, t->a,
                          t->lda, t->b, t->ldb, t->beta, t->c, t->ldc);
        return;
    }
    t->library->sgemm(BLAS_ROW_MAJOR, t->trans_a, t->trans_b, t->m, t->n, t->k, (float)t->alpha,
                      t->a32, t->lda, t->b32, t->ldb, (float)t->beta, t->c32, t->ldc);
    for (size_t i = 0; i < count_c(t); i++)
        t->c[i] = (double)t->c32[i];
}

static double expected(const trial *t, int i, int j)
{
    const size_t at = (size_t)i * (size_t)t->ldc + (size_t)j;
    if (j >= t->n)
        return t->before[at];
    double sum = 0;
    for (int k = 0; k < t->k; k++) {
        const double a = t->trans_a == BLAS_TRANS ? t->a[(size_t)k * (size_t)t->lda + (size_t)i]
                                                  : t->a[(size_t)i * (size_t)t->lda + (size_t)k];
        const double b = t->trans_b == BLAS_TRANS ? t->b[(size_t)j * (size_t)t->ldb + (size_t)k]
                                                  : t->b[(size_t)k * (size_t)t->ldb + (size_t)j];
        sum += a * b;
    }
    return t->alpha * sum + (t->beta != 0 ? t->beta * t->before[at] : 0);
}

static axle_status compare(const trial *t, axle_error *error)
{
    for (int i = 0; i < t->m; i++)
        for (int j = 0; j < t->ldc; j++) {
            const double right = expected(t, i, j);
            const double got = t->c[(size_t)i * (size_t)t->ldc + (size_t)j];
            if (got == right)
                continue;
            return blas_fail(error, AXLE_ERR_DEVICE,
                             "openblas: %s computes %g instead of %g in a product of integers "
                             "(cblas_%cgemm, m %d, n %d, k %d, a%s, b%s, alpha %g, beta %g, "
                             "element %d, %d); it is not used",
                             t->library->name, got, right, t->dtype == AXLE_DTYPE_F64 ? 'd' : 's',
                             t->m, t->n, t->k, t->trans_a == BLAS_TRANS ? " transposed" : "",
                             t->trans_b == BLAS_TRANS ? " transposed" : "", t->alpha, t->beta, i,
                             j);
        }
    return AXLE_OK;
}

static axle_status allocate(trial *t, axle_error *error)
{
    const size_t a = count_a(t), b = count_b(t), c = count_c(t);
    double *wide = malloc((a + b + 2 * c) * sizeof(double));
    float *narrow = malloc((a + b + c) * sizeof(float));
    if (!wide || !narrow) {
        free(wide);
        free(narrow);
        return blas_fail(error, AXLE_ERR_NOMEM, "openblas: no memory to check %s",
                         t->library->name);
    }
    t->a = wide;
    t->b = t->a + a;
    t->c = t->b + b;
    t->before = t->c + c;
    t->a32 = narrow;
    t->b32 = t->a32 + a;
    t->c32 = t->b32 + b;
    return AXLE_OK;
}

static axle_status check_one(trial *t, axle_error *error)
{
    t->lda = (t->trans_a == BLAS_TRANS ? t->m : t->k) + GAP;
    t->ldb = (t->trans_b == BLAS_TRANS ? t->k : t->n) + GAP;
    t->ldc = t->n + GAP;
    axle_status status = allocate(t, error);
    if (status != AXLE_OK)
        return status;
    fill(t);
    multiply(t);
    status = compare(t, error);
    free(t->a);
    free(t->a32);
    return status;
}

/* Every size meets every combination of types and transposes, and each factor in turn. */
axle_status blas_selfcheck(const blas_library *library, axle_error *error)
{
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), COMBINATIONS = 8 };
    if (library->set_threads)
        library->set_threads(1);
    for (int k = 0; k < SIZES * COMBINATIONS; k++) {
        const int *size = sizes[k / COMBINATIONS];
        const double *factor = factors[(k + k / COMBINATIONS) % 4];
        trial t = {.library = library,
                   .dtype = k & 4 ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32,
                   .trans_a = k & 1 ? BLAS_TRANS : BLAS_NO_TRANS,
                   .trans_b = k & 2 ? BLAS_TRANS : BLAS_NO_TRANS,
                   .m = size[0],
                   .n = size[1],
                   .k = size[2],
                   .alpha = factor[0],
                   .beta = factor[1]};
        const axle_status status = check_one(&t, error);
        if (status != AXLE_OK)
            return status;
    }
    return AXLE_OK;
}
