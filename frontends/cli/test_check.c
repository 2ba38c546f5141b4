/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of axle test share: numbers in, numbers out, and comparing them. */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static void note(char *text, const char *format, va_list list)
{
    if (!*text)
        vsnprintf(text, TEST_TEXT, format, list);
}

void test_wrong(self_test *test, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    note(test->wrong, format, list);
    va_end(list);
}

void test_detail(self_test *test, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    note(test->detail, format, list);
    va_end(list);
}

/* Numbers as a tensor of the host. */
static axle_tensor *on_host(int dtype, int rank, const int64_t *dims, const double *values)
{
    if (axle_device_push(axle_device_host()))
        return NULL;
    axle_tensor *tensor = axle_cast(axle_from_data(AXLE_DTYPE_F64, rank, dims, values), dtype);
    axle_device_pop();
    return tensor;
}

axle_tensor *test_tensor(const self_test *test, int dtype, int rank, const int64_t *dims,
                         const double *values)
{
    axle_tensor *tensor = on_host(dtype, rank, dims, values);
    return axle_device_supports(test->device, dtype) ? axle_to_device(tensor, test->device)
                                                     : tensor;
}

int test_numbers(axle_tensor *tensor, double **out)
{
    int64_t count = tensor ? axle_tensor_count(tensor) : 0;
    axle_tensor *wide = axle_cast(axle_to_device(tensor, axle_device_host()), AXLE_DTYPE_F64);
    if (!wide)
        return axle_error_code();
    double *numbers = malloc((size_t)(count + 1) * sizeof(*numbers));
    if (!numbers)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    int code = axle_tensor_read(wide, numbers, (size_t)count * sizeof(*numbers));
    if (code)
        free(numbers);
    else
        *out = numbers;
    return code;
}

/* Numbers as the type holds them; for free(). */
static int rounded(int dtype, const double *values, int64_t count, double **out)
{
    int code = axle_scope_push();
    if (code)
        return code;
    code = test_numbers(on_host(dtype, 1, &count, values), out);
    axle_scope_pop();
    return code;
}

static void compare(self_test *test, const char *what, const double *got, const double *expected,
                    int64_t count, double tolerance)
{
    for (int64_t k = 0; k < count; k++) {
        double size = fabs(expected[k]) > 1.0 ? fabs(expected[k]) : 1.0;
        if (fabs(got[k] - expected[k]) <= tolerance * size)
            continue;
        test_wrong(test, "%s: element %lld of %lld is %.17g instead of %.17g", what, (long long)k,
                   (long long)count, got[k], expected[k]);
        return;
    }
}

int test_expect(self_test *test, const char *what, axle_tensor *got, const double *expected,
                int64_t count, double tolerance)
{
    double *numbers = NULL, *right = NULL;
    if (!got)
        return axle_error_code();
    if (axle_tensor_count(got) != count) {
        test_wrong(test, "%s: %lld elements instead of %lld", what,
                   (long long)axle_tensor_count(got), (long long)count);
        return AXLE_OK;
    }
    int code = test_numbers(got, &numbers);
    if (!code)
        code = rounded(axle_tensor_dtype(got), expected, count, &right);
    if (!code)
        compare(test, what, numbers, right, count, tolerance);
    free(numbers);
    free(right);
    return code;
}

/* Two halves, which f64 holds exactly, of each process. */
int test_same(self_test *test, const char *what, uint64_t number)
{
    const double halves[2] = {(double)(number >> 32), (double)(number & 0xffffffffu)};
    double *all = NULL;
    axle_tensor *own = on_host(AXLE_DTYPE_F64, AXLE_DIMS(1, 2), halves);
    int code = test_numbers(axle_all_gather(test->group, own), &all);
    for (int k = 1; k < test->size && !code; k++)
        if (all[2 * k] != all[0] || all[2 * k + 1] != all[1])
            test_wrong(test, "%s: rank %d has %08llx%08llx, rank 0 has %08llx%08llx", what, k,
                       (unsigned long long)all[2 * k], (unsigned long long)all[2 * k + 1],
                       (unsigned long long)all[0], (unsigned long long)all[1]);
    free(all);
    return code;
}
