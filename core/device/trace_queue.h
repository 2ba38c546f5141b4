/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When operators of an asynchronous device are done. A marker, one of the device's events, follows
 * each operator into the queue; a thread waits for the markers in turn. Queues run in order, so an
 * operator took the time from its own start, or from the end of the one before it if that is later,
 * to its marker.
 */
#ifndef AXLE_DEVICE_TRACE_QUEUE_H
#define AXLE_DEVICE_TRACE_QUEUE_H

#include "device/device.h"

/* Told of each finished operator, by the thread that waits. `user` is what was given with it. */
typedef void (*axle__trace_done_fn)(void *user, int64_t start, int64_t end);

/* Whether the device has what this takes. */
bool axle__trace_queue_serves(const axle_device *device);
/* Put a marker behind what was just enqueued, at time `start`. Where that fails, `user` is told at
 * once that the work ended now. */
void axle__trace_queue_add(axle_device *device, int64_t start, axle__trace_done_fn done,
                           void *user);
/* Wait until all markers are reached, and let go of the thread. */
void axle__trace_queue_drain(void);

#endif
