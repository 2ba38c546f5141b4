/* SPDX-License-Identifier: Apache-2.0 */
/* Running foreign code that may crash or hang. */
#ifndef AXLE_DEVICE_GUARD_H
#define AXLE_DEVICE_GUARD_H

enum { AXLE__GUARD_TIMEOUT = -1 };

/*
 * Call fn(arg) on this thread and return 0; or the number of the signal by which it crashed
 * (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS); or AXLE__GUARD_TIMEOUT when it takes longer
 * than `limit_ms`. After a crash nothing of fn's library may be called again. One thread at a time.
 */
int axle__guard_call(void (*fn)(void *arg), void *arg, int limit_ms);

/* "SIGSEGV" */
const char *axle__guard_signal_name(int signal);

#endif
