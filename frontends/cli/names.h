/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of names: finding one, and the one that was probably meant. */
#ifndef AXLE_CLI_NAMES_H
#define AXLE_CLI_NAMES_H

#include <stdio.h>

/* Position of `name` in a NULL-terminated list, -1 if it is not there. */
int names_find(const char *const *names, const char *name);
int names_count(const char *const *names);
/* The most similar name of the list; NULL where none is similar. */
const char *names_nearest(const char *const *names, const char *name);
/* Print the list, separated by commas. */
void names_print(const char *const *names, FILE *to);

#endif
