/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "launch_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FULL = 1 << 20 };

static bool reserve(launch_output *output, size_t more)
{
    if (output->start == output->used)
        output->start = output->used = 0;
    if (output->used + more <= output->size)
        return true;
    size_t held = output->used - output->start;
    if (output->start > 0)
        memmove(output->data, output->data + output->start, held);
    output->start = 0;
    output->used = held;
    if (held + more <= output->size)
        return true;
    size_t size = 2 * (held + more);
    char *grown = realloc(output->data, size);
    if (!grown) {
        output->error = ENOMEM;
        return false;
    }
    output->data = grown;
    output->size = size;
    return true;
}

void launch_output_add(launch_output *output, const char *data, size_t size)
{
    if (output->error || size == 0 || !reserve(output, size))
        return;
    memcpy(output->data + output->used, data, size);
    output->used += size;
}

void launch_output_print(launch_output *output, const char *format, ...)
{
    char *line = NULL;
    va_list list;
    va_start(list, format);
    int length = vasprintf(&line, format, list);
    va_end(list);
    if (length < 0)
        return;
    launch_output_add(output, line, (size_t)length);
    free(line);
}

bool launch_output_pending(const launch_output *output)
{
    return !output->error && output->used > output->start;
}

bool launch_output_full(const launch_output *output)
{
    return !output->error && output->used - output->start > FULL;
}

/* A pipe that poll() calls writable takes PIPE_BUF bytes at once. */
void launch_output_write(launch_output *output)
{
    size_t held = output->used - output->start;
    ssize_t written =
        write(output->descriptor, output->data + output->start, held < PIPE_BUF ? held : PIPE_BUF);
    if (written >= 0)
        output->start += (size_t)written;
    else if (errno != EINTR && errno != EAGAIN)
        output->error = errno;
}

void launch_output_flush(launch_output *output, int milliseconds)
{
    struct pollfd ready = {.fd = output->descriptor, .events = POLLOUT};
    while (launch_output_pending(output) && poll(&ready, 1, milliseconds) > 0)
        launch_output_write(output);
}

void launch_output_release(launch_output *output)
{
    free(output->data);
    *output = (launch_output){.descriptor = output->descriptor};
}
