/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: what can be put around the work of any device without the backend's knowledge. A hook sees
 * a point before it and after it; AXLE_HOOK names the hooks that are on, several at once:
 *
 *     check   runs each operator on the host, too, and compares (hook_check.c)
 *     trace   writes down when what ran (hook_trace.c)
 *     delay   sleeps at random, to bring races to light (hook_delay.c)
 *
 * While none is on a point costs a load and a branch. Points nest; what a hook runs itself is not
 * seen by hooks.
 */
#ifndef AXLE_DEVICE_HOOK_H
#define AXLE_DEVICE_HOOK_H

#include "device/dispatch.h"

/* X(NAME, text): the kinds of points. */
#define AXLE__HOOK_KIND_LIST(X)                                                                    \
    X(RUN, "run")               /* an operator on the device: call, impl */                        \
    X(FALLBACK, "fallback")     /* an operator that the host runs in the device's stead: call */   \
    X(WRITE, "write")           /* from the host to the device: bytes */                           \
    X(READ, "read")             /* from the device to the host: bytes */                           \
    X(FINISH, "finish")         /* waiting for the device */                                       \
    X(ALLOCATE, "allocate")     /* memory taken from the device: bytes */                          \
    X(RELEASE, "release")       /* memory given back: bytes */                                     \
    X(COLLECTIVE, "collective") /* what the processes do together: name, bytes; no device */       \
    X(PHASE, "phase")           /* a stretch of a training loop: name; no device */

typedef enum axle__hook_kind {
#define AXLE__HOOK_KIND_ENUM(name, text) AXLE__HOOK_##name,
    AXLE__HOOK_KIND_LIST(AXLE__HOOK_KIND_ENUM)
#undef AXLE__HOOK_KIND_ENUM
        AXLE__HOOK_KINDS
} axle__hook_kind;

enum { AXLE__HOOK_CHECK, AXLE__HOOK_DELAY, AXLE__HOOK_TRACE, AXLE__HOOKS };

/* What a hook keeps from before a point to after it. */
typedef union axle__hook_state {
    void *memory;
    int64_t time;
} axle__hook_state;

typedef struct axle__hook_point {
    axle__hook_kind kind;
    axle_device *device;
    const char *name; /* of a phase: "forward"; of a collective: "all_reduce" */
    const char *impl; /* of a run: what op_query called it, or "" */
    const axle__call *call;
    uint64_t bytes;
    uint32_t seen;                        /* bit per hook that saw the beginning */
    const struct axle__hook_point *outer; /* phases: the one around it */
    axle__hook_state state[AXLE__HOOKS];
} axle__hook_point;

/* A hook. Absent functions are NULL. A `before` that fails stops the point; its own `after` does
 * not run then. `after` gets the status so far and returns that of the whole, so that it can add an
 * error of its own. */
typedef struct axle__hook {
    const char *name;
    int (*start)(void);
    void (*stop)(void);
    int (*before)(const axle__hook_point *point, axle__hook_state *state);
    int (*after)(const axle__hook_point *point, axle__hook_state *state, int status);
    void (*forget)(axle_device *device); /* it is about to close */
} axle__hook;

extern const axle__hook axle__hook_check, axle__hook_delay, axle__hook_trace;

/* Bit per hook that is on. */
extern uint32_t axle__hooks_on;

static inline bool axle__hooks_active(void)
{
    return __builtin_expect(__atomic_load_n(&axle__hooks_on, __ATOMIC_RELAXED) != 0, 0);
}

/* Turn on what AXLE_HOOK names, once until axle__hooks_stop(). Records an error for an unknown
 * name, and where a hook does not start. */
int axle__hooks_start(void);
/* Turn one hook on; nothing happens if it is on already. */
int axle__hook_start(int hook);
void axle__hook_stop(int hook);
/* Turn all off. */
void axle__hooks_stop(void);
/* A device is about to close: hooks let go of it. */
void axle__hooks_forget(axle_device *device);

/* Around the work: its status is AXLE_OK or the first error. After follows in every case. */
int axle__hook_before(axle__hook_point *point);
int axle__hook_after(axle__hook_point *point, int status);

/* A stretch of a training loop on this thread; `name` is a literal. Phases end in the reverse order
 * of their beginning. */
void axle__phase_enter(axle__hook_point *point, const char *name);
void axle__phase_leave(axle__hook_point *point);

static inline void axle__phase_begin(axle__hook_point *point, const char *name)
{
    point->name = NULL;
    if (axle__hooks_active())
        axle__phase_enter(point, name);
}

static inline void axle__phase_end(axle__hook_point *point)
{
    if (__builtin_expect(point->name != NULL, 0))
        axle__phase_leave(point);
}

/* The innermost phase that this thread is in, or NULL. */
const char *axle__phase_current(void);

const char *axle__hook_kind_name(axle__hook_kind kind);

#endif
