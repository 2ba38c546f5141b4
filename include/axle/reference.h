/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reference.h
 * The built-in reference backend behind the tables of backend.h, for programs that compare another
 * backend with it. Such a program is a host of its own: it opens devices, makes buffers and runs
 * operators of both through the same calls.
 */
#ifndef AXLE_REFERENCE_API_H
#define AXLE_REFERENCE_API_H

#include "axle/backend.h"

AXLE_BEGIN_DECLS

/**
 * What AXLE_PLUGIN_ENTRY is in a plugin's file: an axle_plugin_init_fn.
 *
 * @param host   services of the devices that are opened from then on; NULL means the library's own.
 *               Borrowed until they are closed. Each device keeps the services it was opened with,
 *               so they can differ; the library's own device is opened when it is first needed.
 * @param error  filled where the host speaks another interface; may be NULL.
 * @return the table, the same one every time; NULL on failure.
 */
AXLE_API const axle_plugin *axle_reference_init(const axle_host *host, axle_error *error);

AXLE_END_DECLS

#endif
