/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that make batches ahead of the one who takes them. Batches are numbered by tickets;
 * workers draw tickets in order and make whole batches, and the consumer gets them in order, errors
 * included. One thread consumes.
 */
#ifndef AXLE_DATA_PREFETCH_H
#define AXLE_DATA_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "axle/data.h"

typedef struct axle__prefetch axle__prefetch;

/* Make the batch of a ticket; on the workers' threads. */
typedef int (*axle__make_fn)(void *user, int64_t ticket, axle_batch **out);

/* Start the threads; some may be missing if the system refuses more, at least one is there on
 * success. `depth` is the most batches that are made and not yet taken. */
int axle__prefetch_create(int workers, int depth, axle__make_fn make, void *user,
                          axle__prefetch **out);
/* Stop and join the threads. NULL is fine. */
void axle__prefetch_destroy(axle__prefetch *prefetch);

/* Begin a run of the tickets first..end-1. Runs do not overlap: stop the last one before. */
void axle__prefetch_start(axle__prefetch *prefetch, int64_t first, int64_t end);
/* End the run: waits for workers in the middle of a batch, and releases what was not taken. */
void axle__prefetch_stop(axle__prefetch *prefetch);
/* The next ticket's batch, for which the run has a ticket; waits for it. Failure records the
 * worker's error. */
int axle__prefetch_take(axle__prefetch *prefetch, axle_batch **out);
/* Whether this process is a child that fork() made since: the threads are not there, and nothing
 * can be done but to forget the object. */
bool axle__prefetch_is_lost(const axle__prefetch *prefetch);

#endif
