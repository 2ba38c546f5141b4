/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that only grow, by whole records: a write that fails, as on a full disk, leaves the file as
 * it was. Functions return AXLE_OK or record an error and return its code.
 */
#ifndef AXLE_TRACK_APPEND_FILE_H
#define AXLE_TRACK_APPEND_FILE_H

#include <stdint.h>
#include <stdio.h>

typedef struct append_file {
    int descriptor;
    int64_t size;
    char *path;
} append_file;

/* The step of a line without its newline, or one of the values below: the header is the line that
 * stands above the records. */
typedef int64_t (*append_file_step_fn)(const char *line);
enum { APPEND_FILE_NO_RECORD = -1, APPEND_FILE_HEADER = -2 };

/* Open FOLDER/NAME, empty. */
int append_file_create(append_file *file, const char *folder, const char *name);
/* Open it with what it has up to a step; a line that a killed process left unfinished goes. */
int append_file_resume(append_file *file, const char *folder, const char *name, int64_t step,
                       append_file_step_fn step_of);
int append_file_write(append_file *file, const void *data, size_t size);
/* Write what was printed to a stream of open_memstream(), and free it. */
int append_file_write_stream(append_file *file, FILE *stream, char **data, size_t *size);
void append_file_close(append_file *file);

#endif
