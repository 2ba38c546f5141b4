/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a text. */
#ifndef AXLE_DATA_LINES_H
#define AXLE_DATA_LINES_H

#include <stddef.h>

/* Called for each line that is not blank, with its number from 1 and without its end; a non-zero
 * result ends the walk and is returned by it. A byte order mark is no part of the first line. */
typedef int (*axle__line_fn)(void *user, size_t line, const char *text, size_t length);
int axle__each_line(const char *text, size_t size, axle__line_fn fn, void *user);

#endif
