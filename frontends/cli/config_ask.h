/* SPDX-License-Identifier: Apache-2.0 */
/* The questions of axle config. */
#ifndef AXLE_CLI_CONFIG_ASK_H
#define AXLE_CLI_CONFIG_ASK_H

#include "config_file.h"

/* Ask on the terminal. Answers are kept in `file`. Returns -1 to go on, or an exit code. */
int config_ask(config_file *file, const struct command *command);
/* Ask whether to do something, with yes or no. */
bool config_confirm(const char *question);

#endif
