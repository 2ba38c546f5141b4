/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where rank 0 says how to reach it: a file, named after the job, in a folder that all processes
 * share. It is there while the processes meet. One that a dead job left behind is taken away, where
 * it is certain that the job is dead; else the error names what to delete.
 */
#ifndef AXLE_GROUP_RENDEZVOUS_H
#define AXLE_GROUP_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct axle__rendezvous axle__rendezvous;

/* `where` is file:///folder. AXLE_ERR_INVALID for anything else, AXLE_ERR_UNSUPPORTED for redis://,
 * AXLE_ERR_IO where there is no such folder. */
int axle__rendezvous_open(const char *where, const char *job, axle__rendezvous **out);
/* Rank 0: say that this process listens at `port`. AXLE_ERR_BUSY where another process has said so
 * for a job of this name and may be alive; AXLE_ERR_IO where the file cannot be written. */
int axle__rendezvous_publish(axle__rendezvous *rendezvous, int port);
/* The others: addresses of rank 0's host, with commas between, and the port; false where nobody has
 * said them yet, with the reason in words. Records no error. */
bool axle__rendezvous_find(const axle__rendezvous *rendezvous, char *hosts, size_t hosts_size,
                           int *port, char *reason, size_t reason_size);
/* Take back what was published, and release it. NULL is fine. */
void axle__rendezvous_close(axle__rendezvous *rendezvous);

#endif
