/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 15 digits are always right, 17 always enough. */
enum { FEWEST_DIGITS = 15, MOST_DIGITS = 17 };

/* The C library writes the point of the locale, which may be longer than a byte. */
static void set_point(char *text)
{
    size_t before = strspn(text, "-0123456789");
    size_t point = strcspn(text + before, "0123456789e");
    if (point == 0)
        return;
    text[before] = '.';
    memmove(text + before + 1, text + before + point, strlen(text + before + point) + 1);
}

const char *number_text(double value, char text[NUMBER_SIZE])
{
    for (int digits = FEWEST_DIGITS; digits <= MOST_DIGITS; digits++) {
        snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    set_point(text);
    return text;
}

const char *number_time(double seconds, char text[NUMBER_SIZE])
{
    int64_t micros = (int64_t)(seconds * 1e6 + 0.5);
    snprintf(text, NUMBER_SIZE, "%" PRId64 ".%06d", micros / 1000000, (int)(micros % 1000000));
    return text;
}

double number_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
