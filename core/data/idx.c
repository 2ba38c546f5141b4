/* SPDX-License-Identifier: Apache-2.0 */
#include "data/idx.h"

#include <string.h>

#include "axle/data.h"
#include "axle/status.h"
#include "base/memory.h"
#include "data/bytes.h"
#include "data/source.h"

/* The format's types; those without a dtype here are valid but none of ours. */
static const struct {
    unsigned char type;
    int dtype;
    const char *name;
} types[] = {
    {0x08, AXLE_DTYPE_U8, "u8"},
    {0x09, 0, "i8"},
    {0x0b, 0, "i16"},
    {0x0c, AXLE_DTYPE_I32, "i32"},
    {0x0d, AXLE_DTYPE_F32, "f32"},
    {0x0e, AXLE_DTYPE_F64, "f64"},
};
enum { TYPE_COUNT = sizeof(types) / sizeof(types[0]) };

static int parse_type(const axle__source *source, unsigned char type, int *dtype)
{
    for (size_t k = 0; k < TYPE_COUNT; k++) {
        if (types[k].type != type)
            continue;
        *dtype = types[k].dtype;
        if (*dtype)
            return AXLE_OK;
        return axle__source_malformed(source, "elements of type %s are not supported",
                                      types[k].name);
    }
    return axle__source_malformed(source, "not an IDX file: there is no type 0x%02x", type);
}

static int read_magic(axle__source *source, axle__idx *idx)
{
    unsigned char magic[4];
    int code = axle__source_read(source, magic, sizeof(magic), "the magic number");
    if (code)
        return code;
    if (magic[0] || magic[1])
        return axle__source_malformed(source, "not an IDX file: it begins with %02x %02x %02x %02x",
                                      magic[0], magic[1], magic[2], magic[3]);
    idx->rank = magic[3];
    if (idx->rank > AXLE_MAX_RANK)
        return axle__source_malformed(source, "%d dims are more than %d", idx->rank, AXLE_MAX_RANK);
    return parse_type(source, magic[2], &idx->dtype);
}

static int read_dims(axle__source *source, axle__idx *idx, size_t *size)
{
    unsigned char dims[4 * AXLE_MAX_RANK];
    int code = axle__source_read(source, dims, 4 * (size_t)idx->rank, "the dims");
    if (code)
        return code;
    *size = axle_dtype_size(idx->dtype);
    for (int k = 0; k < idx->rank; k++) {
        uint32_t dim = axle__big_endian_32(dims + 4 * k);
        if (!axle__size_mul(*size, dim, size))
            return axle__source_malformed(source, "the product of its dims overflows");
        idx->dims[k] = dim;
    }
    idx->count = *size / axle_dtype_size(idx->dtype);
    return AXLE_OK;
}

static int read_all(axle__source *source, axle__idx *idx)
{
    size_t size;
    int code = read_magic(source, idx);
    if (!code)
        code = read_dims(source, idx, &size);
    if (!code)
        code = axle__source_read_alloc(source, size, "elements", &idx->data);
    return code ? code : axle__source_end(source);
}

int axle__idx_read(const char *path, axle__idx *out)
{
    axle__idx idx = {0};
    axle__source *source;
    int code = axle__source_open(path, &source);
    if (code)
        return code;
    code = read_all(source, &idx);
    axle__source_close(source);
    if (code) {
        axle__free(idx.data);
        return code;
    }
    if (!axle__host_is_big_endian())
        axle__swap_bytes(idx.data, idx.count, axle_dtype_size(idx.dtype));
    *out = idx;
    return AXLE_OK;
}

int axle_idx_read(const char *path, axle_tensor **out)
{
    axle__idx idx;
    axle_tensor *tensor;
    if (!path)
        return axle_error_set(AXLE_ERR_INVALID, "idx: the path is NULL");
    int code = axle__idx_read(path, &idx);
    if (code)
        return code;
    code = axle_tensor_create(axle_device_host(), idx.dtype, idx.rank, idx.dims, &tensor);
    if (!code) {
        code = axle_tensor_write(tensor, idx.data, idx.count * axle_dtype_size(idx.dtype));
        if (code)
            axle_tensor_release(tensor);
        else
            *out = tensor;
    }
    axle__free(idx.data);
    return code;
}
