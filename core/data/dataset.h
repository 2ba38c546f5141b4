/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets inside: what the built-in ones and the loader need beyond axle/data.h. */
#ifndef AXLE_DATA_DATASET_H
#define AXLE_DATA_DATASET_H

#include <stdbool.h>

#include "axle/data.h"
#include "base/object.h"

struct axle_dataset {
    axle_object object;
    axle_dataset_class type;
    axle_stream_class stream; /* of a stream, which has nothing of the above but the name */
    void *user;
    /* Bytes of a sample, where samples lie in memory and fetching them has no side effect, so that
     * the loader may run further ahead than the user asked for; else 0. */
    size_t resident;
};

/* Whether samples come one after the other only; NULL is none. */
bool axle__dataset_is_stream(const axle_dataset *dataset);

/* Create one of the built-in sets. `user` is taken over, also on failure. */
int axle__dataset_create_take(const axle_dataset_class *type, void *user, size_t resident,
                              axle_dataset **out);

/* axle_dataset_fetch() with indices that are known to be in range, and the loader's collating
 * (NULL: axle_collate_pad with 0). */
int axle__dataset_fetch(axle_dataset *dataset, const int64_t *indices, int64_t n,
                        axle_collate_fn collate, void *collate_user, axle_batch **out);

/* Join samples into a batch by `collate` (NULL: axle_collate_pad with 0), and check its rows. */
int axle__dataset_collate(const axle_dataset *dataset, axle_batch *const *samples, int64_t n,
                          axle_collate_fn collate, void *collate_user, axle_batch *batch);

/*
 * Where this thread's batches are going, as the loader has announced: built-in sets make their
 * tensors there at once if the host can write to it without waiting. NULL: on the host. Returns the
 * one before.
 */
axle_device *axle__fetch_device_set(axle_device *device);
/* A new tensor for a batch, and the address of its elements; one reference. */
int axle__fetch_tensor(int dtype, int rank, const int64_t *dims, axle_tensor **out, void **data);

#endif
