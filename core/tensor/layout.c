/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/layout.h"

#include "tensor/shape.h"

bool axle__is_channels_last(const axle_tensor *x)
{
    int64_t strides[AXLE_MAX_RANK];
    if (x->row_major || axle__rank(x) < 3)
        return false;
    axle__channels_last_strides(axle__rank(x), x->view.dim, strides);
    for (int k = 0; k < axle__rank(x); k++)
        if (x->view.dim[k] > 1 && x->view.stride[k] != strides[k])
            return false;
    return true;
}

uint32_t axle__layout_of(const axle_tensor *x)
{
    return axle__is_channels_last(x) ? AXLE_LAYOUT_CHANNELS_LAST : AXLE_LAYOUT_ROW_MAJOR;
}

axle_tensor *axle__picture_result(const char *who, axle_device *device, int dtype, int rank,
                                  const int64_t *dims, uint32_t layout)
{
    int64_t strides[AXLE_MAX_RANK];
    if (layout != AXLE_LAYOUT_CHANNELS_LAST || rank < 3)
        return axle__result(who, device, dtype, rank, dims);
    if (axle__dims_count(who, rank, dims) < 0)
        return NULL;
    axle__channels_last_strides(rank, dims, strides);
    return axle__scope_own(axle__tensor_new(who, device, dtype, rank, dims, strides));
}
