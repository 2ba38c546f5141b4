/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when a device does not take a call as it is. */
#ifndef AXLE_DEVICE_FALLBACK_H
#define AXLE_DEVICE_FALLBACK_H

#include "device/dispatch.h"

/* Run a call of `device` with the host's reference kernels: without copies where the device's
 * memory is host-visible, else by reading operands and writing results back. AXLE_FALLBACK=error
 * refuses. */
int axle__fallback_run(axle_device *device, const axle__call *call);

/* Run a call with row-major copies of the operands that are not row-major. */
int axle__contiguous_run(axle_device *device, const axle__call *call);

#endif
