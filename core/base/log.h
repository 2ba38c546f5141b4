/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines of the core; see axle_log_redirect() in axle/status.h. */
#ifndef AXLE_BASE_LOG_H
#define AXLE_BASE_LOG_H

#include "axle/backend.h" /* AXLE_LOG_DEBUG ... */
#include "axle/status.h"

/* Which process of how many this is, for the lines' beginning, where RANK and WORLD_SIZE do not say
 * it. */
void axle__log_set_rank(int rank, int size);

#define axle__debug(component, ...) axle_log_write(AXLE_LOG_DEBUG, component, __VA_ARGS__)
#define axle__info(component, ...) axle_log_write(AXLE_LOG_INFO, component, __VA_ARGS__)
#define axle__warn(component, ...) axle_log_write(AXLE_LOG_WARN, component, __VA_ARGS__)

#endif
