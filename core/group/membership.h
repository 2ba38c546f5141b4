/* SPDX-License-Identifier: Apache-2.0 */
/* Which process of which job this is, as the environment says. */
#ifndef AXLE_GROUP_MEMBERSHIP_H
#define AXLE_GROUP_MEMBERSHIP_H

typedef struct axle__membership {
    int rank, size;             /* 0 of 1 where nothing says otherwise */
    int local_rank, local_size; /* among the processes of this host */
    char host[256];             /* where rank 0's server listens; "" for a job of one */
    int port;
    int listen_fd; /* a listening socket that rank 0 inherited; -1 */
    char job[128]; /* "" where nothing names it */
    char secret[128];
    char rendezvous[512]; /* file:///folder or redis://host:port: where host and port are found */
    const char *source;   /* what was understood: "torchrun", "Open MPI", "Slurm", ... */
} axle__membership;

/* AXLE_ERR_INVALID where variables contradict each other or are no numbers; the message names
 * them. */
int axle__membership_read(axle__membership *out);

#endif
