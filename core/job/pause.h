/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting between tries to reach somebody. */
#ifndef AXLE_JOB_PAUSE_H
#define AXLE_JOB_PAUSE_H

#include <stdint.h>

#include "base/clock.h"

#define AXLE__FIRST_PAUSE (10 * AXLE__MILLISECOND)

/* Sleep from half of *pause to one and a half, so that many processes do not come in step, but not
 * past the deadline; and make *pause longer for the next time, up to half a second. */
void axle__pause(int64_t *pause, int64_t deadline);

#endif
