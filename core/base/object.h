/* SPDX-License-Identifier: Apache-2.0 */
/* The head of handles: what kind of object it is, and how many references it has. */
#ifndef AXLE_BASE_OBJECT_H
#define AXLE_BASE_OBJECT_H

#include "axle/nn.h" /* axle_object */

#include <stdbool.h>

/* Unlikely numbers, so that a stranger is recognised. */
enum {
    AXLE__OBJECT_MODULE = 0x41784d6f,
    AXLE__OBJECT_MODEL = 0x41784d64,
    AXLE__OBJECT_OPTIMIZER = 0x41784f70,
    AXLE__OBJECT_SCHEDULER = 0x41785363,
    AXLE__OBJECT_LOADER = 0x41784c6f,
    AXLE__OBJECT_DATASET = 0x41784473
};

static inline void axle__object_init(axle_object *object, uint32_t type)
{
    object->type = type;
    object->references = 1;
}

static inline void axle__object_retain(axle_object *object)
{
    __atomic_add_fetch(&object->references, 1, __ATOMIC_RELAXED);
}

/* Whether that was the last reference. */
static inline bool axle__object_release(axle_object *object)
{
    return __atomic_sub_fetch(&object->references, 1, __ATOMIC_ACQ_REL) == 0;
}

#endif
