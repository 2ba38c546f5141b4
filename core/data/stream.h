/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a stream in global batches. Whether a batch is the last, and how many samples it has, is
 * known once the stream was read past its end: samples wait here until then. Shuffled, the next
 * sample is drawn from a pool, in whose place the next one of the stream comes; seed, epoch and the
 * number of the draw decide alone, so that all processes draw alike.
 */
#ifndef AXLE_DATA_STREAM_H
#define AXLE_DATA_STREAM_H

#include "axle/data.h"
#include "data/sampler.h"

typedef struct axle__stream axle__stream;

/* Of a stream data set, which is borrowed, for a loader with these options, which may change. */
int axle__stream_create(axle_dataset *dataset, const axle_loader_options *options,
                        axle__stream **out);
/* NULL is fine. */
void axle__stream_destroy(axle__stream *stream);

/*
 * The process's rows of a global batch, with its place in the epoch. One thread at a time. Batches
 * that follow each other are read as they come; any other begins the stream anew and passes over
 * what is before.
 * @param out  without tensors where the stream has ended.
 */
int axle__stream_batch(axle__stream *stream, int64_t epoch, const axle__shard *shard,
                       int64_t number, axle_batch **out);

#endif
