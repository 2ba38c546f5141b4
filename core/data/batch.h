/* SPDX-License-Identifier: Apache-2.0 */
/* Batches inside: see axle/data.h. */
#ifndef AXLE_DATA_BATCH_H
#define AXLE_DATA_BATCH_H

#include <stdbool.h>

#include "axle/data.h"

/* Add or replace, and take the caller's reference over, also on failure. */
int axle__batch_set_take(axle_batch *batch, const char *name, axle_tensor *tensor);

/* Number of rows that count in losses and metrics: all of them, or 0 for the dummy row of a process
 * that the last batch left without one. */
void axle__batch_set_weight(axle_batch *batch, int64_t weight);

/* Where a loader's batch lies in its epoch. */
typedef struct axle__batch_place {
    int64_t first; /* number of its first row */
    int64_t given; /* samples of the epoch up to the global batch's end */
    bool last;     /* it is the epoch's last */
} axle__batch_place;
axle__batch_place axle__batch_get_place(const axle_batch *batch);
void axle__batch_set_place(axle_batch *batch, axle__batch_place place);

/* Replace each tensor by one on that device. The operators' results are of the current scope. */
int axle__batch_to_device(axle_batch *batch, axle_device *device);

#endif
