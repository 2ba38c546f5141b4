/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AXLE_CLI_CLOCK_H
#define AXLE_CLI_CLOCK_H

#include <time.h>

/* Seconds on a clock that nobody sets. */
static inline double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
