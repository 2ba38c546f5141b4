/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Safetensors files: named tensors behind a JSON header. The format is
 *
 *     8 bytes          length N of the header, little-endian
 *     N bytes          {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
 *                       "__metadata__": {"key": "text"}}, padded with spaces
 *     the rest         the tensors' bytes, row-major and little-endian, without gap or overlap
 *
 * (https://github.com/huggingface/safetensors). The reader believes none of it before it has
 * checked it; its errors are AXLE_ERR_FORMAT and name the file and the tensor.
 */
#ifndef AXLE_IO_SAFETENSORS_H
#define AXLE_IO_SAFETENSORS_H

#include "axle/tensor.h"
#include "base/file.h"

typedef struct axle__safetensors axle__safetensors;

/* A tensor of an open file. Its bytes lie at no particular alignment. */
typedef struct axle__safetensors_entry {
    const char *name;
    int dtype, rank;
    int64_t dims[AXLE_MAX_RANK];
    const void *data;
    size_t size; /* bytes */
} axle__safetensors_entry;

/* Map and check a file. */
int axle__safetensors_open(const char *path, axle__safetensors **out);
/* Check the `size` bytes at `bytes`, which must outlive the result; `path` is for messages. */
int axle__safetensors_parse(const char *path, const void *bytes, size_t size,
                            axle__safetensors **out);
/* NULL is fine. */
void axle__safetensors_close(axle__safetensors *file);

/* Tensors, in the order of their bytes. */
size_t axle__safetensors_count(const axle__safetensors *file);
const axle__safetensors_entry *axle__safetensors_at(const axle__safetensors *file, size_t k);
/* NULL, and no error, if there is none of that name. */
const axle__safetensors_entry *axle__safetensors_find(const axle__safetensors *file,
                                                      const char *name);
/* Text of a key of the metadata; NULL, and no error, if there is none. */
const char *axle__safetensors_metadata(const axle__safetensors *file, const char *key);

typedef struct axle__named_tensor {
    const char *name;
    const axle_tensor *tensor;
} axle__named_tensor;

/* Write n tensors, and n_metadata pairs of key and text. The file appears complete or not at all.
 */
int axle__safetensors_write(const char *path, const axle__named_tensor *tensors, size_t n,
                            const char *const (*metadata)[2], size_t n_metadata);

/* A tensor to be written: the bytes at entry.data, or those of `tensor` where that is not NULL. */
typedef struct axle__safetensors_source {
    axle__safetensors_entry entry;
    const axle_tensor *tensor;
} axle__safetensors_source;
axle__safetensors_source axle__safetensors_source_of(const char *name, const axle_tensor *tensor);
/* The same as axle__safetensors_write(). `sum`: of the file's bytes; NULL if not wanted. */
int axle__safetensors_write_sources(const char *path, const axle__safetensors_source *sources,
                                    size_t n, const char *const (*metadata)[2], size_t n_metadata,
                                    axle__file_sum *sum);

#endif
