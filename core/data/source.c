/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "data/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "axle/status.h"
#include "base/memory.h"

#ifdef HAVE_ZLIB
typedef gzFile stream; /* zlib passes plain files through */
#else
typedef FILE *stream;
#endif

struct axle__source {
    char *path;
    stream stream;
};

/* ---- the two kinds of stream */

static int cannot_read(const char *path, int reason)
{
    int code = reason == ENOENT || reason == ENOTDIR ? AXLE_ERR_NOT_FOUND : AXLE_ERR_IO;
    return axle_error_set(code, "cannot read %s: %s", path, strerror(reason));
}

#ifdef HAVE_ZLIB

static int stream_open(axle__source *source)
{
    errno = 0;
    source->stream = gzopen(source->path, "rbe");
    if (!source->stream)
        return errno ? cannot_read(source->path, errno) : AXLE_ERR_NOMEM;
    gzbuffer(source->stream, 128 * 1024);
    return AXLE_OK;
}

static void stream_close(axle__source *source)
{
    if (source->stream)
        gzclose(source->stream);
}

/* Bytes read, fewer than `size` only at the end; or a negative code. */
static ptrdiff_t stream_read(axle__source *source, void *data, size_t size)
{
    size_t used = 0;
    while (used < size) {
        size_t piece = size - used < (1u << 30) ? size - used : 1u << 30;
        int got = gzread(source->stream, (char *)data + used, (unsigned)piece);
        if (got > 0)
            used += (size_t)got;
        if (got >= 0 && (size_t)got == piece)
            continue;
        int failure;
        const char *reason = gzerror(source->stream, &failure);
        if (failure == Z_OK || failure == Z_STREAM_END)
            break;
        return axle_error_set(failure == Z_ERRNO ? AXLE_ERR_IO : AXLE_ERR_FORMAT, "%s: %s",
                              source->path, failure == Z_ERRNO ? strerror(errno) : reason);
    }
    return (ptrdiff_t)used;
}

#else

static int stream_open(axle__source *source)
{
    source->stream = fopen(source->path, "rb");
    if (!source->stream)
        return cannot_read(source->path, errno);
    int first = getc(source->stream), second = getc(source->stream);
    if (first == 0x1f && second == 0x8b)
        return axle_error_set(AXLE_ERR_UNSUPPORTED,
                              "%s: it is compressed, and this build has no zlib", source->path);
    if (fseek(source->stream, 0, SEEK_SET))
        return cannot_read(source->path, errno);
    return AXLE_OK;
}

static void stream_close(axle__source *source)
{
    if (source->stream)
        fclose(source->stream);
}

static ptrdiff_t stream_read(axle__source *source, void *data, size_t size)
{
    size_t got = fread(data, 1, size, source->stream);
    if (got < size && ferror(source->stream))
        return cannot_read(source->path, errno);
    return (ptrdiff_t)got;
}

#endif

/* ---- what they have in common */

static int open_source(axle__source *source, const char *path)
{
    struct stat about;
    source->path = axle__strdup(path);
    if (!source->path)
        return AXLE_ERR_NOMEM;
    if (stat(path, &about))
        return cannot_read(path, errno);
    if (S_ISDIR(about.st_mode))
        return cannot_read(path, EISDIR);
    return stream_open(source);
}

int axle__source_open(const char *path, axle__source **out)
{
    axle__source *source = axle__alloc(1, sizeof(*source));
    if (!source)
        return AXLE_ERR_NOMEM;
    int code = open_source(source, path);
    if (code) {
        axle__source_close(source);
        return code;
    }
    *out = source;
    return AXLE_OK;
}

void axle__source_close(axle__source *source)
{
    if (!source)
        return;
    stream_close(source);
    axle__free(source->path);
    axle__free(source);
}

int axle__source_malformed(const axle__source *source, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return axle_error_set(AXLE_ERR_FORMAT, "%s: %s", source->path, text);
}

int axle__source_read(axle__source *source, void *data, size_t size, const char *what)
{
    ptrdiff_t got = stream_read(source, data, size);
    if (got < 0)
        return (int)got;
    if ((size_t)got < size)
        return axle__source_malformed(source, "truncated: only %td of %zu bytes of %s", got, size,
                                      what);
    return AXLE_OK;
}

/* Read `size` bytes in steps that double. */
static int read_growing(axle__source *source, size_t size, const char *what, char **data)
{
    size_t used = 0, step = (size_t)16 << 20;
    while (used < size) {
        size_t piece = size - used < step ? size - used : step;
        char *larger = axle__resize(*data, used + piece, 1);
        if (!larger)
            return AXLE_ERR_NOMEM;
        *data = larger;
        ptrdiff_t got = stream_read(source, larger + used, piece);
        if (got < 0)
            return (int)got;
        used += (size_t)got;
        if ((size_t)got < piece)
            return axle__source_malformed(source, "truncated: only %zu of %zu bytes of %s", used,
                                          size, what);
        step = used;
    }
    return AXLE_OK;
}

int axle__source_read_alloc(axle__source *source, size_t size, const char *what, void **out)
{
    char *data = axle__alloc(1, 1);
    int code = data ? read_growing(source, size, what, &data) : AXLE_ERR_NOMEM;
    if (code) {
        axle__free(data);
        return code;
    }
    *out = data;
    return AXLE_OK;
}

int axle__source_end(axle__source *source)
{
    char byte;
    ptrdiff_t got = stream_read(source, &byte, 1);
    if (got < 0)
        return (int)got;
    return got ? axle__source_malformed(source, "there are bytes behind the last element")
               : AXLE_OK;
}
