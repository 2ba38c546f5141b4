/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that appear whole or not at all: written under a temporary name beside the final one, and
 * renamed at the end. What is there and is no regular file (/dev/stdout, a pipe) is written
 * directly. Functions return AXLE_OK or record an error and return its code.
 */
#ifndef AXLE_CLI_WHOLE_FILE_H
#define AXLE_CLI_WHOLE_FILE_H

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

/* Make a folder and those above it, if needed, and check that files can be made in it.
 * *created tells whether it was not there. */
int folder_prepare(const char *path, int *created);

#endif
