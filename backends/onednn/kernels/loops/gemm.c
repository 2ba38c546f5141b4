/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of small matrices that lie in the cache. A tile of C is held in registers while A and B
 * pass by: rows of B as vectors, elements of A repeated over a vector.
 */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"

enum { V = LOOP_VECTOR };
typedef float vector __attribute__((vector_size(4 * LOOP_VECTOR)));

#if LOOP_LEVEL == 2
enum { ROWS = 8 };
#else
enum { ROWS = 4 };
#endif

INLINE vector load(const float *from)
{
    vector v;
    memcpy(&v, from, sizeof(v));
    return v;
}

INLINE void store(float *to, vector v)
{
    memcpy(to, &v, sizeof(v));
}

/* C[i .. i + rows)[j .. j + columns * V); both counts are constants of the caller. */
INLINE void tile(const gemm_call *call, int64_t i, int64_t j, const int rows, const int columns)
{
    const float *a = call->a + i * call->a_row, *b = call->b + j;
    float *c = call->c + i * call->ldc + j;
    vector sum[ROWS][2];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int q = 0; q < columns; q++)
            sum[r][q] = call->accumulate ? load(c + r * call->ldc + q * V) : (vector){0};
    for (int64_t p = 0; p < call->k; p++) {
        vector right[2];
#pragma GCC unroll 2
        for (int q = 0; q < columns; q++)
            right[q] = load(b + q * V);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            const vector left = a[r * call->a_row] - (vector){0};
#pragma GCC unroll 2
            for (int q = 0; q < columns; q++)
                sum[r][q] += left * right[q];
        }
        a += call->a_col;
        b += call->ldb;
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int q = 0; q < columns; q++)
            store(c + r * call->ldc + q * V, sum[r][q]);
}

INLINE void row_of_tiles(const gemm_call *call, int64_t i, const int rows)
{
    int64_t j = 0;
    for (; j + 2 * V <= call->n; j += 2 * V)
        tile(call, i, j, rows, 2);
    for (; j < call->n; j += V)
        tile(call, i, j, rows, 1);
}

/* What stands behind a zero of A is not looked at, be it NaN. */
static void run_skipping(const gemm_call *call)
{
    for (int64_t i = 0; i < call->m; i++) {
        float *c = call->c + i * call->ldc;
        if (!call->accumulate)
            memset(c, 0, sizeof(float) * (size_t)call->n);
        for (int64_t p = 0; p < call->k; p++) {
            const float a = call->a[i * call->a_row + p * call->a_col];
            const float *b = call->b + p * call->ldb;
            if (a == 0.0f)
                continue;
            SIMD for (int64_t j = 0; j < call->n; j++) c[j] += a * b[j];
        }
    }
}

static void run(const gemm_call *call)
{
    int64_t i = 0;
    if (call->skip_zeros) {
        run_skipping(call);
        return;
    }
    for (; i + ROWS <= call->m; i += ROWS)
        row_of_tiles(call, i, ROWS);
    for (; i + 2 <= call->m; i += 2)
        row_of_tiles(call, i, 2);
    for (; i < call->m; i++)
        row_of_tiles(call, i, 1);
}

const struct gemm_loops LOOP(cpu_gemm_loops) = {.run = run};
#endif
LOOP_END;
