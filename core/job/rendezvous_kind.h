/* SPDX-License-Identifier: Apache-2.0 */
/* What a kind of rendezvous fills in. Its own data begins with an axle__rendezvous. */
#ifndef AXLE_JOB_RENDEZVOUS_KIND_H
#define AXLE_JOB_RENDEZVOUS_KIND_H

#include "job/rendezvous.h"

/* The functions are those of rendezvous.h; `where` begins with the scheme. */
typedef struct axle__rendezvous_kind {
    const char *scheme;
    int (*open)(const char *where, const char *job, int64_t deadline, axle__rendezvous **out);
    int (*publish)(axle__rendezvous *rendezvous, int port);
    int (*find)(axle__rendezvous *rendezvous, char *hosts, size_t hosts_size, int *port,
                char *reason, size_t reason_size);
    void (*close)(axle__rendezvous *rendezvous);
} axle__rendezvous_kind;

struct axle__rendezvous {
    const axle__rendezvous_kind *kind;
};

extern const axle__rendezvous_kind axle__rendezvous_file, axle__rendezvous_redis;

#endif
