/* SPDX-License-Identifier: Apache-2.0 */
/* Files: read whole, mapped, and written so that they appear complete or not at all. */
#ifndef AXLE_BASE_FILE_H
#define AXLE_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* The content of a file and a NUL after it; *out is for axle__free(). Errors name the path and the
 * system's reason: AXLE_ERR_NOT_FOUND where there is no such file, else AXLE_ERR_IO. */
int axle__file_read(const char *path, char **out, size_t *size);

/* A regular file mapped for reading. An empty one has data NULL. */
typedef struct axle__file_map {
    const unsigned char *data;
    size_t size;
} axle__file_map;
int axle__file_map_open(const char *path, axle__file_map *out);
void axle__file_map_close(axle__file_map *map);

/*
 * A file under construction. It is written beside its place under a temporary name, and moved there
 * by the commit, once its bytes are on the disk; what was there before stays until then. The first
 * error makes all that follows a no-op and is what the commit returns.
 */
typedef struct axle__file_writer axle__file_writer;
int axle__file_writer_open(const char *path, axle__file_writer **out);
int axle__file_writer_write(axle__file_writer *writer, const void *data, size_t size);
/* Of the bytes written so far. */
typedef struct axle__file_sum {
    uint64_t size;
    uint32_t crc32c;
} axle__file_sum;
axle__file_sum axle__file_writer_sum(const axle__file_writer *writer);
/* Finish and release the writer; on failure the temporary file is removed. */
int axle__file_writer_commit(axle__file_writer *writer);
/* Give up: remove the temporary file and release the writer. NULL is fine. */
void axle__file_writer_abort(axle__file_writer *writer);

#endif
