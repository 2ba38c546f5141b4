/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices of many shapes, as they lie and transposed, compared with sums in f64 on
 * the device that AXLE_BACKEND names. Prints the shape of each that is wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "axle/axle.h"

enum { MOST = 421 * 421, MATRICES = 3 };

typedef struct matrix {
    int rows, columns, turned;
    float at[MOST];
} matrix;

static float element(const matrix *m, int row, int column)
{
    return m->turned ? m->at[column * m->rows + row] : m->at[row * m->columns + column];
}

static void fill(matrix *m, int rows, int columns, int turned)
{
    m->rows = rows;
    m->columns = columns;
    m->turned = turned;
    for (int i = 0; i < rows * columns; i++)
        m->at[i] = (float)rand() / (float)RAND_MAX - 0.5f;
}

static axle_tensor *tensor_of(const matrix *m)
{
    if (!m->turned)
        return axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(m->rows, m->columns), m->at);
    return axle_transpose(axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(m->columns, m->rows), m->at), 0,
                          1);
}

static double worst(const matrix *a, const matrix *b, const float *y)
{
    double most = 0;
    for (int i = 0; i < a->rows; i++)
        for (int j = 0; j < b->columns; j++) {
            double sum = 0;
            for (int k = 0; k < a->columns; k++)
                sum += (double)element(a, i, k) * element(b, k, j);
            const double off = fabs(sum - y[i * b->columns + j]);
            most = off <= most ? most : off;
        }
    return most;
}

static int check(int m, int k, int n, int turned)
{
    static matrix a, b;
    static float y[MOST];
    fill(&a, m, k, turned & 1);
    fill(&b, k, n, turned >> 1);
    axle_scope_push();
    axle_tensor *product = axle_matmul(tensor_of(&a), tensor_of(&b));
    const int code =
        product ? axle_tensor_read(product, y, (size_t)(m * n) * sizeof(float)) : axle_error_code();
    axle_scope_pop();
    if (code)
        return printf("%dx%dx%d: %s\n", m, k, n, axle_error_message());
    const double off = worst(&a, &b, y);
    return off < 1e-5 ? 0 : printf("%dx%dx%d, turned %d: off by %g\n", m, k, n, turned, off);
}

int main(void)
{
    static const int shapes[][MATRICES] = {
        {1, 1, 1},       {64, 64, 64}, {65, 33, 17},    {100, 7, 130}, {1, 200, 50},
        {300, 300, 300}, {19, 1, 300}, {256, 256, 257}, {8, 301, 32},  {420, 421, 421}};
    int failed = 0;
    axle_no_grad_push();
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        for (int turned = 0; turned < 4; turned++)
            failed |= check(shapes[s][0], shapes[s][1], shapes[s][2], turned) != 0;
    axle_no_grad_pop();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
