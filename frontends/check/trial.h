/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of one process share: the loaded plugin, its device, the reference. */
#ifndef AXLE_CHECK_TRIAL_H
#define AXLE_CHECK_TRIAL_H

#include "case.h"
#include "check.h"
#include "machine.h"

typedef struct trial {
    const check_options *options;
    uint32_t index; /* of the device under test */
    const axle_plugin *plugin;
    machine subject, reference; /* open where they have a device */
} trial;

/* Each makes it so, or finds it so. */
int trial_load(trial *t, note *n);
int trial_open(trial *t, note *n);
int trial_reference(trial *t, note *n);
/* Close the device under test. */
void trial_close(trial *t);
void trial_end(trial *t);

/* A row that is no case of an operator. Returns a check_status. */
typedef struct behaviour {
    const char *group, *name;
    check_status (*run)(trial *t, note *n);
    int leaves; /* the row ends the process, and passes where that goes well */
} behaviour;

/* Note what is wrong and return CHECK_FAILED. */
#define ROW_FAILED(...) (note_fail(__VA_ARGS__), CHECK_FAILED)

/* Tables, each ended by group = NULL. The rows of `before` come before those of operators. */
#define BEHAVIOUR_FILES_BEFORE(X)                                                                  \
    X(interface)                                                                                   \
    X(device)                                                                                      \
    X(memory)                                                                                      \
    X(queue)
#define BEHAVIOUR_FILES_AFTER(X)                                                                   \
    X(philox)                                                                                      \
    X(threads)                                                                                     \
    X(exhaustion)                                                                                  \
    X(exit)
#define DECLARE_BEHAVIOURS(file) extern const behaviour behaviours_##file[];
BEHAVIOUR_FILES_BEFORE(DECLARE_BEHAVIOURS)
BEHAVIOUR_FILES_AFTER(DECLARE_BEHAVIOURS)
#undef DECLARE_BEHAVIOURS

/* The case in an element type. */
check_status case_run(trial *t, const op_case *c, uint32_t dtype, note *n);
/* Whether the reference takes the case in an element type: 1, 0, or -1 where it is malformed. */
int case_applies(const machine *reference, const op_case *c, uint32_t dtype);

#endif
