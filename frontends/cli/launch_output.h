/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher's own standard output and error. Lines are queued and written as the reader takes
 * them, so that a slow reader never keeps the launcher from its signals.
 */
#ifndef AXLE_CLI_LAUNCH_OUTPUT_H
#define AXLE_CLI_LAUNCH_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct launch_output {
    int descriptor;
    char *data;
    size_t start, used, size;
    int lines; /* of children, so far */
    int error; /* errno of a failed write; nothing is written after it */
} launch_output;

/* Append bytes, or a formatted line. */
void launch_output_add(launch_output *output, const char *data, size_t size);
void launch_output_print(launch_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether there is something to write; whether so much that nothing should be added. */
bool launch_output_pending(const launch_output *output);
bool launch_output_full(const launch_output *output);
/* Write some. The descriptor was polled, so that it does not block. */
void launch_output_write(launch_output *output);
/* Write all, waiting for the reader at most that long. */
void launch_output_flush(launch_output *output, int milliseconds);
void launch_output_release(launch_output *output);

#endif
