/* SPDX-License-Identifier: Apache-2.0 */
#include "job/pause.h"

#include <time.h>

#include "axle/status.h"
#include "job/auth.h"

#define LONGEST_PAUSE (500 * AXLE__MILLISECOND)

void axle__pause(int64_t *pause, int64_t deadline)
{
    uint32_t draw = 0;
    if (axle__random_bytes(&draw, sizeof(draw)))
        axle_error_clear();
    int64_t span = *pause / 2 + (int64_t)((double)*pause * (draw / 4294967296.0));
    int64_t left = deadline - axle__clock_ns();
    if (span > left)
        span = left > 0 ? left : 0;
    struct timespec time = axle__clock_timespec(span);
    nanosleep(&time, NULL);
    *pause = *pause * 3 / 2 > LONGEST_PAUSE ? LONGEST_PAUSE : *pause * 3 / 2;
}
