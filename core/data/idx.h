/* SPDX-License-Identifier: Apache-2.0 */
/* IDX files, the format of MNIST: two zero bytes, a type, a rank, big-endian dims, elements. */
#ifndef AXLE_DATA_IDX_H
#define AXLE_DATA_IDX_H

#include "axle/types.h"

typedef struct axle__idx {
    int dtype, rank;
    int64_t dims[AXLE_MAX_RANK];
    size_t count;
    void *data; /* host byte order; for axle__free() */
} axle__idx;

/* Read a file, plain or compressed. Errors name it and what is wrong. */
int axle__idx_read(const char *path, axle__idx *out);

#endif
