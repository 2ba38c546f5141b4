/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in text files, whatever the locale. */
#ifndef AXLE_DATA_NUMBER_H
#define AXLE_DATA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* What is wrong with a text that should be a number; NULL if nothing is. */
const char *axle__number_parse(const char *text, double *out);
/* The same for a whole number that an int64_t holds. "3.0" is one. */
const char *axle__number_parse_integer(const char *text, int64_t *out);

/* Make this thread parse numbers with a decimal point; false, and an error, if memory runs out.
 * Undo it with the end function. */
bool axle__number_begin(void **saved);
void axle__number_end(void *saved);

#endif
