/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatch: the single door through which operators reach devices. A call is a description, a
 * look-up in the cache of prepared operators, and a run; what a device declines, the host's
 * reference kernels do.
 */
#ifndef AXLE_DEVICE_DISPATCH_H
#define AXLE_DEVICE_DISPATCH_H

#include "device/device.h"

/* One call. Views carry buffers; absent operands are NULL. `attrs` (attrs_size bytes, beginning
 * with its own struct_size and without undefined padding) is part of the cache's key. */
typedef struct axle__call {
    uint32_t op, flags;
    uint32_t n_in, n_out;
    const axle_view *in[AXLE_OP_MAX_IN];
    const axle_view *out[AXLE_OP_MAX_OUT];
    const void *attrs;
    uint32_t attrs_size;
    uint64_t rng_seed, rng_offset;
    const void *scalars;
} axle__call;

/* Run it. Outputs without an element are left alone. */
int axle__dispatch(axle_device *device, const axle__call *call);

/* Layout that the device would like the call's outputs to have; AXLE_LAYOUT_*. */
uint32_t axle__dispatch_layout(axle_device *device, const axle__call *call);

/* Whether the device serves the call itself. */
bool axle__dispatch_supported(axle_device *device, const axle__call *call);

const char *axle__op_name(uint32_t op);

/* Whether the elements of a view lie in row-major order without gaps; no elements always do. */
bool axle__view_is_row_major(const axle_view *view);

#endif
