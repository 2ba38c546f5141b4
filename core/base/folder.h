/* SPDX-License-Identifier: Apache-2.0 */
/* Folders: made, listed, moved and removed. Errors are AXLE_ERR_IO with the path and the system's
 * reason. */
#ifndef AXLE_BASE_FOLDER_H
#define AXLE_BASE_FOLDER_H

#include <stdbool.h>

#include "base/list.h"

bool axle__folder_exists(const char *path);
/* Make it and those above it; one that is there is fine. */
int axle__folder_make(const char *path);
/* Names of what is in it, but for . and .., in no order; *out starts zeroed. AXLE_ERR_NOT_FOUND
 * where there is no such folder. */
int axle__folder_list(const char *path, axle__list *out);
/* Remove it with the files in it; folders in it must be empty. What is not there is fine. */
int axle__folder_remove(const char *path);
/* Let names that were made, moved or removed in it survive a power failure, where the file system
 * can. */
int axle__folder_sync(const char *path);
/* Give folder `from` the name `to`; what was there has the name `from` then (*swapped), or there
 * was nothing. */
int axle__folder_replace(const char *from, const char *to, bool *swapped);
/* The folder that a path lies in, "." where it has none. */
char *axle__folder_of(const char *path);

#endif
