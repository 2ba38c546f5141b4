/* SPDX-License-Identifier: Apache-2.0 */
/* Products as plain loops, and the mistakes that they can be told to make. */
#ifndef AXLE_TESTS_PLAIN_GEMM_H
#define AXLE_TESTS_PLAIN_GEMM_H

#include <stddef.h>

typedef enum plain_defect {
    PLAIN_RIGHT,
    PLAIN_IGNORES_TRANS_A, /* of a square operand */
    PLAIN_IGNORES_TRANS_B,
    PLAIN_IGNORES_ALPHA,
    PLAIN_IGNORES_BETA,
    PLAIN_KEEPS_NAN,           /* beta = 0 multiplies what is there */
    PLAIN_LOSES_LAST_TERM,     /* of sums of more than eight */
    PLAIN_LOSES_LAST_ROW,      /* where rows are no multiple of four */
    PLAIN_LOSES_LAST_COLUMN,   /* of more than 64 */
    PLAIN_WRITES_BEHIND_A_ROW, /* as if ldc were the row's length rounded up */
    PLAIN_DEFECTS
} plain_defect;

/* Element (row, column) of an operand. */
#define PLAIN_AT(x, trans, row, column, ld)                                                        \
    (x)[(size_t)((trans) ? (column) : (row)) * (size_t)(ld) + (size_t)((trans) ? (row) : (column))]

#define PLAIN_DEFINE(NAME, TYPE)                                                                   \
    static inline void NAME(plain_defect defect, int trans_a, int trans_b, int m, int n, int k,    \
                            TYPE alpha, const TYPE *a, int lda, const TYPE *b, int ldb, TYPE beta, \
                            TYPE *c, int ldc)                                                      \
    {                                                                                              \
        const int ta = trans_a == 112 && !(defect == PLAIN_IGNORES_TRANS_A && m == k);             \
        const int tb = trans_b == 112 && !(defect == PLAIN_IGNORES_TRANS_B && k == n);             \
        const int terms = defect == PLAIN_LOSES_LAST_TERM && k > 8 ? k - 1 : k;                    \
        const int rows = defect == PLAIN_LOSES_LAST_ROW && m % 4 ? m - 1 : m;                      \
        const int columns = defect == PLAIN_LOSES_LAST_COLUMN && n > 64 ? n - 1 : n;               \
        for (int i = 0; i < rows; i++)                                                             \
            for (int j = 0; j < columns; j++) {                                                    \
                TYPE sum = 0, *to = c + (size_t)i * (size_t)ldc + (size_t)j;                       \
                for (int l = 0; l < terms; l++)                                                    \
                    sum += PLAIN_AT(a, ta, i, l, lda) * PLAIN_AT(b, tb, l, j, ldb);                \
                if (defect != PLAIN_IGNORES_ALPHA)                                                 \
                    sum *= alpha;                                                                  \
                if (beta != 0 || defect == PLAIN_KEEPS_NAN)                                        \
                    sum += (defect == PLAIN_IGNORES_BETA ? 1 : beta) * *to;                        \
                *to = sum;                                                                         \
            }                                                                                      \
        if (defect == PLAIN_WRITES_BEHIND_A_ROW && n % 2 && ldc > n)                               \
            c[n] = 0;                                                                              \
    }

PLAIN_DEFINE(plain_sgemm, float)
PLAIN_DEFINE(plain_dgemm, double)

#endif
