/* SPDX-License-Identifier: Apache-2.0 */
/* Naming a process so that others, perhaps on other hosts, can tell whether it still lives. */
#ifndef AXLE_JOB_OWNER_H
#define AXLE_JOB_OWNER_H

#include <stddef.h>

typedef struct axle__owner {
    long pid;
    long long start;   /* of the process, in ticks since the host's */
    char host[80];     /* its name */
    char place[128];   /* boot of the host, and namespace of processes */
    char network[128]; /* boot of the host, and namespace of the network */
} axle__owner;

typedef enum axle__life { AXLE__LIFE_DEAD, AXLE__LIFE_ALIVE, AXLE__LIFE_UNKNOWN } axle__life;

/* This process. */
void axle__owner_self(axle__owner *out);
/* Dead or alive where it is, or was, on this host. */
axle__life axle__owner_life(const axle__owner *owner);
/* Addresses at which others may reach this host, with commas between; loopback where there are no
 * others. */
void axle__owner_addresses(char *text, size_t size);

#endif
