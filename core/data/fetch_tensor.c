/* SPDX-License-Identifier: Apache-2.0 */
#include "axle/device.h"
#include "data/dataset.h"
#include "device/device.h"

static _Thread_local axle_device *announced;

axle_device *axle__fetch_device_set(axle_device *device)
{
    axle_device *before = announced;
    announced = device;
    return before;
}

int axle__fetch_tensor(int dtype, int rank, const int64_t *dims, axle_tensor **out, void **data)
{
    axle_device *device = announced;
    if (!device || !device->host_visible || !device->synchronous)
        device = axle_device_host();
    axle_tensor *tensor;
    int code = axle_tensor_create(device, dtype, rank, dims, &tensor);
    if (code)
        return code;
    code = axle_tensor_data(tensor, data);
    if (code) {
        axle_tensor_release(tensor);
        return code;
    }
    *out = tensor;
    return AXLE_OK;
}
