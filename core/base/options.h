/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of backends, AXLE_OPTIONS: key=value, separated by commas. */
#ifndef AXLE_BASE_OPTIONS_H
#define AXLE_BASE_OPTIONS_H

#include "base/list.h"

/* Value of a key such as "onednn.isa", or NULL; valid until the process ends. The last of several
 * entries with one key counts. */
const char *axle__option(const char *key);
/* Warn, in the log, about entries that begin with `backend` and a dot and are not among its names,
 * `known`, which '\n' separates. */
void axle__options_check(const char *backend, const char *known);
/* Warn about entries like "name.key" whose name is no backend's. */
void axle__options_check_names(const axle__list *backends);
/* Parse AXLE_OPTIONS afresh; for tests. */
void axle__options_reset(void);

#endif
