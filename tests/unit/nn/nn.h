/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of modules share. */
#ifndef AXLE_TESTS_UNIT_NN_H
#define AXLE_TESTS_UNIT_NN_H

#include <stdbool.h>

#include "unit.h"

#include "axle/autograd.h"
#include "axle/nn.h"

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != AXLE_OK)                                                                     \
            fail_msg("%s: %s", #call, axle_error_message());                                       \
    } while (0)

/* A tensor is there; fails with the recorded error otherwise. */
static inline axle_tensor *made(axle_tensor *tensor)
{
    if (!tensor)
        fail_msg("no tensor: %s", axle_error_message());
    return tensor;
}

/* Append "name(dims) " to the text at `user`, which has NN_TEXT bytes. */
enum { NN_TEXT = 2048 };
static inline int nn_append(const char *path, axle_tensor *tensor, void *user)
{
    char *text = user;
    size_t length = strlen(text);
    length += (size_t)snprintf(text + length, NN_TEXT - length, "%s%s(", length ? " " : "", path);
    for (int k = 0; k < axle_tensor_rank(tensor); k++)
        length += (size_t)snprintf(text + length, NN_TEXT - length, "%s%lld", k ? "," : "",
                                   (long long)axle_tensor_dim(tensor, k));
    snprintf(text + length, NN_TEXT - length, ")");
    return 0;
}

static inline void expect_parameters(const axle_module *module, const char *expected)
{
    char text[NN_TEXT] = "";
    assert_ok(axle_module_each_parameter(module, nn_append, text));
    assert_string_equal(text, expected);
}

static inline void expect_buffers(const axle_module *module, const char *expected)
{
    char text[NN_TEXT] = "";
    assert_ok(axle_module_each_buffer(module, nn_append, text));
    assert_string_equal(text, expected);
}

static inline void expect_dims(const axle_tensor *tensor, int rank, const int64_t *dims)
{
    assert_non_null(tensor);
    assert_int_equal(axle_tensor_rank(tensor), rank);
    for (int k = 0; k < rank; k++)
        assert_int_equal(axle_tensor_dim(tensor, k), dims[k]);
}

/* All elements as doubles, for free(). */
static inline double *values_of(axle_tensor *tensor)
{
    axle_no_grad_push();
    axle_scope_push();
    axle_tensor *wide = made(axle_cast(tensor, AXLE_DTYPE_F64));
    size_t size = (size_t)axle_tensor_count(tensor) * sizeof(double);
    double *values = malloc(size + 1);
    assert_ok(axle_tensor_read(wide, values, size));
    axle_scope_pop();
    axle_no_grad_pop();
    return values;
}

static inline void expect_equal(axle_tensor *a, axle_tensor *b)
{
    expect_dims(a, axle_tensor_rank(b), axle_tensor_dims(b));
    double *x = values_of(a), *y = values_of(b);
    for (int64_t i = 0; i < axle_tensor_count(a); i++)
        assert_true(x[i] == y[i]);
    free(x);
    free(y);
}

/* Bytes that tensors hold on the current device. */
static inline uint64_t bytes_in_use(void)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    assert_ok(axle_device_get_stats(axle_device_current(), &stats));
    return stats.bytes_in_use;
}

#endif
