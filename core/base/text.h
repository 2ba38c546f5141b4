/* SPDX-License-Identifier: Apache-2.0 */
/* Small helpers for text. */
#ifndef AXLE_BASE_TEXT_H
#define AXLE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; texts of more
 * than 63 characters are compared by their first 63. */
int axle__edit_distance(const char *a, const char *b);

/* Parse a whole decimal number; false, and *out untouched, for anything else. */
bool axle__parse_integer(const char *text, int64_t *out);

/* Text that grows inside a buffer of fixed size and is cut off at its end. */
typedef struct axle__text {
    char *data;
    size_t size, length;
} axle__text;
void axle__text_init(axle__text *text, char *data, size_t size);
void axle__text_add(axle__text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
