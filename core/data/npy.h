/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header of .npy files: "\x93NUMPY", two version bytes, the length of what follows (2 bytes in
 * version 1, else 4; little-endian), and a Python dictionary:
 * {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 */
#ifndef AXLE_DATA_NPY_H
#define AXLE_DATA_NPY_H

#include <stdbool.h>

#include "axle/types.h"

typedef struct axle__npy_header {
    int dtype, rank;
    bool swapped; /* the other byte order than the host's */
    bool fortran; /* the first dim varies fastest */
    int64_t dims[AXLE_MAX_RANK];
    size_t count;  /* elements */
    size_t offset; /* of the first one in the file */
} axle__npy_header;

/* Parse the start of a file. Errors begin with the path. */
int axle__npy_header_parse(const char *path, const char *bytes, size_t size, axle__npy_header *out);
/* The start of a version 1 file for a row-major tensor, its length a multiple of 64; *out is for
 * axle__free(). AXLE_ERR_DTYPE for bf16, which the format does not know. */
int axle__npy_header_format(const char *path, int dtype, int rank, const int64_t *dims, char **out,
                            size_t *size);

#endif
