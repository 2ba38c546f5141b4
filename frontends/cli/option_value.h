/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options, wherever they are given: on the command line or in a file. */
#ifndef AXLE_CLI_OPTION_VALUE_H
#define AXLE_CLI_OPTION_VALUE_H

#include "options.h"

enum { PROBLEM_SIZE = 1024 };

/* Store what `text` says at the option's place in `settings`. Returns 0, or -1 with what is wrong
 * in `problem`, as "'many' is no whole number". */
int option_value_parse(const cli_option *option, const char *text, void *settings,
                       char problem[PROBLEM_SIZE]);

/* Write that `text` is none of the names, with the nearest one, and what there is. */
void option_value_unknown(const char *text, const char *const *names, char problem[PROBLEM_SIZE]);

#endif
