/* SPDX-License-Identifier: Apache-2.0 */
/* What both ends of a control connection have in common. */
#ifndef AXLE_JOB_PEER_H
#define AXLE_JOB_PEER_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

/* Between two signs of life: several fit in a timeout, so that one that is late is no loss. */
static inline int64_t axle__group_interval(int64_t timeout_ns)
{
    int64_t interval = timeout_ns / 8;
    if (interval > 2 * AXLE__SECOND)
        return 2 * AXLE__SECOND;
    return interval < AXLE__MILLISECOND ? AXLE__MILLISECOND : interval;
}

/* This process, in words. */
static inline void axle__group_who(char *text, size_t size)
{
    char host[65] = "";
    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    snprintf(text, size, "process %ld on %s", (long)getpid(), host[0] ? host : "a host");
}

#endif
