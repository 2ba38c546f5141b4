/* SPDX-License-Identifier: Apache-2.0 */
/* The services of a host, as the plugin under test gets them: they count, and fail on request. */
#ifndef AXLE_CHECK_SERVICES_H
#define AXLE_CHECK_SERVICES_H

#include "axle/backend.h"

/* The table; there is one set of services a process. */
const axle_host *services_table(void);

/* Blocks of memory that the plugin holds. */
int64_t services_live_blocks(void);
/* Blocks whose bytes behind the end were written to, or that were freed twice or never given out.
 */
int64_t services_broken_blocks(void);
/* Let the allocation after `after` further ones fail, once; negative: none. Returns whether the one
 * before was reached. */
int services_fail_after(int64_t after);

#endif
