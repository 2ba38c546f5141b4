/* SPDX-License-Identifier: Apache-2.0 */
#include "data/npy.h"

#include <string.h>

#include "axle/data.h"
#include "axle/status.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/bytes.h"

static int check_size(const char *path, const axle__npy_header *header, size_t size)
{
    size_t wanted = header->count * axle_dtype_size(header->dtype), there = size - header->offset;
    if (there < wanted)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: truncated: only %zu of %zu bytes of elements",
                              path, there, wanted);
    if (there > wanted)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: there are %zu bytes behind the last element",
                              path, there - wanted);
    return AXLE_OK;
}

/* Row-major from first-dim-fastest: walk the elements in row-major order. */
static void transpose(const axle__npy_header *header, const char *from, char *to)
{
    size_t size = axle_dtype_size(header->dtype), stride[AXLE_MAX_RANK], step = size;
    int64_t at[AXLE_MAX_RANK] = {0};
    for (int k = 0; k < header->rank; k++) {
        stride[k] = step;
        step *= (size_t)header->dims[k];
    }
    size_t offset = 0;
    for (size_t element = 0; element < header->count; element++) {
        memcpy(to + element * size, from + offset, size);
        for (int k = header->rank - 1; k >= 0; k--) {
            offset += stride[k];
            if (++at[k] < header->dims[k])
                break;
            offset -= stride[k] * (size_t)header->dims[k];
            at[k] = 0;
        }
    }
}

/* Kernels rely on booleans that are 0 or 1. */
static int check_booleans(const char *path, const axle__npy_header *header,
                          const unsigned char *bytes)
{
    for (size_t k = 0; header->dtype == AXLE_DTYPE_BOOL && k < header->count; k++)
        if (bytes[k] > 1)
            return axle_error_set(AXLE_ERR_FORMAT, "%s: element %zu is %d, which is no bool", path,
                                  k, bytes[k]);
    return AXLE_OK;
}

static int fill(const char *path, const axle__npy_header *header, const char *elements,
                axle_tensor *tensor)
{
    size_t size = axle_dtype_size(header->dtype);
    void *data;
    int code = check_booleans(path, header, (const unsigned char *)elements);
    if (code || header->count == 0)
        return code;
    code = axle_tensor_data(tensor, &data);
    if (code)
        return code;
    if (header->fortran && header->rank > 1)
        transpose(header, elements, data);
    else
        memcpy(data, elements, header->count * size);
    if (header->swapped)
        axle__swap_bytes(data, header->count, size);
    return AXLE_OK;
}

static int read_bytes(const char *path, const char *bytes, size_t size, axle_tensor **out)
{
    axle__npy_header header;
    axle_tensor *tensor;
    int code = axle__npy_header_parse(path, bytes, size, &header);
    if (!code)
        code = check_size(path, &header, size);
    if (!code)
        code =
            axle_tensor_create(axle_device_host(), header.dtype, header.rank, header.dims, &tensor);
    if (code)
        return code;
    code = fill(path, &header, bytes + header.offset, tensor);
    if (code)
        axle_tensor_release(tensor);
    else
        *out = tensor;
    return code;
}

int axle_npy_read(const char *path, axle_tensor **out)
{
    char *bytes;
    size_t size;
    if (!path)
        return axle_error_set(AXLE_ERR_INVALID, "npy: the path is NULL");
    int code = axle__file_read(path, &bytes, &size);
    if (code)
        return code;
    code = read_bytes(path, bytes, size, out);
    axle__free(bytes);
    return code;
}

/* ---- writing */

static int write_file(const char *path, const char *header, size_t header_size, const void *data,
                      size_t size)
{
    axle__file_writer *writer;
    int code = axle__file_writer_open(path, &writer);
    if (code)
        return code;
    axle__file_writer_write(writer, header, header_size);
    axle__file_writer_write(writer, data, size);
    return axle__file_writer_commit(writer);
}

int axle_npy_write(const char *path, const axle_tensor *tensor)
{
    char *header;
    size_t header_size;
    if (!path || !tensor)
        return axle_error_set(AXLE_ERR_INVALID, "npy: %s is NULL",
                              path ? "the tensor" : "the path");
    int dtype = axle_tensor_dtype(tensor);
    int code = axle__npy_header_format(path, dtype, axle_tensor_rank(tensor),
                                       axle_tensor_dims(tensor), &header, &header_size);
    if (code)
        return code;
    size_t size = (size_t)axle_tensor_count(tensor) * axle_dtype_size(dtype);
    void *data = axle__alloc(size, 1);
    code = data ? axle_tensor_read(tensor, data, size) : AXLE_ERR_NOMEM;
    if (!code)
        code = write_file(path, header, header_size, data, size);
    axle__free(data);
    axle__free(header);
    return code;
}
