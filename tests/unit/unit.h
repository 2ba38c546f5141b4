/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What unit tests share. A program lists its tests, each with a sentence that says what holds:
 *
 *     static const struct CMUnitTest tests[] = {
 *         UNIT("the first error stays", first_error_stays),
 *     };
 *     UNIT_MAIN(tests)
 */
#ifndef AXLE_TESTS_UNIT_H
#define AXLE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axle/status.h"

#define UNIT(sentence, function)                                                                   \
    {                                                                                              \
        sentence, function, NULL, NULL, NULL                                                       \
    }

#define UNIT_MAIN(tests)                                                                           \
    int main(void)                                                                                 \
    {                                                                                              \
        cmocka_set_message_output(CM_OUTPUT_TAP);                                                  \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }

/* Assert that an error of that code is recorded whose message holds `part`, and forget it. */
static inline void unit_expect_error(int code, const char *part)
{
    if (axle_error_code() != code || !strstr(axle_error_message(), part))
        fail_msg("expected error %d with '%s', got %d: %s", code, part, axle_error_code(),
                 axle_error_message());
    axle_error_clear();
}

#endif
