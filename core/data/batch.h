/* SPDX-License-Identifier: Apache-2.0 */
/* Batches inside: see axle/data.h. */
#ifndef AXLE_DATA_BATCH_H
#define AXLE_DATA_BATCH_H

#include "axle/data.h"

/* Add or replace, and take the caller's reference over, also on failure. */
int axle__batch_set_take(axle_batch *batch, const char *name, axle_tensor *tensor);

/* Number of rows that count in losses and metrics: all of them, or 0 for the dummy row of a process
 * that the last batch left without one. */
void axle__batch_set_weight(axle_batch *batch, int64_t weight);

/* Replace each tensor by one on that device. The operators' results are of the current scope. */
int axle__batch_place(axle_batch *batch, axle_device *device);

#endif
