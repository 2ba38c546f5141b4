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

enum { PLAIN_MODE = 0666, FOLDER_MODE = 0777 };

static int io_error(const char *path)
{
    return axle_error_set(AXLE_ERR_IO, "%s: %s", path, strerror(errno));
}

static int out_of_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
}

/* ------------------------------------------------------------------ files */

static int open_directly(whole_file *file)
{
    file->stream = fopen(file->path, "w");
    return file->stream ? AXLE_OK : io_error(file->path);
}

static int open_temporary(whole_file *file)
{
    if (asprintf(&file->temporary, "%s.%ld.tmp", file->path, (long)getpid()) < 0) {
        file->temporary = NULL;
        return out_of_memory();
    }
    int descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, PLAIN_MODE);
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

/* ------------------------------------------------------------------ folders */

/* mkdir -p; `path` is scratch. */
static int make_folders(char *path)
{
    for (char *slash = path + 1; *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = '\0';
        int wrong = mkdir(path, FOLDER_MODE) != 0 && errno != EEXIST;
        *slash = '/';
        if (wrong)
            return -1;
    }
    return mkdir(path, FOLDER_MODE);
}

int folder_prepare(const char *path, int *created)
{
    char *scratch = strdup(path), *probe = NULL;
    if (!scratch || asprintf(&probe, "%s/.axle-%ld.tmp", path, (long)getpid()) < 0) {
        free(scratch);
        return out_of_memory();
    }
    int made = make_folders(scratch) == 0, code = AXLE_OK;
    if (!made && errno != EEXIST) {
        code = io_error(path);
    } else {
        int descriptor = open(probe, O_WRONLY | O_CREAT | O_CLOEXEC, PLAIN_MODE);
        if (descriptor < 0) {
            code = io_error(path);
        } else {
            close(descriptor);
            unlink(probe);
        }
    }
    if (made && code)
        rmdir(path);
    if (!code)
        *created = made;
    free(scratch);
    free(probe);
    return code;
}
