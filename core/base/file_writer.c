/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/crc32c.h"
#include "base/folder.h"
#include "base/memory.h"

enum { PIECE = 256 << 10 };

struct axle__file_writer {
    int fd;
    int code; /* sticky */
    char *path, *folder, *temporary;
    axle__file_sum sum;
};

static int cannot_write(const char *path, int reason)
{
    return axle_error_set(AXLE_ERR_IO, "cannot write %s: %s", path, strerror(reason));
}

/* Moving a file over a device or a folder would destroy it or fail late. */
static int check_place(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return axle_error_set(AXLE_ERR_IO, "cannot write %s: it is there and not a regular file",
                              path);
    return AXLE_OK;
}

/* Create a file that was not there beside `path`; its permissions follow the umask. */
static int create_temporary(axle__file_writer *writer)
{
    static unsigned counter;
    for (int attempt = 0; attempt < 100; attempt++) {
        unsigned number = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
        char *name = axle__format("%s.%ld-%u.tmp", writer->path, (long)getpid(), number);
        if (!name)
            return AXLE_ERR_NOMEM;
        writer->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (writer->fd >= 0) {
            writer->temporary = name;
            return AXLE_OK;
        }
        int reason = errno;
        axle__free(name);
        if (reason != EEXIST)
            return cannot_write(writer->path, reason);
    }
    return cannot_write(writer->path, EEXIST);
}

int axle__file_writer_open(const char *path, axle__file_writer **out)
{
    int code = check_place(path);
    if (code)
        return code;
    axle__file_writer *writer = axle__alloc(1, sizeof(*writer));
    if (!writer)
        return AXLE_ERR_NOMEM;
    writer->fd = -1;
    writer->path = axle__strdup(path);
    writer->folder = axle__folder_of(path);
    code = writer->path && writer->folder ? create_temporary(writer) : AXLE_ERR_NOMEM;
    if (code) {
        axle__file_writer_abort(writer);
        return code;
    }
    *out = writer;
    return AXLE_OK;
}

int axle__file_writer_write(axle__file_writer *writer, const void *data, size_t size)
{
    const char *next = data;
    while (!writer->code && size) {
        /* Small enough for what is summed to be in the cache still. */
        size_t piece = size < PIECE ? size : PIECE;
        ssize_t done = write(writer->fd, next, piece);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            writer->code = cannot_write(writer->path, errno);
            break;
        }
        writer->sum.crc32c = axle__crc32c(writer->sum.crc32c, next, (size_t)done);
        writer->sum.size += (uint64_t)done;
        next += done;
        size -= (size_t)done;
    }
    return writer->code;
}

axle__file_sum axle__file_writer_sum(const axle__file_writer *writer)
{
    return writer->sum;
}

/* Bytes to the disk, then the name. */
static int finish(axle__file_writer *writer)
{
    if (writer->code)
        return writer->code;
    if (fsync(writer->fd) && errno != EINVAL && errno != ENOTSUP)
        return cannot_write(writer->path, errno);
    int closed = close(writer->fd);
    writer->fd = -1;
    if (closed)
        return cannot_write(writer->path, errno);
    if (rename(writer->temporary, writer->path))
        return cannot_write(writer->path, errno);
    axle__free(writer->temporary);
    writer->temporary = NULL;
    return axle__folder_sync(writer->folder);
}

int axle__file_writer_commit(axle__file_writer *writer)
{
    int code = finish(writer);
    axle__file_writer_abort(writer);
    return code;
}

void axle__file_writer_abort(axle__file_writer *writer)
{
    if (!writer)
        return;
    if (writer->fd >= 0)
        close(writer->fd);
    if (writer->temporary)
        unlink(writer->temporary);
    axle__free(writer->temporary);
    axle__free(writer->folder);
    axle__free(writer->path);
    axle__free(writer);
}
