/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axle/status.h"
#include "base/memory.h"

static int cannot_read(const char *path, int reason)
{
    int code = reason == ENOENT || reason == ENOTDIR ? AXLE_ERR_NOT_FOUND : AXLE_ERR_IO;
    return axle_error_set(code, "cannot read %s: %s", path, strerror(reason));
}

/* Open for reading, and the size that the file claims. */
static int open_to_read(const char *path, struct stat *about)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot_read(path, errno);
    if (fstat(fd, about) == 0 && !S_ISDIR(about->st_mode))
        return fd;
    int code = cannot_read(path, S_ISDIR(about->st_mode) ? EISDIR : errno);
    close(fd);
    return code;
}

/* read(), repeated where a signal interrupts it. */
static ssize_t read_some(int fd, char *data, size_t size)
{
    ssize_t got;
    do
        got = read(fd, data, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Read to the end. The size is a guess: pipes have none, and files grow. */
static int read_all(const char *path, int fd, size_t guess, char **out, size_t *size)
{
    size_t room = guess + 1, used = 0;
    char *text = axle__alloc(room, 1);
    while (text) {
        ssize_t got = read_some(fd, text + used, room - used);
        if (got < 0) {
            int reason = errno;
            axle__free(text);
            return cannot_read(path, reason);
        }
        used += (size_t)got;
        if (got == 0) {
            /* Here room > used: a full buffer was made larger. */
            text[used] = '\0';
            *out = text;
            *size = used;
            return AXLE_OK;
        }
        if (used < room)
            continue;
        char *larger = room <= SIZE_MAX / 2 ? axle__resize(text, room * 2, 1) : NULL;
        if (!larger)
            axle__free(text);
        text = larger;
        room *= 2;
    }
    return AXLE_ERR_NOMEM;
}

int axle__file_read(const char *path, char **out, size_t *size)
{
    struct stat about = {0};
    int fd = open_to_read(path, &about);
    if (fd < 0)
        return fd;
    size_t guess =
        about.st_size > 0 && (uintmax_t)about.st_size < SIZE_MAX ? (size_t)about.st_size : 0;
    int code = read_all(path, fd, guess, out, size);
    close(fd);
    return code;
}

static int map_open_file(const char *path, int fd, const struct stat *about, axle__file_map *out)
{
    if (!S_ISREG(about->st_mode))
        return axle_error_set(AXLE_ERR_IO, "cannot read %s: it is not a regular file", path);
    if ((uintmax_t)about->st_size > SIZE_MAX)
        return axle_error_set(AXLE_ERR_NOMEM, "cannot read %s: it is larger than the address space",
                              path);
    size_t size = (size_t)about->st_size;
    void *data = NULL;
    if (size) {
        data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            return cannot_read(path, errno);
    }
    out->data = data;
    out->size = size;
    return AXLE_OK;
}

int axle__file_map_open(const char *path, axle__file_map *out)
{
    struct stat about = {0};
    int fd = open_to_read(path, &about);
    if (fd < 0)
        return fd;
    int code = map_open_file(path, fd, &about, out);
    close(fd);
    return code;
}

void axle__file_map_close(axle__file_map *map)
{
    if (map->data)
        munmap((void *)(uintptr_t)map->data, map->size);
    map->data = NULL;
    map->size = 0;
}
