/* SPDX-License-Identifier: Apache-2.0 */
/* Exchange with host memory. */
#include <string.h>

#include "tensor/elementwise.h"
#include "tensor/shape.h"

static int check_exchange(const char *who, const axle_tensor *tensor, const void *data, size_t size)
{
    if (axle__check_tensor(who, tensor))
        return axle_error_code();
    size_t wanted = (size_t)tensor->count * axle_dtype_size((int)axle__dtype(tensor));
    char text[AXLE__DIMS_TEXT];
    if (size == wanted && (data || size == 0))
        return AXLE_OK;
    if (size == wanted)
        return axle_error_set(AXLE_ERR_INVALID, "%s: no host memory", who);
    return axle_error_set(AXLE_ERR_SHAPE, "%s: %s %s holds %zu bytes, not %zu", who,
                          axle_dtype_name((int)axle__dtype(tensor)), axle__shape_text(tensor, text),
                          wanted, size);
}

/* Offset of the tensor's first byte inside its block. */
static uint64_t block_offset(const axle_tensor *tensor)
{
    return tensor->view.offset - tensor->storage->block->offset;
}

int axle_tensor_read(const axle_tensor *tensor, void *data, size_t size)
{
    int status = check_exchange("axle_tensor_read", tensor, data, size);
    if (status || size == 0 || (status = axle_scope_push()))
        return status;
    axle_tensor *rows = axle__row_major("axle_tensor_read", (axle_tensor *)tensor);
    status = rows ? axle__block_read(rows->storage->block, block_offset(rows), data, size)
                  : axle_error_code();
    axle_scope_pop();
    return status;
}

/* Write through a row-major tensor on the device, for targets that are not row-major. */
static int write_strided(axle_tensor *tensor, const void *data, size_t size)
{
    int status = axle_scope_push();
    if (status)
        return status;
    axle_tensor *rows = axle__result("axle_tensor_write", tensor->device, (int)axle__dtype(tensor),
                                     axle__rank(tensor), tensor->view.dim);
    status = rows ? axle__block_write(rows->storage->block, 0, data, size) : axle_error_code();
    if (!status)
        status = axle__copy_into(tensor, rows);
    axle_scope_pop();
    return status;
}

int axle_tensor_write(axle_tensor *tensor, const void *data, size_t size)
{
    int status = check_exchange("axle_tensor_write", tensor, data, size);
    if (status || size == 0 || (status = axle__check_writable("axle_tensor_write", tensor)))
        return status;
    axle__tensor_touch(tensor);
    if (!tensor->row_major)
        return write_strided(tensor, data, size);
    return axle__block_write(tensor->storage->block, block_offset(tensor), data, size);
}

int axle_tensor_assign(axle_tensor *tensor, const axle_tensor *source)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    if (axle__check_tensor("axle_tensor_assign", tensor) ||
        axle__check_tensor("axle_tensor_assign", source) ||
        axle__check_writable("axle_tensor_assign", tensor))
        return axle_error_code();
    if (!axle__dims_equal(axle__rank(tensor), tensor->view.dim, axle__rank(source),
                          source->view.dim))
        return axle_error_set(AXLE_ERR_SHAPE, "axle_tensor_assign: dims differ, %s and %s",
                              axle__shape_text(tensor, ta), axle__shape_text(source, tb));
    int status = axle_scope_push();
    if (status)
        return status;
    status = axle__copy_into(tensor, source);
    axle_scope_pop();
    return status;
}

/* The single element as f64, wherever it is. */
static int read_double(const axle_tensor *tensor, double *out)
{
    if (axle__dtype(tensor) == AXLE_DTYPE_F64)
        return axle_tensor_read(tensor, out, sizeof(*out));
    if (axle__dtype(tensor) == AXLE_DTYPE_F32) {
        float value;
        int status = axle_tensor_read(tensor, &value, sizeof(value));
        if (!status)
            *out = value;
        return status;
    }
    if (axle__dtype(tensor) == AXLE_DTYPE_I64) {
        int64_t value;
        int status = axle_tensor_read(tensor, &value, sizeof(value));
        if (!status)
            *out = (double)value;
        return status;
    }
    axle_tensor *host =
        axle__result("axle_tensor_item", axle_device_host(), (int)axle__dtype(tensor), 0, NULL);
    unsigned char bytes[8];
    size_t size = axle_dtype_size((int)axle__dtype(tensor));
    if (!host || axle_tensor_read(tensor, bytes, size) || axle_tensor_write(host, bytes, size))
        return axle_error_code();
    axle_tensor *wide = axle__copy("axle_tensor_item", host, AXLE_DTYPE_F64);
    return wide ? axle_tensor_read(wide, out, sizeof(*out)) : axle_error_code();
}

int axle_tensor_item(const axle_tensor *tensor, double *out)
{
    char text[AXLE__DIMS_TEXT];
    if (axle__check_tensor("axle_tensor_item", tensor))
        return axle_error_code();
    if (tensor->count != 1)
        return axle_error_set(AXLE_ERR_SHAPE, "axle_tensor_item: %s is not one element",
                              axle__shape_text(tensor, text));
    int status = axle_scope_push();
    if (status)
        return status;
    status = read_double(tensor, out);
    axle_scope_pop();
    return status;
}

int axle_tensor_data(const axle_tensor *tensor, void **out)
{
    if (axle__check_tensor("axle_tensor_data", tensor))
        return axle_error_code();
    if (!tensor->device->host_visible)
        return axle_error_set(AXLE_ERR_DEVICE, "axle_tensor_data: memory of %s is not visible",
                              tensor->device->info.name);
    int status = tensor->device->synchronous ? AXLE_OK : axle__device_finish(tensor->device);
    if (status)
        return status;
    *out = tensor->storage->block ? tensor->storage->block->host + block_offset(tensor) : NULL;
    return AXLE_OK;
}
