/* SPDX-License-Identifier: Apache-2.0 */
/* TAP for programs whose lines are known only when they run; others use cmocka. */
#ifndef AXLE_TESTS_TAP_H
#define AXLE_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_lines, tap_failures;

/* One result, named by a sentence. */
static inline void tap_result(bool good, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void tap_result(bool good, const char *format, ...)
{
    va_list arguments;
    printf("%s %d - ", good ? "ok" : "not ok", ++tap_lines);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    tap_failures += !good;
}

/* What a result does not say; no line of it is a result. */
static inline void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void tap_note(const char *format, ...)
{
    va_list arguments;
    printf("# ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

static inline int tap_bail_out(const char *why)
{
    printf("Bail out! %s\n", why);
    return 1;
}

/* The plan; returns what main returns. */
static inline int tap_finish(void)
{
    printf("1..%d\n", tap_lines);
    return tap_failures > 0;
}

#endif
