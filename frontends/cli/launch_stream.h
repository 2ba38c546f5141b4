/* SPDX-License-Identifier: Apache-2.0 */
/* What a child prints, cut into lines. */
#ifndef AXLE_CLI_LAUNCH_STREAM_H
#define AXLE_CLI_LAUNCH_STREAM_H

#include <stddef.h>
#include <stdio.h>

#include "launch_output.h"

enum { STREAM_TAIL = 10 };

typedef struct launch_stream {
    int descriptor; /* does not block; -1: at its end */
    char *line;     /* what came of a line that is not whole yet */
    size_t used, size;
    launch_output *to;
    FILE *log;               /* NULL: none */
    int tag;                 /* rank to begin lines with; -1: none */
    char *tail[STREAM_TAIL]; /* the last lines, at `tail_count` modulo STREAM_TAIL the oldest */
    int tail_count;          /* lines so far; -1: they are not kept */
    int lines_then;          /* `to->lines` after the last of them */
} launch_stream;

/* Read what is there and pass whole lines on. */
void launch_stream_read(launch_stream *stream);
/* Read what is left, pass on a last line without its end, too, and close. */
void launch_stream_end(launch_stream *stream);
/* Whether so many lines of others followed that the last ones are out of sight. */
int launch_stream_is_far(const launch_stream *stream);
/* The n-th of the last lines; NULL after them. */
const char *launch_stream_tail(const launch_stream *stream, int n);
void launch_stream_release(launch_stream *stream);

#endif
