/* SPDX-License-Identifier: Apache-2.0 */
/* A checksum of a module: names, shapes and values. */
#include <string.h>

#include "axle/nn.h"
#include "base/hash.h"
#include "base/memory.h"
#include "nn/module.h"

static int add_tensor(const char *path, axle_tensor *tensor, void *user)
{
    uint64_t *sum = user;
    int dtype = axle_tensor_dtype(tensor), rank = axle_tensor_rank(tensor);
    size_t bytes = (size_t)axle_tensor_count(tensor) * axle_dtype_size(dtype);
    void *data = axle__alloc_aligned(bytes ? bytes : 1, 64);
    if (!data)
        return axle_error_code();
    int status = axle_tensor_read(tensor, data, bytes);
    if (!status) {
        *sum = axle__hash(*sum, path, strlen(path) + 1);
        *sum = axle__hash(*sum, &dtype, sizeof(dtype));
        *sum = axle__hash(*sum, axle_tensor_dims(tensor), (size_t)rank * sizeof(int64_t));
        *sum = axle__hash(*sum, data, bytes);
    }
    axle__free(data);
    return status;
}

int axle_module_checksum(const axle_module *module, uint64_t *out)
{
    uint64_t sum = AXLE__HASH_START;
    int status = axle_module_each_parameter(module, add_tensor, &sum);
    if (!status)
        status = axle_module_each_buffer(module, add_tensor, &sum);
    if (!status)
        *out = sum;
    return status;
}
