/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rank 0 says of itself at a rendezvous: a line for each thing to know, and "end", so that a
 * half-written notice is recognised.
 */
#ifndef AXLE_JOB_NOTICE_H
#define AXLE_JOB_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "job/owner.h"

/* Longer texts are no notices. */
enum { AXLE__NOTICE_SIZE = 2048 };

typedef struct axle__notice {
    axle__owner owner;
    char job[128], hosts[512];
    int port;
} axle__notice;

/* This process's notice, for axle__free(). */
char *axle__notice_compose(const char *job, int port);
/* False where the text is none. */
bool axle__notice_parse(const char *text, axle__notice *out);
/* Read one to reach its rank 0: NULL, or why that is no use. */
const char *axle__notice_read(const char *text, const char *job, axle__notice *out);
/* The addresses at which this process reaches that host. */
const char *axle__notice_hosts(const axle__notice *notice);
/* Whether the rank 0 of a notice still lives: by its process where that is on this host, else by
 * whether its port is served. */
axle__life axle__notice_life(const axle__notice *notice, int64_t deadline);
/* Record AXLE_ERR_BUSY: a notice that stands at `where` may be a living job's. */
int axle__notice_busy(const axle__notice *notice, axle__life life, const char *where);

#endif
