/* SPDX-License-Identifier: Apache-2.0 */
#include "blas.h"

int blas_is_served(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_F32 || dtype == AXLE_DTYPE_F64;
}

int blas_has_dtype(const axle_view *view, uint32_t dtype)
{
    return !view || view->dtype == dtype;
}

uint64_t blas_reserve(uint64_t *total, int64_t count, uint32_t dtype)
{
    enum { LINE = 64 };
    const uint64_t at = *total;
    *total += ((uint64_t)count * blas_size(dtype) + LINE - 1) / LINE * LINE;
    return at;
}

void blas_parallel(const axle_be_device *device, int64_t n, double products, axle_body body,
                   void *arg)
{
    const axle_host *host = device->host;
    if (n <= 0)
        return;
    if (n == 1 || products < 2 * BLAS_GRAIN || !AXLE_HAS(host, axle_host, parallel_for)) {
        body(arg, 0, n, 0);
        return;
    }
    const double each = products / (double)n;
    const int64_t grain = each >= BLAS_GRAIN ? 1 : (int64_t)(BLAS_GRAIN / each) + 1;
    host->parallel_for(host->ctx, n, grain, body, arg);
}
