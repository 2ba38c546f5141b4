/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a Chrome trace: a JSON array of events, as chrome://tracing and Perfetto read it.
 * Events are written in whole lines, a few times a second; of a process that is killed a file
 * remains that lacks the closing bracket and the last moment, which these readers accept.
 */
#ifndef AXLE_DEVICE_TRACE_FILE_H
#define AXLE_DEVICE_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Open it, anew. "%p" in the path stands for the process's number. Where another process writes
 * that file, the number is put before its ending: trace.json, trace.123.json. */
int axle__trace_file_open(const char *path);
/* What is written, or was last; "" before. Stays until the next one is opened. */
const char *axle__trace_file_path(void);
/* Write what remains, and the bracket. Records an error where the disk was full. */
int axle__trace_file_close(void);

/* False before it is opened, after it is closed, and in children of fork(). */
bool axle__trace_file_is_open(void);

/* Add an event: a JSON object without a line's end. A text that was cut off is left out. */
void axle__trace_file_add(const axle__text *event);

/* A string in quotes, escaped as JSON wants it. */
void axle__trace_string(axle__text *text, const char *string);

/* Nanoseconds on a clock that nobody sets. */
int64_t axle__trace_now(void);
/* Number of the calling thread. */
int axle__trace_thread(void);
/* `"pid":...,"tid":...,"ts":...`: times are written in microseconds. */
void axle__trace_place(axle__text *text, int64_t thread, int64_t time);

#endif
