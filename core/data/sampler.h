/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples make up a batch. With P processes of batch size B a global batch is P * B samples
 * that follow each other in the epoch's order, the same for every P * B; process r takes its slice.
 * The last global batch, where it is shorter, is split as evenly as it goes, first processes first.
 */
#ifndef AXLE_DATA_SAMPLER_H
#define AXLE_DATA_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Order of an epoch: a random permutation of 0..n-1, a function of seed and epoch alone. */
void axle__permutation(uint64_t seed, uint64_t epoch, int64_t n, int64_t *out);

/* Number `draw` of a stream's epoch: one of 0..n-1, a function of all of them. */
int64_t axle__shuffle_draw(uint64_t seed, uint64_t epoch, int64_t draw, int64_t n);

typedef struct axle__shard {
    int64_t samples;       /* in the data set */
    int64_t batch_size;    /* of one process, from 1 */
    int64_t process_count; /* from 1; process_count * batch_size does not overflow */
    int64_t process_index;
    bool drop_last; /* drop a last global batch that is not full */
    /* Where the epoch's first batch begins, below a global batch: not 0 where an epoch goes on that
     * was begun with another size. */
    int64_t origin;
    const int64_t *ends; /* where global batches end that somebody else made; NULL: as said above */
    int64_t batches;     /* so many */
} axle__shard;

/* Positions in the epoch's order that a process takes in a batch. */
typedef struct axle__rows {
    int64_t first, count; /* count >= 1 */
    int64_t weight;       /* rows that count: all, or 0 for the dummy row of a process that is left
                             without one */
} axle__rows;

/* Batches an epoch, the same for all processes. */
int64_t axle__shard_length(const axle__shard *shard);
/* @param batch  below the length. */
axle__rows axle__shard_rows(const axle__shard *shard, int64_t batch);
/* The process's rows of a global batch that begins at `start` and has so many samples, from 1. */
axle__rows axle__shard_split(const axle__shard *shard, int64_t start, int64_t samples);

#endif
