/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where rank 0 says how to reach it: a file in a folder that all processes share, or a key of a
 * Redis server, named after the job. It is there while the processes meet. One that a dead job left
 * behind is taken away, where it is certain that the job is dead; else the error names what to
 * delete.
 */
#ifndef AXLE_JOB_RENDEZVOUS_H
#define AXLE_JOB_RENDEZVOUS_H

#include <stddef.h>
#include <stdint.h>

typedef struct axle__rendezvous axle__rendezvous;

/* `where` is file:///folder or redis://[:password@]host[:port][/db]; what is done there ends at
 * `deadline` at the latest. AXLE_ERR_INVALID for anything else, AXLE_ERR_UNSUPPORTED for redis://
 * in a build without hiredis, AXLE_ERR_IO where there is no such folder. */
int axle__rendezvous_open(const char *where, const char *job, int64_t deadline,
                          axle__rendezvous **out);
/* Rank 0: say that this process listens at `port`. AXLE_ERR_BUSY where another process has said so
 * for a job of this name and may be alive; AXLE_ERR_IO where it cannot be said, AXLE_ERR_INVALID
 * for a wrong password, AXLE_ERR_TIMEOUT where no Redis server answered. */
int axle__rendezvous_publish(axle__rendezvous *rendezvous, int port);
/* The others: addresses of rank 0's host, with commas between, and the port. AXLE_ERR_NOT_READY,
 * not recorded, where nobody has said them yet, with the reason in words; it may hold that of an
 * earlier try, else "". Other errors are recorded and final. */
int axle__rendezvous_find(axle__rendezvous *rendezvous, char *hosts, size_t hosts_size, int *port,
                          char *reason, size_t reason_size);
/* Take back what was published, and release it. NULL is fine. */
void axle__rendezvous_close(axle__rendezvous *rendezvous);

#endif
