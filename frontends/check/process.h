/* SPDX-License-Identifier: Apache-2.0 */
/* Work in a child process, which may crash or hang. */
#ifndef AXLE_CHECK_PROCESS_H
#define AXLE_CHECK_PROCESS_H

#include <stdint.h>

#include "note.h"

/* What a child tells. What the fields mean is between it and whoever started it. */
typedef struct message {
    uint32_t kind, number;
    int32_t status;
    char text[NOTE_SIZE];
} message;

/* The work; it tells through process_tell(), and is over when it returns. */
typedef void (*process_fn)(void *arg, int channel);
void process_tell(int channel, const message *m);

typedef void (*message_fn)(void *user, const message *m);

/*
 * Run the work in a child and pass its messages on. A child that tells nothing for `limit_s`
 * seconds is killed. Returns 1 where it ended well; 0 and a note on how it ended where not.
 */
int process_run(process_fn work, void *arg, int64_t limit_s, message_fn on_message, void *user,
                note *n);

#endif
