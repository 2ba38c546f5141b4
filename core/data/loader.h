/* SPDX-License-Identifier: Apache-2.0 */
/* Loaders inside: what the accelerator does with them. */
#ifndef AXLE_DATA_LOADER_H
#define AXLE_DATA_LOADER_H

#include <stdbool.h>

#include "axle/data.h"
#include "axle/random.h"
#include "data/batch.h"

/* Batches go to that device from now on; NULL is the host. */
void axle__loader_place(axle_loader *loader, axle_device *device);

/* What axle_loader_set_state() checks. */
int axle__loader_check_state(const axle_loader *loader, const axle_loader_state *state);

/* Where the thread's draws outside of the loop under way go on; false where there is no loop. */
bool axle__loader_outside(const axle_loader *loader, axle_random_state *out);

/* This process is number `index` of `count`; may be said again. AXLE_ERR_INVALID. */
int axle__loader_shard(axle_loader *loader, int64_t count, int64_t index);

/*
 * Called for each batch before axle_loader_next() returns it; and with NULL, and is_last 0, when a
 * loop ends, be it early or by an error. One observer a loader; NULL removes it.
 */
typedef void (*axle__loader_fn)(void *user, axle_loader *loader, const axle_batch *batch,
                                int is_last);
void axle__loader_set_observer(axle_loader *loader, axle__loader_fn fn, void *user);

/*
 * Called for each batch of a stream before the program sees it, and for the stream's end, with what
 * came of reading it, the samples of the epoch up to its end, and whether the stream ends there.
 * What it returns counts instead. One a loader; NULL removes it.
 */
typedef int (*axle__agree_fn)(void *user, int status, int64_t samples, bool ends);
void axle__loader_set_agree(axle_loader *loader, axle__agree_fn fn, void *user);

#endif
