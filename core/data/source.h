/* SPDX-License-Identifier: Apache-2.0 */
/* A file read from start to end, which may be compressed with gzip. */
#ifndef AXLE_DATA_SOURCE_H
#define AXLE_DATA_SOURCE_H

#include <stddef.h>

typedef struct axle__source axle__source;

/* Open for reading. AXLE_ERR_NOT_FOUND, AXLE_ERR_IO; AXLE_ERR_UNSUPPORTED for a compressed file in
 * a build without zlib. */
int axle__source_open(const char *path, axle__source **out);
/* NULL is fine. */
void axle__source_close(axle__source *source);
/* Read exactly `size` bytes; `what` names them in the message when the file ends before. */
int axle__source_read(axle__source *source, void *data, size_t size, const char *what);
/* `size` bytes, for axle__free(). The memory grows with what is really there, so that a wrong size
 * does not exhaust it. */
int axle__source_read_alloc(axle__source *source, size_t size, const char *what, void **out);
/* Check that nothing follows. */
int axle__source_end(axle__source *source);
/* Record AXLE_ERR_FORMAT with the path in front. */
int axle__source_malformed(const axle__source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
