/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of parameters and statistics of the norms over channels. */
#include "norm.h"

#include <string.h>

norm_vector cpu_norm_vector(const cpu_loops *loops, const axle_view *view)
{
    norm_vector vector = {.size = 0};
    if (!view)
        return vector;
    const int native = view->dtype == AXLE_DTYPE_F32;
    vector.size = cpu_dtype_size(view->dtype);
    for (uint32_t d = 0; d < view->rank && d < 2; d++)
        vector.stride[d] = view->stride[d];
    vector.load = native ? loops->convert->load_raw[2] : loops->convert->load[view->dtype];
    vector.store = native ? loops->convert->store_raw[2] : loops->convert->store[view->dtype];
    return vector;
}

void cpu_norm_load(const norm_vector *vector, const void *data, int64_t n, float absent, float *out)
{
    if (vector->size > 0 && data)
        vector->load(data, vector->stride[0], out, n);
    for (int64_t i = 0; (vector->size == 0 || !data) && i < n; i++)
        out[i] = absent;
}

void cpu_norm_store(const norm_vector *vector, void *data, int64_t n, const float *values)
{
    if (vector->size > 0 && data)
        vector->store(values, data, vector->stride[0], n);
}

axle_view cpu_norm_coefficients(const axle_view *x, const int64_t *stride, uint32_t n)
{
    axle_view view = *x;
    view.dtype = AXLE_DTYPE_F32;
    memset(view.stride, 0, sizeof(view.stride));
    memcpy(view.stride, stride, n * sizeof(*stride));
    return view;
}
