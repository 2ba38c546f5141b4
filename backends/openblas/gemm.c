/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

int blas_is_by_rows(int64_t rows, int64_t columns, int64_t row, int64_t column)
{
    return (columns <= 1 || column == 1) && (rows <= 1 || (row >= columns && row <= INT_MAX));
}

int blas_is_plain(int64_t rows, int64_t columns, int64_t row, int64_t column)
{
    return blas_is_by_rows(rows, columns, row, column) ||
           blas_is_by_rows(columns, rows, column, row);
}

/* How CBLAS is told of a matrix. */
typedef struct stored {
    int trans, ld;
} stored;

static stored stored_as(const blas_matrix *x, int64_t rows, int64_t columns)
{
    if (blas_is_by_rows(rows, columns, x->row, x->column))
        return (stored){BLAS_NO_TRANS, (int)(rows > 1 ? x->row : columns)};
    return (stored){BLAS_TRANS, (int)(columns > 1 ? x->column : rows)};
}

/* The number of threads of an OpenBLAS with OpenMP belongs to the thread that sets it. */
static void stay_on_this_thread(const blas_library *library)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static _Thread_local int told;
    if (told || !library->set_threads)
        return;
    pthread_mutex_lock(&lock);
    library->set_threads(1);
    pthread_mutex_unlock(&lock);
    told = 1;
}

static void make_zero(const blas_product *p)
{
    const uint64_t size = blas_size(p->dtype);
    for (int64_t i = 0; i < p->m; i++)
        memset((char *)p->c + (uint64_t)(i * p->ldc) * size, 0, (uint64_t)p->n * size);
}

void blas_gemm(const blas_library *library, const blas_product *p)
{
    if (p->m == 0 || p->n == 0)
        return;
    if (p->k == 0) {
        if (p->beta == 0)
            make_zero(p);
        return;
    }
    stay_on_this_thread(library);
    const stored a = stored_as(&p->a, p->m, p->k), b = stored_as(&p->b, p->k, p->n);
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int ldc = (int)(m > 1 ? p->ldc : n);
    if (p->dtype == AXLE_DTYPE_F64)
        library->dgemm(BLAS_ROW_MAJOR, a.trans, b.trans, m, n, k, p->alpha, p->a.data, a.ld,
                       p->b.data, b.ld, p->beta, p->c, ldc);
    else
        library->sgemm(BLAS_ROW_MAJOR, a.trans, b.trans, m, n, k, (float)p->alpha, p->a.data, a.ld,
                       p->b.data, b.ld, (float)p->beta, p->c, ldc);
}
