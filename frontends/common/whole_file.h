/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that appear whole or not at all: written under a temporary name beside the final one, and
 * renamed at the end. What is there and is no regular file (/dev/stdout, a pipe) is written
 * directly. Functions return AXLE_OK or record an error and return its code.
 */
#ifndef AXLE_COMMON_WHOLE_FILE_H
#define AXLE_COMMON_WHOLE_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Starts as {0}, which discard accepts, too. */
typedef struct whole_file {
    FILE *stream;
    char *path;      /* as it will be called */
    char *temporary; /* as it is called until then; NULL where it is written directly */
} whole_file;

int whole_file_open(whole_file *file, const char *path);
/* Give the file its name; it is closed in any case. */
int whole_file_commit(whole_file *file);
/* Remove what was written. */
void whole_file_discard(whole_file *file);
/* All three at once. */
int whole_file_write(const char *path, const void *data, size_t size);

#endif
