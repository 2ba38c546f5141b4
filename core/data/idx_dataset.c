/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <inttypes.h>
#include <unistd.h>

#include "axle/data.h"
#include "axle/status.h"
#include "base/memory.h"
#include "data/idx.h"
#include "data/images.h"

/* The path of a file of that name, compressed or not. */
static int find_file(const char *directory, const char *name, char **out)
{
    static const char *const endings[] = {"", ".gz"};
    for (size_t k = 0; k < sizeof(endings) / sizeof(endings[0]); k++) {
        char *path = axle__format("%s/%s%s", directory, name, endings[k]);
        if (!path)
            return AXLE_ERR_NOMEM;
        if (access(path, F_OK) == 0) {
            *out = path;
            return AXLE_OK;
        }
        axle__free(path);
    }
    if (access(directory, F_OK))
        return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: there is no such folder", directory);
    return axle_error_set(AXLE_ERR_NOT_FOUND, "%s: there is no %s or %s.gz", directory, name, name);
}

/* Read a file of u8 and that rank; the path is for later messages and for axle__free(). */
static int read_file(const char *directory, const char *name, int rank, char **path, axle__idx *out)
{
    axle__idx idx;
    int code = find_file(directory, name, path);
    if (code)
        return code;
    code = axle__idx_read(*path, &idx);
    if (code)
        return code;
    if (idx.dtype != AXLE_DTYPE_U8 || idx.rank != rank) {
        axle__free(idx.data);
        return axle_error_set(AXLE_ERR_FORMAT, "%s: it holds %s of %d dims, not u8 of %d", *path,
                              axle_dtype_name(idx.dtype), idx.rank, rank);
    }
    *out = idx;
    return AXLE_OK;
}

static int check_pair(const char *images_path, const axle__idx *images, const char *labels_path,
                      const axle__idx *labels)
{
    if (images->dims[0] != labels->dims[0])
        return axle_error_set(AXLE_ERR_FORMAT,
                              "%s has %" PRId64 " pictures, but %s has %" PRId64 " labels",
                              images_path, images->dims[0], labels_path, labels->dims[0]);
    if (images->dims[1] == 0 || images->dims[2] == 0)
        return axle_error_set(AXLE_ERR_FORMAT,
                              "%s: its pictures have %" PRId64 " x %" PRId64 " pixels", images_path,
                              images->dims[1], images->dims[2]);
    return AXLE_OK;
}

int axle_idx_dataset_open(const char *directory, int train, axle_dataset **out)
{
    char *images_path = NULL, *labels_path = NULL;
    axle__idx images = {0}, labels = {0};
    if (!directory)
        return axle_error_set(AXLE_ERR_INVALID, "idx: the folder is NULL");
    int code = read_file(directory, train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", 3,
                         &images_path, &images);
    if (!code)
        code = read_file(directory, train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte", 1,
                         &labels_path, &labels);
    if (!code)
        code = check_pair(images_path, &images, labels_path, &labels);
    axle__free(images_path);
    axle__free(labels_path);
    if (!code)
        return axle__images_dataset_create("idx", images.dims[0], images.dims[1], images.dims[2],
                                           images.data, labels.data, out);
    axle__free(images.data);
    axle__free(labels.data);
    return code;
}
