/* SPDX-License-Identifier: Apache-2.0 */
/* Folders. Functions return AXLE_OK or record an error and return its code. */
#ifndef AXLE_COMMON_FOLDER_H
#define AXLE_COMMON_FOLDER_H

/* Make a folder and those above it, where they are not there. *created (may be NULL) tells whether
 * it was not. */
int folder_make(const char *path, int *created);
/* The same, and check that files can be made in it; a new one in which they cannot is removed. */
int folder_prepare(const char *path, int *created);

#endif
