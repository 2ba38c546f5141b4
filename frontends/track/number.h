/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AXLE_TRACK_NUMBER_H
#define AXLE_TRACK_NUMBER_H

enum { NUMBER_SIZE = 32 };

/* The shortest decimal text that is read back as this finite number, with a point in any locale.
 * Returns `text`. */
const char *number_text(double value, char text[NUMBER_SIZE]);

/* Seconds since 1970, as number_text() would write them but with all six digits of microseconds. */
const char *number_time(double seconds, char text[NUMBER_SIZE]);
double number_now(void);

#endif
