/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's worker pool, for the host's kernels. Workers start at first use and sleep while
 * there is nothing to do.
 */
#ifndef AXLE_BASE_THREADS_H
#define AXLE_BASE_THREADS_H

#include <pthread.h>

#include "axle/backend.h" /* axle_body */

/* Start a thread that no signal reaches: a signal's handler is the business of the program's own
 * threads. Returns what pthread_create() does. */
int axle__thread_start(pthread_t *out, void *(*body)(void *user), void *user);

/* Split [0, n) into pieces of at least `grain` over the pool; the caller works, too. Runs on the
 * caller alone where n <= grain, inside another call, and after fork(). */
void axle__parallel_for(int64_t n, int64_t grain, axle_body body, void *arg);
/* Threads that work, the caller included. */
int axle__worker_count(void);
/* min(affinity, cgroup quota), at least 1. `root` is the cgroup mount to read, NULL for the
 * system's. */
int axle__usable_cores(const char *root);
/* End the workers. */
void axle__threads_stop(void);

#endif
