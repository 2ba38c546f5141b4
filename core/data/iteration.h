/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scope that each turn of a loop over a loader has. Loops nest and are left early, so that an
 * iteration may end with scopes above its own still open; the thread keeps count.
 */
#ifndef AXLE_DATA_ITERATION_H
#define AXLE_DATA_ITERATION_H

#include <stdint.h>

/* Starts zeroed. */
typedef struct axle__iteration {
    uint64_t serial; /* 0: closed */
} axle__iteration;

/* Push a scope. AXLE_ERR_STATE if loops are nested too deep; AXLE_ERR_NOMEM. */
int axle__iteration_open(axle__iteration *iteration);
/* Pop the scope, and what was pushed since. Nothing if an outer iteration was closed before, or on
 * another thread. */
void axle__iteration_close(axle__iteration *iteration);

#endif
