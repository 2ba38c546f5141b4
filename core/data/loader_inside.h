/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the loader share: loader.c goes through epochs, loader_batch.c makes batches,
 * here or on other threads, and loader_state.c knows where a loop is. */
#ifndef AXLE_DATA_LOADER_INSIDE_H
#define AXLE_DATA_LOADER_INSIDE_H

#include "axle/random.h"
#include "data/dataset.h"
#include "data/iteration.h"
#include "data/loader.h"
#include "data/prefetch.h"
#include "data/sampler.h"
#include "data/stream.h"

struct axle_loader {
    axle_object object;
    axle_dataset *dataset;
    axle_loader_options options;
    axle__loader_fn observer;
    void *observer_user;
    axle__agree_fn agree;
    void *agree_user;

    /* Where the loop is. */
    int64_t epoch, position;
    int status;
    bool started; /* the epoch gave a batch, or was asked for one */
    bool last;    /* the batch below is the epoch's last */
    bool ended;   /* of streams: the epoch has no more batches */
    int64_t read; /* of streams: samples that the epoch gave so far, on all processes */
    axle__iteration iteration;
    axle_batch *batch;
    axle_random_state outside; /* the thread's random state around the loop, if `started` */

    axle__stream *stream; /* over a stream, else NULL; of the workers while a run is under way */

    /* What workers read; it changes only while no run is under way. */
    axle__shard shard;
    axle_device *device; /* NULL: host */
    int64_t *order;      /* of the epoch's samples; NULL as long as there is none, or in order */
    int64_t order_epoch;
    int64_t *ends; /* of the batches that the user's sampler made */
    int sampled;   /* what came of that */

    axle__prefetch *prefetch;
    bool running;
};

/* ---- batches */

/* Let the program's sampler, where there is one, make the batches of the epoch. */
int axle__loader_sample(axle_loader *loader);
/* The batch at the loader's position; of a stream that has ended without tensors. */
int axle__loader_take(axle_loader *loader, axle_batch **out);
/* To be called before anything changes that workers read. */
void axle__loader_stop(axle_loader *loader);

/* ---- epochs */

/* Make the next batch the first of an epoch. */
void axle__loader_go_to_epoch(axle_loader *loader, int64_t epoch);
/* The epoch is over, for whatever reason. */
void axle__loader_leave_epoch(axle_loader *loader);
/* Whether it has no more batches. */
bool axle__loader_at_end(const axle_loader *loader);

#endif
