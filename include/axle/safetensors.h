/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file safetensors.h
 * Files of named tensors, as Hugging Face's libraries read and write them
 * (https://github.com/huggingface/safetensors).
 *
 *     axle_tensor_file *file;
 *     axle_tensor_file_open("distilbert-base-cased", NULL, &file);
 *     for (int64_t k = 0; k < axle_tensor_file_count(file); k++)
 *         puts(axle_tensor_file_at(file, k)->name);
 *     const axle_stored_tensor *stored = axle_tensor_file_find(file, "classifier.weight");
 *     if (stored)
 *         axle_tensor_file_read(stored, weight);
 *     axle_tensor_file_close(file);
 *
 * Files are mapped, and all that they say about themselves is checked when they are opened. For
 * whole modules see axle_module_load() and axle_save_model().
 */
#ifndef AXLE_SAFETENSORS_H
#define AXLE_SAFETENSORS_H

#include "axle/tensor.h"

AXLE_BEGIN_DECLS

/* ------------------------------------------------------------------ reading */

/** One file, or several that belong together. */
typedef struct axle_tensor_file axle_tensor_file;

/** A tensor of an open file. */
typedef struct axle_stored_tensor {
    const char *name;
    int dtype, rank;
    const int64_t *dims; /**< rank numbers */
    const void *data;    /**< row-major, at no particular alignment */
    size_t size;         /**< bytes */
} axle_stored_tensor;

/**
 * @param path  a safetensors file, an index (*.safetensors.index.json), or a folder.
 * @param base  what the files of a folder are called: BASE.safetensors, or
 *              BASE.safetensors.index.json and the files that it names, all of which must be there;
 *              NULL: model.
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND, AXLE_ERR_FORMAT, AXLE_ERR_IO, AXLE_ERR_NOMEM.
 */
AXLE_API int axle_tensor_file_open(const char *path, const char *base, axle_tensor_file **out);
/** NULL is fine. */
AXLE_API void axle_tensor_file_close(axle_tensor_file *file);
AXLE_API int64_t axle_tensor_file_count(const axle_tensor_file *file);
/** Borrowed until the file is closed; NULL and AXLE_ERR_INDEX where there is none. */
AXLE_API const axle_stored_tensor *axle_tensor_file_at(const axle_tensor_file *file, int64_t k);
/** The same; NULL, and no error, if there is none of that name. */
AXLE_API const axle_stored_tensor *axle_tensor_file_find(const axle_tensor_file *file,
                                                         const char *name);
/** Text of a key of the (first file's) metadata; NULL, and no error, if there is none. */
AXLE_API const char *axle_tensor_file_metadata(const axle_tensor_file *file, const char *key);
/** Overwrite a tensor of the same dims on any device. Floats are converted, exactly to a wider
 * type, else rounded to even; other types must be the same. AXLE_ERR_SHAPE, AXLE_ERR_DTYPE. */
AXLE_API int axle_tensor_file_read(const axle_stored_tensor *stored, axle_tensor *out);

/* ------------------------------------------------------------------ writing */

/** Starts from AXLE_TENSOR_FILE_OPTIONS_INIT. */
typedef struct axle_tensor_file_options {
    size_t struct_size;
    const char *base;                 /**< what the files are called; NULL: model */
    int dtype;                        /**< of floats in the file; 0: that of each tensor */
    uint64_t shard_size;              /**< most bytes of a file; 0: one file */
    const char *const (*metadata)[2]; /**< pairs of key and text, for each file */
    int64_t metadata_count;
} axle_tensor_file_options;
#define AXLE_TENSOR_FILE_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(axle_tensor_file_options), NULL, 0, UINT64_C(5) << 30, NULL, 0                      \
    }

/**
 * Write n tensors as BASE.safetensors, or where they are more than a file may have, as
 * BASE-00001-of-00002.safetensors and so on with BASE.safetensors.index.json. Each file appears
 * complete or not at all.
 * @param directory  is there already.
 * @param options    NULL for the defaults.
 */
AXLE_API int axle_tensor_file_write(const char *directory, const char *const *names,
                                    axle_tensor *const *tensors, int64_t n,
                                    const axle_tensor_file_options *options);

AXLE_END_DECLS

#endif
