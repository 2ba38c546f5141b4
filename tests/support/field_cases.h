/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases that users of similar software ran into: empty operands, NaN in what is overwritten or
 * masked, losses over nothing, padding rows, large means. Each computes on the current device in
 * the given element type and says what is wrong, or NULL.
 */
#ifndef AXLE_TESTS_FIELD_CASES_H
#define AXLE_TESTS_FIELD_CASES_H

#include "axle/axle.h"

typedef struct field_case {
    const char *name; /* a sentence */
    void (*run)(int dtype);
} field_case;

extern const field_case field_cases[];
extern const int field_case_count;

/* Run a case in a scope of its own; NULL, or what is wrong. */
const char *field_case_run(const field_case *c, int dtype);

#endif
