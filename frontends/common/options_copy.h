/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AXLE_COMMON_OPTIONS_COPY_H
#define AXLE_COMMON_OPTIONS_COPY_H

#include <stddef.h>

/* Copy an options struct, whose first member is its size, over defaults of `size` bytes. NULL
 * leaves the defaults; members that the caller's version does not know keep them. @return AXLE_OK,
 * or AXLE_ERR_INVALID, recorded, where no size was given. */
int options_copy(const char *who, const void *given, void *options, size_t size);

#endif
