/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door at which operators cast their operands inside an autocast region. An operator begins
 *
 *     if (!AXLE__AUTOCAST(linear, &x, &weight, &bias))
 *         return NULL;
 *
 * Outside of regions that costs a look at one number. Operands that are NULL, integers or f64 stay
 * as they are.
 */
#ifndef AXLE_AUTOGRAD_AUTOCAST_H
#define AXLE_AUTOGRAD_AUTOCAST_H

#include <stdbool.h>

#include "autograd/autocast_ops.h"
#include "axle/autocast.h"
#include "axle/tensor.h"

typedef enum axle__cast_policy {
    AXLE__CAST_NONE,
    AXLE__CAST_LOW,   /* to the region's type */
    AXLE__CAST_FULL,  /* halves to f32 */
    AXLE__CAST_WIDEST /* to f32 where types differ */
} axle__cast_policy;

enum {
#define AXLE__AUTOCAST_ENUM(name, policy) AXLE__AUTOCAST_##name = AXLE__CAST_##policy,
    AXLE__AUTOCAST_LIST(AXLE__AUTOCAST_ENUM)
#undef AXLE__AUTOCAST_ENUM
};

/* Cast operands (a NULL-terminated list of where they are) as a policy says; false, with the error
 * recorded, where a cast failed. */
bool axle__autocast(int policy, axle_tensor **const *operands);
#define AXLE__AUTOCAST(name, ...)                                                                  \
    axle__autocast(AXLE__AUTOCAST_##name, (axle_tensor * *const[]){__VA_ARGS__, NULL})

/* For a list of n operands, none NULL: the list itself, or a list of casts in *owned, to be freed
 * with axle__free(). NULL on failure. */
axle_tensor *const *axle__autocast_list(int policy, axle_tensor *const *x, int n,
                                        axle_tensor ***owned);

/* Whether a region is open on this thread, be it one of f32. */
bool axle__autocast_is_open(void);
/* Leave all regions, and the casts of parameters in them, for a while: backward runs in the types
 * of forward. Regions opened meanwhile are closed before the way back. */
typedef struct axle__autocast_state {
    int dtype, base, first;
} axle__autocast_state;
axle__autocast_state axle__autocast_suspend(void);
void axle__autocast_resume(axle__autocast_state state);

#endif
