/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a row. Functions that may fail return 1, or 0 with a note. */
#ifndef AXLE_CHECK_NOTE_H
#define AXLE_CHECK_NOTE_H

#include "axle/types.h"

enum { NOTE_SIZE = 480 };

typedef struct note {
    char text[NOTE_SIZE];
} note;

/* Write a note and return 0. */
int note_fail(note *n, const char *format, ...) AXLE_PRINTF(2, 3);
/* Put words before what the note says, and return 0. */
int note_prefix(note *n, const char *format, ...) AXLE_PRINTF(2, 3);

#endif
