/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axle/status.h"
#include "temporary.h"

enum { FILE_MODE = 0666 };

static int io_error(const char *path)
{
    return axle_error_set(AXLE_ERR_IO, "%s: %s", path, strerror(errno));
}

static int out_of_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
}

static int open_directly(whole_file *file)
{
    file->stream = fopen(file->path, "w");
    return file->stream ? AXLE_OK : io_error(file->path);
}

static int open_temporary(whole_file *file)
{
    file->temporary = temporary_name(file->path);
    if (!file->temporary)
        return AXLE_ERR_NOMEM;
    int descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
    if (descriptor >= 0)
        file->stream = fdopen(descriptor, "w");
    if (file->stream)
        return AXLE_OK;
    io_error(file->path);
    if (descriptor >= 0)
        close(descriptor);
    return AXLE_ERR_IO;
}

/* A symbolic link stays one: the file behind it is replaced. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

int whole_file_open(whole_file *file, const char *path)
{
    *file = (whole_file){NULL, resolve(path), NULL};
    if (!file->path)
        return out_of_memory();
    struct stat status;
    int special = stat(file->path, &status) == 0 && !S_ISREG(status.st_mode);
    int code = special ? open_directly(file) : open_temporary(file);
    if (code)
        whole_file_discard(file);
    return code;
}

static void forget(whole_file *file)
{
    free(file->path);
    free(file->temporary);
    *file = (whole_file){NULL, NULL, NULL};
}

int whole_file_commit(whole_file *file)
{
    int wrong = fflush(file->stream) != 0 || ferror(file->stream);
    if (!wrong && file->temporary)
        wrong = fsync(fileno(file->stream)) != 0;
    if (wrong) {
        io_error(file->path);
        whole_file_discard(file);
        return AXLE_ERR_IO;
    }
    wrong = fclose(file->stream) != 0 || (file->temporary && rename(file->temporary, file->path));
    file->stream = NULL;
    if (wrong) {
        io_error(file->path);
        whole_file_discard(file);
        return AXLE_ERR_IO;
    }
    forget(file);
    return AXLE_OK;
}

void whole_file_discard(whole_file *file)
{
    if (file->stream)
        fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    forget(file);
}

int whole_file_write(const char *path, const void *data, size_t size)
{
    whole_file file;
    int code = whole_file_open(&file, path);
    if (code)
        return code;
    fwrite(data, 1, size, file.stream);
    return whole_file_commit(&file);
}
