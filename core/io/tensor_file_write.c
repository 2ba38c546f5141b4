/* SPDX-License-Identifier: Apache-2.0 */
/* Writing files of named tensors, for programs. */
#include "axle/autograd.h"
#include "axle/ops.h"
#include "axle/safetensors.h"
#include "axle/status.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/options_copy.h"
#include "io/shards.h"

static int check_dtype(int dtype)
{
    if (dtype == 0 || axle_dtype_is_float(dtype))
        return AXLE_OK;
    const char *name = axle_dtype_name(dtype);
    return axle_error_set(AXLE_ERR_DTYPE, "axle_tensor_file_write: floats cannot be written as %s",
                          name ? name : "an unknown type");
}

/* The tensor as it goes into the file, of the current scope where it is another one. */
static axle_tensor *as_written(axle_tensor *tensor, int dtype)
{
    if (!tensor) {
        axle__missing("axle_tensor_file_write", "a tensor");
        return NULL;
    }
    bool same = dtype == 0 || !axle_dtype_is_float(axle_tensor_dtype(tensor));
    return same ? tensor : axle_cast(tensor, dtype);
}

static int write_all(const char *directory, const char *const *names, axle_tensor *const *tensors,
                     int64_t n, const axle_tensor_file_options *o)
{
    axle__safetensors_source *sources = axle__alloc((size_t)n + 1, sizeof(*sources));
    int status = sources ? AXLE_OK : axle_error_code();
    for (int64_t k = 0; k < n && !status; k++) {
        axle_tensor *tensor = as_written(tensors[k], o->dtype);
        status = tensor ? AXLE_OK : axle_error_code();
        if (!status)
            sources[k] = axle__safetensors_source_of(names[k], tensor);
    }
    axle__shard_content content = {.sources = sources,
                                   .count = (size_t)n,
                                   .metadata = o->metadata,
                                   .metadata_count = (size_t)o->metadata_count};
    if (!status)
        status = axle__shards_write(directory, o->base ? o->base : "model", &content, o->shard_size,
                                    NULL, NULL);
    axle__free(sources);
    return status;
}

int axle_tensor_file_write(const char *directory, const char *const *names,
                           axle_tensor *const *tensors, int64_t n,
                           const axle_tensor_file_options *options)
{
    axle_tensor_file_options o = AXLE_TENSOR_FILE_OPTIONS_INIT;
    if (!directory || n < 0 || (n > 0 && (!names || !tensors)))
        return axle__missing("axle_tensor_file_write", directory ? "the tensors" : "the folder");
    if (axle__options_copy("axle_tensor_file_write", options, &o, sizeof(o)) ||
        check_dtype(o.dtype) || axle_scope_push())
        return axle_error_code();
    axle_no_grad_push();
    int status = write_all(directory, names, tensors, n, &o);
    axle_no_grad_pop();
    axle_scope_pop();
    return status;
}
