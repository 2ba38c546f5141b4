/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of tensors share. Each test runs in a scope of its own on the host's device; when it
 * ends no error may be left over, no scope open and no memory held.
 */
#ifndef AXLE_TESTS_UNIT_TENSORS_H
#define AXLE_TESTS_UNIT_TENSORS_H

#include <math.h>
#include <stdbool.h>

#include "axle/axle.h"
#include "unit.h"

static inline uint64_t tensors_bytes(void)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    assert_int_equal(axle_device_get_stats(axle_device_host(), &stats), AXLE_OK);
    return stats.bytes_in_use;
}

static uint64_t tensors_bytes_before;

static inline int tensors_open(void **state)
{
    (void)state;
    axle_error_clear();
    if (axle_device_set_default(axle_device_host()))
        return -1;
    tensors_bytes_before = tensors_bytes();
    return axle_scope_push();
}

static inline int tensors_close(void **state)
{
    (void)state;
    int depth = axle_scope_depth();
    axle_scope_pop();
    bool clean = axle_error_code() == AXLE_OK, whole = tensors_bytes() == tensors_bytes_before;
    if (!clean)
        print_error("an error was left over: %s\n", axle_error_message());
    if (!whole)
        print_error("memory was left over\n");
    axle_error_clear();
    return depth == 1 && clean && whole ? 0 : -1;
}

#define TENSORS(sentence, function)                                                                \
    {                                                                                              \
        sentence, function, tensors_open, tensors_close, NULL                                      \
    }

#define DOUBLES(...)                                                                               \
    (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[])                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* All elements as doubles, row-major; for free(). */
static inline double *tensors_read(axle_tensor *x)
{
    if (!x)
        fail_msg("%s", axle_error_message());
    size_t size = (size_t)axle_tensor_count(x) * sizeof(double);
    double *values = malloc(size + 1);
    axle_scope_push();
    axle_tensor *wide = axle_cast(axle_to_device(x, axle_device_host()), AXLE_DTYPE_F64);
    assert_int_equal(axle_tensor_read(wide, values, size), AXLE_OK);
    axle_scope_pop();
    return values;
}

static inline void tensors_expect(axle_tensor *x, double tolerance, int n, const double *expected)
{
    double *got = tensors_read(x);
    assert_int_equal(axle_tensor_count(x), n);
    for (int k = 0; k < n; k++) {
        bool equal = got[k] == expected[k] || (isnan(got[k]) && isnan(expected[k]));
        if (!equal && !(fabs(got[k] - expected[k]) <= tolerance))
            fail_msg("element %d is %.9g, not %.9g", k, got[k], expected[k]);
    }
    free(got);
}

/* Exact values. */
#define EXPECT(x, ...) tensors_expect(x, 0.0, DOUBLES(__VA_ARGS__))
#define EXPECT_NEAR(x, tolerance, ...) tensors_expect(x, tolerance, DOUBLES(__VA_ARGS__))

static inline void tensors_expect_dims(const axle_tensor *x, int rank, const int64_t *dims)
{
    if (!x)
        fail_msg("%s", axle_error_message());
    assert_int_equal(axle_tensor_rank(x), rank);
    for (int k = 0; k < rank; k++)
        assert_int_equal(axle_tensor_dim(x, k), dims[k]);
}

#define EXPECT_DIMS(x, ...) tensors_expect_dims(x, AXLE_DIMS(__VA_ARGS__))

/* 0, 1, 2 ... in f64. */
static inline axle_tensor *tensors_count(int rank, const int64_t *dims)
{
    int64_t n = 1;
    for (int k = 0; k < rank; k++)
        n *= dims[k];
    return axle_reshape(axle_arange(AXLE_DTYPE_F64, 0, (double)n, 1), rank, dims);
}

/* A vector; f64. */
static inline axle_tensor *tensors_vector(int n, const double *values)
{
    return axle_from_data(AXLE_DTYPE_F64, AXLE_DIMS(n), values);
}

#define VECTOR(...) tensors_vector(DOUBLES(__VA_ARGS__))

/* x, which asks for a gradient from now on. */
static inline axle_tensor *tensors_leaf(axle_tensor *x)
{
    assert_int_equal(axle_tensor_set_requires_grad(x, 1), AXLE_OK);
    return x;
}

#endif
