/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of event files that shares nothing with their writer. */
#ifndef AXLE_TESTS_UNIT_TRACK_EVENTS_H
#define AXLE_TESTS_UNIT_TRACK_EVENTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct event_value {
    int64_t step;
    char tag[64];
    double wall_time;
    float value; /* of a scalar */
    int kind;    /* 's': scalar, 'i': picture, 'm': metadata alone, 'v': version, 'r': restart */
    const uint8_t *bytes; /* of a picture, or of metadata */
    size_t size;
} event_value;

typedef struct event_file {
    uint8_t *data;
    size_t size;
    event_value values[64];
    int count;
    int cut; /* the last record is not whole */
} event_file;

/* Read the event file of a folder whose place in the order of names is `nth`. Returns NULL, or what
 * is wrong with it. */
const char *events_read(const char *folder, int nth, event_file *out);
void events_free(event_file *file);

#endif
