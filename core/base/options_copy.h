/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AXLE_BASE_OPTIONS_COPY_H
#define AXLE_BASE_OPTIONS_COPY_H

#include <stddef.h>

/* Copy an options struct, whose first member is its size, over defaults of `size` bytes. NULL
 * leaves the defaults; members that the caller's version does not know keep them. */
int axle__options_copy(const char *who, const void *given, void *options, size_t size);

#endif
