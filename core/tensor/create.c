/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that make tensors from nothing or from host memory. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "tensor/elementwise.h"
#include "tensor/random.h"
#include "tensor/shape.h"

static axle_tensor *on_current(const char *who, int dtype, int rank, const int64_t *dims)
{
    return axle__result(who, axle_device_current(), dtype, rank, dims);
}

axle_tensor *axle_empty(int dtype, int rank, const int64_t *dims)
{
    return on_current("empty", dtype, rank, dims);
}

axle_tensor *axle_full(int dtype, int rank, const int64_t *dims, double value)
{
    axle_tensor *y = on_current("full", dtype, rank, dims);
    return y ? axle__checked(axle__fill(y, value), y) : NULL;
}

axle_tensor *axle_zeros(int dtype, int rank, const int64_t *dims)
{
    return axle_full(dtype, rank, dims, 0.0);
}

axle_tensor *axle_ones(int dtype, int rank, const int64_t *dims)
{
    return axle_full(dtype, rank, dims, 1.0);
}

axle_tensor *axle_scalar(int dtype, double value)
{
    return axle_full(dtype, 0, NULL, value);
}

axle_tensor *axle_arange(int dtype, double start, double end, double step)
{
    double n = ceil((end - start) / step);
    if (step == 0 || !(fabs(n) < 0x1p60)) {
        axle_error_set(AXLE_ERR_INVALID, "arange: from %g to %g by steps of %g", start, end, step);
        return NULL;
    }
    int64_t count = n > 0 ? (int64_t)n : 0;
    axle_tensor *y = on_current("arange", dtype, 1, &count);
    if (!y)
        return NULL;
    axle_arange_attrs attrs = {sizeof(attrs), 0, start, step};
    axle__call call = AXLE__CALL(AXLE_OP_ARANGE, attrs);
    axle__call_out(&call, y);
    return axle__checked(axle__run(&call, y), y);
}

static int wants_float(const char *who, int dtype)
{
    if (axle_dtype_is_float(dtype))
        return AXLE_OK;
    const char *name = axle_dtype_name(dtype);
    return axle_error_set(AXLE_ERR_DTYPE, "%s: wants a float type, got %s", who, name ? name : "?");
}

axle_tensor *axle_rand(int dtype, int rank, const int64_t *dims)
{
    axle_tensor *y = wants_float("rand", dtype) ? NULL : on_current("rand", dtype, rank, dims);
    if (!y)
        return NULL;
    axle_random_attrs attrs = {sizeof(attrs), 0, 0.0, 1.0};
    axle__call call = AXLE__CALL(AXLE_OP_RANDOM, attrs);
    call.rng_seed = axle__random_next_key();
    call.rng_offset = axle__random_first(rank, dims);
    return axle__checked(axle__elementwise(&call, y, NULL, 0, true), y);
}

/* Values in f64 on the host's device. */
static axle_tensor *host_normals(int rank, const int64_t *dims)
{
    axle_tensor *host = axle__result("randn", axle_device_host(), AXLE_DTYPE_F64, rank, dims);
    void *values;
    if (!host || (host->count && axle_tensor_data(host, &values)))
        return NULL;
    if (host->count)
        axle__random_normal_from(axle__random_first(rank, dims), values, host->count);
    return host;
}

axle_tensor *axle_randn(int dtype, int rank, const int64_t *dims)
{
    axle_tensor *y = wants_float("randn", dtype) ? NULL : on_current("randn", dtype, rank, dims);
    axle_tensor *host = y ? host_normals(rank, dims) : NULL;
    return host ? axle__checked(axle__copy_into(y, host), y) : NULL;
}

axle_tensor *axle_from_data(int dtype, int rank, const int64_t *dims, const void *data)
{
    axle_tensor *y = on_current("from_data", dtype, rank, dims);
    if (!y)
        return NULL;
    size_t size = (size_t)y->count * axle_dtype_size(dtype);
    if (size && !data) {
        axle_error_set(AXLE_ERR_INVALID, "from_data: %zu bytes wanted, got none", size);
        return NULL;
    }
    return axle__checked(axle_tensor_write(y, data, size), y);
}
