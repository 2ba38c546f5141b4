/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/tensor.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "device/dispatch.h"
#include "tensor/shape.h"

static axle__storage *storage_create(axle_device *device, int64_t count, size_t item)
{
    axle__storage *storage = axle__alloc(1, sizeof(*storage));
    if (!storage)
        return NULL;
    storage->references = 1;
    if (count == 0)
        return storage;
    storage->block = axle__block_alloc(device, (uint64_t)count * item);
    if (storage->block)
        return storage;
    axle__free(storage);
    return NULL;
}

static void storage_release(axle__storage *storage)
{
    if (__atomic_sub_fetch(&storage->references, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    axle__block_free(storage->block);
    axle__free(storage);
}

static void attach(axle_tensor *tensor, axle_device *device, axle__storage *storage)
{
    tensor->device = device;
    tensor->storage = storage;
    tensor->view.buffer = storage->block ? storage->block->buffer : NULL;
    tensor->count = axle__view_count(&tensor->view);
    tensor->row_major = axle__view_is_row_major(&tensor->view);
}

/* `strides` NULL means row-major. */
static void set_view(axle_tensor *tensor, int dtype, int rank, const int64_t *dims,
                     const int64_t *strides)
{
    tensor->view.dtype = (uint32_t)dtype;
    tensor->view.rank = (uint32_t)rank;
    for (int k = 0; k < rank; k++)
        tensor->view.dim[k] = dims[k];
    if (strides)
        memcpy(tensor->view.stride, strides, (size_t)rank * sizeof(int64_t));
    else
        axle__row_major_strides(rank, dims, tensor->view.stride);
}

axle_tensor *axle__tensor_new(const char *who, axle_device *device, int dtype, int rank,
                              const int64_t *dims, const int64_t *strides)
{
    int64_t count = axle__dims_count(who, rank, dims);
    size_t item = axle_dtype_size(dtype);
    if (count < 0 || !device)
        return NULL;
    if (item == 0) {
        axle_error_set(AXLE_ERR_DTYPE, "%s: there is no element type %d", who, dtype);
        return NULL;
    }
    axle_tensor *tensor = axle__alloc(1, sizeof(*tensor));
    if (!tensor)
        return NULL;
    axle__storage *storage = storage_create(device, count, item);
    if (!storage) {
        axle__free(tensor);
        return NULL;
    }
    tensor->references = 1;
    set_view(tensor, dtype, rank, dims, strides);
    tensor->view.offset = storage->block ? storage->block->offset : 0;
    attach(tensor, device, storage);
    return tensor;
}

axle_tensor *axle__tensor_alias(const axle_tensor *source, const axle_view *view)
{
    axle_tensor *tensor = axle__alloc(1, sizeof(*tensor));
    if (!tensor)
        return NULL;
    tensor->references = 1;
    tensor->view = *view;
    __atomic_add_fetch(&source->storage->references, 1, __ATOMIC_RELAXED);
    attach(tensor, source->device, source->storage);
    return tensor;
}

axle_tensor *axle__result(const char *who, axle_device *device, int dtype, int rank,
                          const int64_t *dims)
{
    return axle__scope_own(axle__tensor_new(who, device, dtype, rank, dims, NULL));
}

void axle__tensor_rebind(axle_tensor *tensor, const axle_tensor *source)
{
    axle__storage *old = tensor->storage;
    __atomic_add_fetch(&source->storage->references, 1, __ATOMIC_RELAXED);
    tensor->view = source->view;
    attach(tensor, source->device, source->storage);
    storage_release(old);
}

static int check_import(axle_device *device, int dtype, const void *data, int64_t count)
{
    if (!device)
        return axle_error_set(AXLE_ERR_INVALID, "axle_tensor_import: no device");
    if (count < 0)
        return axle_error_code();
    size_t item = axle_dtype_size(dtype);
    if (item == 0)
        return axle_error_set(AXLE_ERR_DTYPE, "axle_tensor_import: there is no element type %d",
                              dtype);
    if (!data || count == 0 || (uintptr_t)data % item != 0)
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_tensor_import: %lld elements at %p, where a multiple of %zu is "
                              "needed",
                              (long long)count, data, item);
    return AXLE_OK;
}

int axle_tensor_import(axle_device *device, int dtype, int rank, const int64_t *dims, void *data,
                       void (*release)(void *user), void *user, axle_tensor **out)
{
    int64_t count = axle__dims_count("axle_tensor_import", rank, dims);
    int status = check_import(device, dtype, data, count);
    if (status)
        return status;
    axle_tensor *tensor = axle__alloc(1, sizeof(*tensor));
    axle__storage *storage = axle__alloc(1, sizeof(*storage));
    if (tensor && storage)
        storage->block = axle__block_import(device, data, (uint64_t)count * axle_dtype_size(dtype),
                                            release, user);
    if (!tensor || !storage || !storage->block) {
        axle__free(tensor);
        axle__free(storage);
        return axle_error_code();
    }
    storage->references = tensor->references = 1;
    set_view(tensor, dtype, rank, dims, NULL);
    attach(tensor, device, storage);
    *out = tensor;
    return AXLE_OK;
}

int axle_tensor_create(axle_device *device, int dtype, int rank, const int64_t *dims,
                       axle_tensor **out)
{
    if (!device)
        return axle_error_set(AXLE_ERR_INVALID, "axle_tensor_create: no device");
    axle_tensor *tensor = axle__tensor_new("axle_tensor_create", device, dtype, rank, dims, NULL);
    if (!tensor)
        return axle_error_code();
    *out = tensor;
    return AXLE_OK;
}

axle_tensor *axle_tensor_retain(axle_tensor *tensor)
{
    if (tensor)
        __atomic_add_fetch(&tensor->references, 1, __ATOMIC_RELAXED);
    return tensor;
}

void axle_tensor_release(axle_tensor *tensor)
{
    if (!tensor || __atomic_sub_fetch(&tensor->references, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    if (tensor->grad_release)
        tensor->grad_release(tensor);
    storage_release(tensor->storage);
    axle__free(tensor);
}

int axle_tensor_dtype(const axle_tensor *tensor)
{
    return (int)tensor->view.dtype;
}

int axle_tensor_rank(const axle_tensor *tensor)
{
    return (int)tensor->view.rank;
}

int64_t axle_tensor_dim(const axle_tensor *tensor, int k)
{
    int index = axle__dim_index("axle_tensor_dim", axle__rank(tensor), k);
    return index < 0 ? -1 : tensor->view.dim[index];
}

const int64_t *axle_tensor_dims(const axle_tensor *tensor)
{
    return tensor->view.dim;
}

const int64_t *axle_tensor_strides(const axle_tensor *tensor)
{
    return tensor->view.stride;
}

int64_t axle_tensor_count(const axle_tensor *tensor)
{
    return tensor->count;
}

axle_device *axle_tensor_device(const axle_tensor *tensor)
{
    return tensor->device;
}

int axle_tensor_is_contiguous(const axle_tensor *tensor)
{
    return tensor->row_major;
}

int axle_tensor_shares_storage(const axle_tensor *a, const axle_tensor *b)
{
    return a->storage == b->storage;
}

const char *axle__dims_text(int rank, const int64_t *dims, char *text)
{
    size_t used = 0;
    text[used++] = '(';
    for (int k = 0; k < rank; k++)
        used += (size_t)snprintf(text + used, AXLE__DIMS_TEXT - used, "%s%lld", k ? ", " : "",
                                 (long long)dims[k]);
    snprintf(text + used, AXLE__DIMS_TEXT - used, ")");
    return text;
}

int axle__check_same_dtype(const char *who, const axle_tensor *a, const axle_tensor *b)
{
    if (axle__dtype(a) == axle__dtype(b))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DTYPE, "%s: element types differ, %s and %s", who,
                          axle_dtype_name((int)axle__dtype(a)),
                          axle_dtype_name((int)axle__dtype(b)));
}

int axle__check_same_device(const char *who, const axle_tensor *a, const axle_tensor *b)
{
    if (a->device == b->device)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DEVICE, "%s: tensors are on different devices, %s and %s", who,
                          axle_device_backend(a->device), axle_device_backend(b->device));
}

int axle__check_pair(const char *who, const axle_tensor *a, const axle_tensor *b)
{
    int status = axle__check_same_dtype(who, a, b);
    return status ? status : axle__check_same_device(who, a, b);
}

int axle__check_float(const char *who, const axle_tensor *x)
{
    if (axle_dtype_is_float((int)axle__dtype(x)))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DTYPE, "%s: wants a float tensor, got %s", who,
                          axle_dtype_name((int)axle__dtype(x)));
}

int axle__check_number(const char *who, const axle_tensor *x)
{
    if (axle__dtype(x) != AXLE_DTYPE_BOOL)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DTYPE, "%s: wants numbers, got bool", who);
}

int axle__check_index_dtype(const char *who, const axle_tensor *index)
{
    if (axle__dtype(index) == AXLE_DTYPE_I64 || axle__dtype(index) == AXLE_DTYPE_I32)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_DTYPE, "%s: indices must be i64 or i32, got %s", who,
                          axle_dtype_name((int)axle__dtype(index)));
}

int axle__check_tensor(const char *who, const axle_tensor *tensor)
{
    if (tensor)
        return AXLE_OK;
    int earlier = axle_error_code();
    return earlier ? earlier : axle_error_set(AXLE_ERR_INVALID, "%s: no tensor", who);
}

int axle__check_writable(const char *who, const axle_tensor *tensor)
{
    char text[AXLE__DIMS_TEXT];
    for (int k = 0; k < axle__rank(tensor); k++)
        if (tensor->view.dim[k] > 1 && tensor->view.stride[k] == 0)
            return axle_error_set(AXLE_ERR_INVALID,
                                  "%s: elements of %s repeat along dim %d and cannot be written",
                                  who, axle__shape_text(tensor, text), k);
    return AXLE_OK;
}

int axle__check_array(const char *who, int n, const void *array)
{
    if (array || n <= 0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "%s: %d numbers wanted, got none", who, n);
}

int axle__check_rank_at_least(const char *who, const axle_tensor *x, int rank)
{
    char text[AXLE__DIMS_TEXT];
    if (axle__rank(x) >= rank)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_SHAPE, "%s: wants at least %d dims, got %s", who, rank,
                          axle__shape_text(x, text));
}
