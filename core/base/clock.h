/* SPDX-License-Identifier: Apache-2.0 */
/* Time that only goes forward, in nanoseconds. */
#ifndef AXLE_BASE_CLOCK_H
#define AXLE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define AXLE__SECOND INT64_C(1000000000)
#define AXLE__MILLISECOND INT64_C(1000000)

static inline int64_t axle__clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * AXLE__SECOND + now.tv_nsec;
}

/* `span` from `now` on; for ever where that is beyond what counts. */
static inline int64_t axle__clock_after(int64_t now, int64_t span)
{
    return span > INT64_MAX - now ? INT64_MAX : now + span;
}

/* What poll() is told to wait until then: rounded up, so that it is not asked twice; at most a
 * minute. */
static inline int axle__clock_poll_ms(int64_t now, int64_t until)
{
    if (until <= now)
        return 0;
    int64_t span = until - now;
    return span > 60 * AXLE__SECOND ? 60000
                                    : (int)((span + AXLE__MILLISECOND - 1) / AXLE__MILLISECOND);
}

static inline struct timespec axle__clock_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / AXLE__SECOND, .tv_nsec = ns % AXLE__SECOND};
}

#endif
