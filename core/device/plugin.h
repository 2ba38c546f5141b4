/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a backend and looking whether it can be used. */
#ifndef AXLE_DEVICE_PLUGIN_H
#define AXLE_DEVICE_PLUGIN_H

#include "device/registry.h"

/* Load the backend of a path, or the built-in one where `path` is NULL. A rejected one is AXLE_OK
 * with the reason inside; else AXLE_ERR_NOMEM. `name` is NULL where any will do. */
int axle__plugin_load(const char *name, const char *path, axle__backend **out);
void axle__plugin_forget(axle__backend *backend);

/* Most milliseconds that a first call into a backend may take; for tests. */
void axle__plugin_set_limit(int ms);

#endif
