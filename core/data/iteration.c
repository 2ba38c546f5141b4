/* SPDX-License-Identifier: Apache-2.0 */
#include "data/iteration.h"

#include "axle/status.h"
#include "axle/tensor.h"

enum { NESTING_MAX = 64 };

/* Open iterations of this thread, outermost first. No pointers, since a loader may be released on
 * another thread. */
static _Thread_local struct {
    uint64_t serial;
    int depth; /* scopes that were open with this one */
} open_iterations[NESTING_MAX];
static _Thread_local int open_count;

/* Those whose scope somebody else has closed are over. */
static void forget_closed(void)
{
    while (open_count > 0 && open_iterations[open_count - 1].depth > axle_scope_depth())
        open_count--;
}

int axle__iteration_open(axle__iteration *iteration)
{
    static uint64_t serial;
    forget_closed();
    if (open_count == NESTING_MAX)
        return axle_error_set(AXLE_ERR_STATE, "loader: %d loops are open inside each other",
                              NESTING_MAX);
    int code = axle_scope_push();
    if (code)
        return code;
    iteration->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
    open_iterations[open_count].serial = iteration->serial;
    open_iterations[open_count++].depth = axle_scope_depth();
    return AXLE_OK;
}

void axle__iteration_close(axle__iteration *iteration)
{
    uint64_t serial = iteration->serial;
    iteration->serial = 0;
    for (int k = open_count - 1; serial && k >= 0; k--) {
        if (open_iterations[k].serial != serial)
            continue;
        while (axle_scope_depth() >= open_iterations[k].depth)
            axle_scope_pop();
        open_count = k;
        return;
    }
}
