/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over what the hook "trace" sees: how often each thing happened and how long it took. */
#ifndef AXLE_DEVICE_PROFILE_H
#define AXLE_DEVICE_PROFILE_H

#include <stdint.h>

/* X(NAME, text): what rows are gathered under. */
#define AXLE__PROFILE_GROUP_LIST(X)                                                                \
    X(OPERATORS, "operators")                                                                      \
    X(FALLBACKS, "fallbacks")                                                                      \
    X(TRANSFERS, "transfers")                                                                      \
    X(MEMORY, "memory")                                                                            \
    X(COLLECTIVES, "collectives")                                                                  \
    X(PHASES, "phases")

typedef enum axle__profile_group {
#define AXLE__PROFILE_GROUP_ENUM(name, text) AXLE__PROFILE_##name,
    AXLE__PROFILE_GROUP_LIST(AXLE__PROFILE_GROUP_ENUM)
#undef AXLE__PROFILE_GROUP_ENUM
        AXLE__PROFILE_GROUPS
} axle__profile_group;

/* Begin anew. */
void axle__profile_reset(void);
/* Count one. `name` is of static storage, as is `backend`, which may be NULL. */
void axle__profile_add(axle__profile_group group, const char *backend, const char *name,
                       int64_t nanoseconds, uint64_t bytes);

#endif
