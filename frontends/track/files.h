/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AXLE_TRACK_FILES_H
#define AXLE_TRACK_FILES_H

#include <stddef.h>

/* Both return AXLE_OK or record an error and return its code. */

/* Make a folder and those above it. */
int files_make_folder(const char *path);
/* Write a file that appears whole or not at all. */
int files_write(const char *path, const void *data, size_t size);

#endif
