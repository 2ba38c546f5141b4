/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large products on the device that AXLE_BACKEND names: kernels are chosen by how far apart rows
 * are. Sums of integers are exact.
 */
#include "axle/axle.h"
#include "unit.h"

enum { ROWS = 264, INNER = 256, MOST = 3 };

/* Integers from -MOST to MOST in an order of no pattern. */
static axle_tensor *integers(int64_t rows, int64_t columns, float *values)
{
    uint32_t state = (uint32_t)(rows * 31 + columns);
    for (int64_t k = 0; k < rows * columns; k++) {
        state = state * 1664525u + 1013904223u;
        values[k] = (float)((state >> 16) % (2 * MOST + 1)) - MOST;
    }
    return axle_from_data(AXLE_DTYPE_F32, AXLE_DIMS(rows, columns), values);
}

/* a (ROWS, INNER) . b (INNER, columns). */
static void check_product(int64_t columns)
{
    float *a = calloc(ROWS * INNER, sizeof(*a)), *b = calloc((size_t)(INNER * columns), sizeof(*b));
    float *y = calloc((size_t)(ROWS * columns), sizeof(*y));
    assert_true(a && b && y);
    axle_tensor *left = integers(ROWS, INNER, a), *right = integers(INNER, columns, b);
    axle_tensor *product = axle_matmul(left, right);
    assert_int_equal(axle_tensor_read(product, y, (size_t)(ROWS * columns) * sizeof(*y)), AXLE_OK);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < columns; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < INNER; k++)
                sum += a[i * INNER + k] * b[k * columns + j];
            if (y[i * columns + j] != sum)
                fail_msg("element (%d, %d) is %g, not %g", (int)i, (int)j,
                         (double)y[i * columns + j], (double)sum);
        }
    free(a);
    free(b);
    free(y);
}

static void rows_a_page_apart(void **state)
{
    (void)state;
    check_product(1024);
}

static void rows_not_quite_a_page_apart(void **state)
{
    (void)state;
    check_product(1023);
}

static int open_device(void **state)
{
    (void)state;
    return axle_scope_push();
}

static int close_device(void **state)
{
    (void)state;
    axle_scope_pop();
    return axle_error_code();
}

#define ON_DEVICE(sentence, function)                                                              \
    {                                                                                              \
        sentence, function, open_device, close_device, NULL                                        \
    }

static const struct CMUnitTest tests[] = {
    ON_DEVICE("rows that lie whole pages apart", rows_a_page_apart),
    ON_DEVICE("rows that do not", rows_not_quite_a_page_apart),
};
UNIT_MAIN(tests)
