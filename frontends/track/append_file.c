/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/whole_file.h"
#include "axle/status.h"

enum { MODE = 0666 };

static int io_error(const char *path)
{
    return axle_error_set(AXLE_ERR_IO, "%s: %s", path, strerror(errno));
}

static int out_of_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
}

static int open_file(append_file *file, const char *folder, const char *name, int flags)
{
    *file = (append_file){.descriptor = -1};
    if (asprintf(&file->path, "%s/%s", folder, name) < 0) {
        file->path = NULL;
        return out_of_memory();
    }
    file->descriptor = open(file->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, MODE);
    if (file->descriptor >= 0)
        file->size = lseek(file->descriptor, 0, SEEK_END);
    if (file->descriptor >= 0 && file->size >= 0)
        return AXLE_OK;
    io_error(file->path);
    append_file_close(file);
    return AXLE_ERR_IO;
}

int append_file_create(append_file *file, const char *folder, const char *name)
{
    return open_file(file, folder, name, O_TRUNC);
}

/* ------------------------------------------------------------------ resuming */

/* Whether a line, with its newline, is of the run up to `step`. */
static int stays(char *line, ssize_t length, int64_t step, append_file_step_fn step_of)
{
    if (line[length - 1] != '\n')
        return 0;
    line[length - 1] = '\0';
    int64_t at = (size_t)length == strlen(line) + 1 ? step_of(line) : APPEND_FILE_NO_RECORD;
    line[length - 1] = '\n';
    return at == APPEND_FILE_HEADER || (at != APPEND_FILE_NO_RECORD && at <= step);
}

/* Whether reading failed; the other file's errors show when it is committed. */
static int copy_lines(FILE *from, FILE *to, int64_t step, append_file_step_fn step_of)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    while ((length = getline(&line, &size, from)) > 0)
        if (stays(line, length, step, step_of))
            fwrite(line, 1, (size_t)length, to);
    free(line);
    return ferror(from);
}

/* Replace the file by its lines up to `step`; the old one stays where that fails. */
static int cut(const char *path, FILE *from, int64_t step, append_file_step_fn step_of)
{
    whole_file file;
    int code = whole_file_open(&file, path);
    if (code)
        return code;
    if (copy_lines(from, file.stream, step, step_of)) {
        whole_file_discard(&file);
        return axle_error_set(AXLE_ERR_IO, "%s: it cannot be read to its end", path);
    }
    return whole_file_commit(&file);
}

int append_file_resume(append_file *file, const char *folder, const char *name, int64_t step,
                       append_file_step_fn step_of)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return out_of_memory();
    int code = AXLE_OK;
    FILE *from = fopen(path, "re");
    if (from) {
        code = cut(path, from, step, step_of);
        fclose(from);
    } else if (errno != ENOENT) {
        code = io_error(path);
    }
    free(path);
    return code ? code : open_file(file, folder, name, 0);
}

/* ------------------------------------------------------------------ writing */

int append_file_write(append_file *file, const void *data, size_t size)
{
    const char *from = data;
    size_t done = 0;
    while (done < size) {
        ssize_t wrote = write(file->descriptor, from + done, size - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            int code = io_error(file->path);
            int cut_back = ftruncate(file->descriptor, file->size);
            (void)cut_back; /* a reader drops a line that was not finished */
            return code;
        }
        done += (size_t)wrote;
    }
    file->size += (int64_t)size;
    return AXLE_OK;
}

int append_file_write_stream(append_file *file, FILE *stream, char **data, size_t *size)
{
    int wrong = ferror(stream) | fclose(stream);
    int code = wrong ? out_of_memory() : append_file_write(file, *data, *size);
    free(*data);
    return code;
}

void append_file_close(append_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->path);
    *file = (append_file){.descriptor = -1};
}
