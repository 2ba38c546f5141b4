/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the column matrix exists at a time. */
#ifndef AXLE_OPENBLAS_CONV_BLOCKS_H
#define AXLE_OPENBLAS_CONV_BLOCKS_H

#include "lowering.h"

typedef struct conv_blocks {
    int64_t terms;     /* rows of a block at most */
    int64_t positions; /* columns of a block at most */
    int64_t all;       /* positions of all samples */
    int64_t count;     /* blocks that they make */
} conv_blocks;

/* Blocks of a good size for a cache, and smaller ones where `times` of all of them would not be
 * enough for all workers. */
conv_blocks conv_blocks_choose(const conv_shape *shape, int64_t times, int32_t workers);

#endif
