/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program of golden vectors runs, by its arguments: those that are names say which cases,
 * all of them where there is none, and K/N which of N parts. For tools under which a whole takes
 * hours.
 */
#ifndef AXLE_TESTS_CHOICE_H
#define AXLE_TESTS_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* False where a part is none of its N. The arguments are borrowed. */
bool choice_read(int argc, char **argv);

/* Whether a name is among the arguments, or there is none. */
bool choice_has(const char *name);

/* Whether the k-th case from 0 is in the part: part 2/3 has cases 1, 4, 7 and so on. */
bool choice_has_case(size_t k);

#endif
