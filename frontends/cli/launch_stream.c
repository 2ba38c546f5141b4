/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "launch_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line that is longer than LONGEST is passed on in pieces. A pipe holds fewer than LAST_PIECES.
 */
enum { PIECE = 1 << 16, LONGEST = 1 << 20, TAIL_LINE = 1 << 10, LAST_PIECES = 64 };

static void keep_tail(launch_stream *stream, const char *line, size_t length)
{
    char **place = &stream->tail[stream->tail_count % STREAM_TAIL];
    free(*place);
    *place = strndup(line, length < TAIL_LINE ? length : TAIL_LINE);
    stream->tail_count++;
}

/* `length` without the newline. */
static void pass_on(launch_stream *stream, const char *line, size_t length)
{
    if (stream->tag >= 0)
        launch_output_print(stream->to, "[%d] ", stream->tag);
    launch_output_add(stream->to, line, length);
    launch_output_add(stream->to, "\n", 1);
    stream->lines_then = ++stream->to->lines;
    if (stream->log) {
        fwrite(line, 1, length, stream->log);
        fputc('\n', stream->log);
        fflush(stream->log);
    }
    if (stream->tail_count >= 0)
        keep_tail(stream, line, length);
}

static void pass_whole_lines(launch_stream *stream, size_t looked_at)
{
    char *from = stream->line, *end = stream->line + stream->used;
    char *search = from + looked_at, *newline;
    while ((newline = memchr(search, '\n', (size_t)(end - search)))) {
        pass_on(stream, from, (size_t)(newline - from));
        from = search = newline + 1;
    }
    stream->used = (size_t)(end - from);
    memmove(stream->line, from, stream->used);
    if (stream->used >= LONGEST) {
        pass_on(stream, stream->line, stream->used);
        stream->used = 0;
    }
}

static void close_stream(launch_stream *stream)
{
    if (stream->used > 0)
        pass_on(stream, stream->line, stream->used);
    stream->used = 0;
    if (stream->descriptor >= 0)
        close(stream->descriptor);
    stream->descriptor = -1;
}

static int reserve(launch_stream *stream)
{
    if (stream->used + PIECE <= stream->size)
        return 0;
    size_t size = stream->size + PIECE;
    char *grown = realloc(stream->line, size);
    if (!grown)
        return -1;
    stream->line = grown;
    stream->size = size;
    return 0;
}

/* Returns whether anything was there. */
static int read_piece(launch_stream *stream)
{
    if (stream->descriptor < 0)
        return 0;
    if (reserve(stream)) {
        close_stream(stream);
        return 0;
    }
    ssize_t got = read(stream->descriptor, stream->line + stream->used, PIECE);
    if (got > 0) {
        size_t looked_at = stream->used;
        stream->used += (size_t)got;
        pass_whole_lines(stream, looked_at);
        return 1;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_stream(stream);
    return 0;
}

void launch_stream_read(launch_stream *stream)
{
    read_piece(stream);
}

void launch_stream_end(launch_stream *stream)
{
    for (int k = 0; k < LAST_PIECES && read_piece(stream); k++)
        ;
    close_stream(stream);
}

int launch_stream_is_far(const launch_stream *stream)
{
    return stream->to->lines - stream->lines_then > STREAM_TAIL;
}

const char *launch_stream_tail(const launch_stream *stream, int n)
{
    int count = stream->tail_count < STREAM_TAIL ? stream->tail_count : STREAM_TAIL;
    return n < count ? stream->tail[(stream->tail_count - count + n) % STREAM_TAIL] : NULL;
}

void launch_stream_release(launch_stream *stream)
{
    if (stream->descriptor >= 0)
        close(stream->descriptor);
    stream->descriptor = -1;
    free(stream->line);
    for (int k = 0; k < STREAM_TAIL; k++)
        free(stream->tail[k]);
    stream->line = NULL;
    stream->used = stream->size = 0;
    memset(stream->tail, 0, sizeof(stream->tail));
}
